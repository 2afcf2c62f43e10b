/** sqlite-vec: compares with every vector inside SQLite. */
import Database from 'better-sqlite3';
import type { CreateLibrary } from '../vector-library.ts';
import { requireRival } from './require-rival.ts';

export const sqliteVec: CreateLibrary = ({ dimensions }) => {
  const database = new Database(':memory:');
  (requireRival('sqlite-vec') as { load(database: Database.Database): void }).load(database);
  database.exec(`create virtual table vectors using vec0(embedding float[${dimensions}] distance_metric=cosine)`);
  const insert = database.prepare(`insert into vectors(rowid, embedding) values (?, ?)`);
  const nearest = database.prepare(`select rowid from vectors where embedding match ? and k = ?`).pluck();
  const nearestOf = database
    .prepare(`select rowid from vectors where embedding match ? and k = ? and rowid in (select value from json_each(?))`)
    .pluck();
  const lists = new WeakMap<Float64Array, string>();
  const listOf = (keys: Float64Array) => {
    const known = lists.get(keys) ?? `[${keys.join(',')}]`;
    lists.set(keys, known);
    return known;
  };
  return {
    canFilter: true,
    add: database.transaction((firstKey: number, vectors: Float32Array) => {
      for (let i = 0; i * dimensions < vectors.length; i++)
        insert.run(BigInt(firstKey + i), vectors.subarray(i * dimensions, (i + 1) * dimensions));
    }),
    search: (query, k, allowed) =>
      (allowed === undefined ? nearest.all(query, k) : nearestOf.all(query, k, listOf(allowed.keys))) as number[],
    close: () => void database.close(),
  };
};
