/** The refusals of one module in one table: what it throws, what its routes declare, and what the page of errors lists. */
import { DomainError, type DomainErrorOptions } from './domain-error.ts';

/** `remedy`: what the client or the operator does about it. */
export type ErrorRow = readonly [status: number, sentence: string, remedy: string];

/** An error that a route can answer. */
export interface ErrorSpec {
  status: number;
  code: string;
  /** Whose table has it. */
  module?: string;
  /** When it happens. */
  meaning: string;
  /** What the client or the operator does about it. */
  remedy: string;
}

export interface ErrorTable<Code extends string = string> {
  readonly rows: Readonly<Record<Code, ErrorRow>>;
  readonly codes: readonly Code[];
  /** Makes the error that is thrown; `sentence` says what happened this time. */
  error(code: Code, sentence: string, options?: DomainErrorOptions): DomainError<Code>;
  /** Declarations for routes. */
  spec(code: Code): ErrorSpec;
  specs(...codes: readonly Code[]): ErrorSpec[];
  /** Declarations of every code. */
  readonly all: ErrorSpec[];
  statusOf(code: Code): number;
  hasCode(code: string): code is Code;
  has(error: unknown): error is DomainError<Code>;
}

/** The codes of a table. */
export type CodeOf<T extends { error: (code: never, sentence: string) => DomainError }> = Parameters<T['error']>[0];

export function defineErrors<Rows extends Readonly<Record<string, ErrorRow>>>(
  module: string,
  rows: Rows,
): ErrorTable<keyof Rows & string> {
  const rowOf = (code: keyof Rows & string): ErrorRow => rows[code] as ErrorRow;
  const spec = (code: keyof Rows & string): ErrorSpec => {
    const [status, sentence, remedy] = rowOf(code);
    return { status, code, module, meaning: sentence, remedy };
  };
  const hasCode = (code: string): code is keyof Rows & string => Object.hasOwn(rows, code);
  return {
    rows,
    codes: Object.keys(rows),
    error: (code, sentence, options) => new DomainError(code, sentence, options),
    spec,
    specs: (...codes) => codes.map(spec),
    all: Object.keys(rows).map(spec),
    statusOf: (code) => rowOf(code)[0],
    hasCode,
    has: (error): error is DomainError<keyof Rows & string> => error instanceof DomainError && hasCode(error.code),
  };
}
