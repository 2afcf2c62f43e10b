/** PostgreSQL's values as SQLite gives them: integers as numbers, booleans as 0 and 1, bytes as Uint8Array. */
import pg from 'pg';
import { StorageError } from '../storage-error.ts';

/** Object ids of types. Source: PostgreSQL's catalog, src/include/catalog/pg_type.dat. */
const BOOL = 16;
const BYTEA = 17;
const INT8 = 20;
const NUMERIC = 1700;

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [BOOL, (text) => (text === 't' ? 1 : 0)],
  [BYTEA, parseBytes],
  [INT8, parseExact],
  // count() and sum() of integers are numeric.
  [NUMERIC, parseExact],
]);

type Types = NonNullable<pg.PoolConfig['types']>;

export const valueParsers: Types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS.get(oid)) || pg.types.getTypeParser(oid, format ?? 'text')) as Types['getTypeParser'],
};

function parseExact(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) return value;
  throw new StorageError('invalid_value', `PostgreSQL gave the integer ${text}, which a JS number does not hold exactly.`, {
    remedy: 'Keep sums and products below 2^53, or cast them to text in the query.',
  });
}

/** Format `hex`, the default of bytea_output since PostgreSQL 9.0. */
function parseBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'));
}
