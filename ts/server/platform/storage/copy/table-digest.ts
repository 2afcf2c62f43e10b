/** A checksum of a table that does not depend on the database that holds it. */
import { createHash, type Hash } from 'node:crypto';
import type { ReadableDatabase } from '../engine.ts';
import type { StatementValue } from '../statement.ts';
import type { CatalogTable } from './catalog.ts';
import { type Row, readPages } from './table-pages.ts';

export interface TableDigest {
  readonly rows: number;
  readonly sha256: string;
}

/**
 * SHA-256 of the rows in the order of the primary key. A row is its values in the order of the columns' names; a value is a letter for its
 * type, its length in bytes (big-endian, 32 bits), and its bytes: UTF-8, raw bytes, or an IEEE 754 double for integers and reals alike.
 */
export async function digestTable(engine: ReadableDatabase, table: CatalogTable, signal?: AbortSignal): Promise<TableDigest> {
  const hash = createHash('sha256').update(JSON.stringify([table.name, table.columns, table.primaryKey]));
  let rows = 0;
  for await (const page of readPages(engine, table)) {
    signal?.throwIfAborted();
    for (const row of page) addRow(hash, table, row);
    rows += page.length;
  }
  return { rows, sha256: hash.digest('hex') };
}

function addRow(hash: Hash, { columns }: Pick<CatalogTable, 'columns'>, row: Row): void {
  for (const name of columns) hash.update(encodeValue(row[name] ?? null));
}

function encodeValue(value: StatementValue): Buffer {
  if (value === null) return frame('n', Buffer.alloc(0));
  if (typeof value === 'string') return frame('t', Buffer.from(value, 'utf8'));
  if (typeof value === 'object') return frame('b', Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(Number(value));
  return frame('d', bytes);
}

function frame(type: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}
