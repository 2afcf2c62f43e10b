/** What must hold on each database that is there: on SQLite, and where it is installed on PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { PostgresCluster } from './postgres-cluster.ts';

export interface TestDatabase {
  url: string;
  remove(): Promise<void>;
}

export type NewDatabase = () => Promise<TestDatabase>;

export async function newSqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-database-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The URL of a database that goes with the test. */
export async function newUrl(t: Test, newDatabase: NewDatabase): Promise<string> {
  const { url, remove } = await newDatabase();
  t.teardown(remove);
  return url;
}

/** Each time with empty databases. */
export function onEachDatabase(...tests: readonly ((t: Test, newDatabase: NewDatabase) => void)[]): void {
  t.test('on SQLite', async (t) => {
    for (const test of tests) test(t, newSqliteDatabase);
  });
  t.test('on PostgreSQL', { skip: PostgresCluster.missing() ?? false }, async (t) => {
    const cluster = await PostgresCluster.start();
    t.teardown(() => cluster.remove());
    for (const test of tests) test(t, async () => ({ url: await cluster.newDatabase(), remove: async () => undefined }));
  });
}
