/** Why the node cannot start, and what to do about it. The process ends with it. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code: string;
  readonly remedy: string;

  constructor(code: string, message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.remedy = remedy;
  }

  /** What a part of the node threw while it started; an error that names a code and a remedy keeps them. */
  static from(part: string, cause: unknown): StartError {
    if (cause instanceof StartError) return cause;
    const { code = 'start_failed', remedy = '' } = cause as { code?: unknown; remedy?: unknown };
    const message = cause instanceof Error ? cause.message : String(cause);
    const advice = typeof remedy === 'string' && remedy !== '' ? remedy : 'correct what the sentence names, then start again';
    return new StartError(String(code), `${part} cannot start: ${message}`, advice, cause);
  }
}
