/** The refusals of one module in one table: what it throws, what its routes declare, and what the page of errors lists. */
import { DomainError, type DomainErrorOptions } from './domain-error.ts';

/** `remedy`: what the client or the operator does about it. */
export type ErrorRow = readonly [status: number, sentence: string, remedy?: string];

/** An error that a route can answer. */
export interface ErrorSpec {
  status: number;
  code: string;
  /** When it happens. */
  meaning: string;
  /** What the client or the operator does about it, where the meaning does not say so already. */
  remedy?: string;
}

/** One line of the page of errors. */
export interface ErrorEntry {
  module: string;
  code: string;
  status: number;
  sentence: string;
  remedy: string | undefined;
}

export interface ErrorTable<Code extends string = string> {
  readonly entries: readonly ErrorEntry[];
  /** Makes the error that is thrown; `sentence` says what happened this time. */
  error(code: Code, sentence: string, options?: DomainErrorOptions): DomainError<Code>;
  /** Declarations for routes. */
  spec(code: Code): ErrorSpec;
  specs(...codes: readonly Code[]): ErrorSpec[];
  statusOf(code: Code): number;
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
    return { status, code, meaning: sentence, ...(remedy !== undefined && { remedy }) };
  };
  return {
    entries: Object.entries(rows).map(([code, [status, sentence, remedy]]) => ({ module, code, status, sentence, remedy })),
    error: (code, sentence, options) => new DomainError(code, sentence, options),
    spec,
    specs: (...codes) => codes.map(spec),
    statusOf: (code) => rowOf(code)[0],
    has: (error): error is DomainError<keyof Rows & string> => error instanceof DomainError && Object.hasOwn(rows, error.code),
  };
}
