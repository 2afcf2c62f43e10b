/** Looks into the database of a running program, over all tenants. */
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Test } from 'tap';

export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

export async function openQuery(t: Test, url: string): Promise<Query> {
  if (url.startsWith('sqlite:')) {
    const db = new Database(url.slice('sqlite:'.length), { readonly: true });
    t.teardown(() => void db.close());
    return async (sql) => db.prepare(sql).all() as Record<string, unknown>[];
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query("select set_config('svc.tenant', '*', false)");
  return async (sql) => (await client.query<Record<string, unknown>>(sql)).rows;
}
