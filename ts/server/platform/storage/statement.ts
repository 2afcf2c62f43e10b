/** One compiled SQL statement on its way to a database, and what comes back. */
import type { CompiledQuery } from 'kysely';
import { StorageError } from './storage-error.ts';

export type StatementValue = null | number | bigint | string | Uint8Array;

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly StatementValue[];
}

export interface StatementResult {
  readonly rows: Record<string, StatementValue>[];
  /** Rows that were inserted, updated or deleted; 0 for a query. */
  readonly affectedRows: number;
}

export type ExecuteStatement = (statement: Statement) => Promise<StatementResult>;

const INT64_MAX = 2n ** 63n - 1n;

/** Throws a StorageError `invalid_value` for a parameter that SQLite and PostgreSQL would not store alike. */
export function toStatement({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Statement {
  return { sql, parameters: parameters.map(checkValue) };
}

function checkValue(value: unknown): StatementValue {
  switch (typeof value) {
    case 'string':
      return checkText(value);
    case 'number':
      return checkNumber(value);
    case 'bigint':
      if (value > INT64_MAX || value < -INT64_MAX - 1n) throw invalid('an integer of more than 64 bits', 'store it as text');
      return value;
    default:
      if (value === null || value instanceof Uint8Array) return value;
      throw invalid(
        describe(value),
        'pass null, a number, a string or a Uint8Array; JSON as text, times as milliseconds, flags as 0 or 1',
      );
  }
}

function checkText(value: string): string {
  if (value.includes('\0')) throw invalid('text with a NUL character', 'remove it, since PostgreSQL cannot store it');
  return value;
}

function checkNumber(value: number): number {
  if (!Number.isFinite(value)) throw invalid(String(value), 'store null instead');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value;
  // SQLite forgets the sign of a zero and PostgreSQL keeps it.
  return value === 0 ? 0 : value;
}

function describe(value: unknown): string {
  return typeof value === 'object'
    ? `an object (${value?.constructor?.name ?? 'without a class'})`
    : `a value of type ${typeof value}`;
}

function invalid(what: string, remedy: string): StorageError {
  return new StorageError('invalid_value', `A statement's parameter is ${what}, which storage does not take.`, { remedy });
}
