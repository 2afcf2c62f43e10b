/** What a service throws when it refuses: it knows no HTTP. A route's declared errors say which status each code answers with. */

export interface DomainErrorOptions {
  /** Name of the offending request member. */
  param?: string;
  /** When the same request may succeed, milliseconds from now. */
  retryAfterMs?: number;
  /** Further members for programs to read, for example supported_models. */
  extra?: Record<string, unknown>;
  /** What the client or the operator does about it this time. */
  remedy?: string;
  cause?: unknown;
}

export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';
  readonly code: Code;
  /** What happened, without what to do. */
  readonly sentence: string;
  readonly remedy: string | undefined;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly extra: Record<string, unknown>;

  constructor(code: Code, sentence: string, { param, retryAfterMs, extra = {}, remedy, cause }: DomainErrorOptions = {}) {
    // A refusal is an answer, not a defect, and under overload there are many: no stack is walked. `cause` keeps its own.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(remedy === undefined ? sentence : `${sentence} ${remedy}`, { cause });
    Error.stackTraceLimit = limit;
    this.code = code;
    this.sentence = sentence;
    this.remedy = remedy;
    this.param = param;
    this.retryAfterMs = retryAfterMs;
    this.extra = extra;
  }
}
