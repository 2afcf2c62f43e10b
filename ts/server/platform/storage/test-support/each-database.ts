/**
 * Contracts: what must hold on each database that is there, on SQLite and where it is installed on PostgreSQL. A contract is a file
 * `NAME.contract.ts` that calls `onEachDatabase()`. By itself it runs on all of them; `npm test` runs it once for each.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { PostgresCluster } from './postgres-cluster.ts';

interface TestDatabase {
  url: string;
  remove(): Promise<void>;
}

export type Dialect = 'sqlite' | 'postgres';
/** `folder`: an empty one in which its files shall lie. */
export type NewDatabase = (folder?: string) => Promise<TestDatabase>;
type Contract = (t: Test, newDatabase: NewDatabase, dialect: Dialect) => void | Promise<void>;

export async function newSqliteDatabase(given?: string): Promise<TestDatabase> {
  if (given !== undefined) return { url: `sqlite:${join(given, 'svc.db')}`, remove: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'svc-database-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The URL of a database that goes with the test. */
export async function newUrl(t: Test, newDatabase: NewDatabase): Promise<string> {
  const { url, remove } = await newDatabase();
  t.teardown(remove);
  return url;
}

interface ContractOptions {
  /** It does to the server what others on it would notice. */
  hasOwnServer?: boolean;
  /** On one database. */
  timeoutMs?: number;
}

/** Each time with empty databases. */
export function onEachDatabase(contract: Contract, { hasOwnServer = false, timeoutMs }: ContractOptions = {}): void {
  const only = process.env['SVC_TEST_DATABASE'];
  const run = (t: Test, newDatabase: NewDatabase, dialect: Dialect) => {
    if (timeoutMs !== undefined) t.setTimeout(timeoutMs);
    return contract(t, newDatabase, dialect);
  };
  if (timeoutMs !== undefined) t.setTimeout(only === undefined ? 2 * timeoutMs : timeoutMs);
  if (only !== 'postgres') t.test('on SQLite', async (t) => run(t, newSqliteDatabase, 'sqlite'));
  if (only === 'sqlite') return;
  t.test('on PostgreSQL', { skip: PostgresCluster.missing() ?? false }, async (t) => {
    const cluster = await (hasOwnServer ? PostgresCluster.startOwn() : PostgresCluster.start());
    t.teardown(() => cluster.remove());
    const newDatabase: NewDatabase = async (folder) => ({
      url: await cluster.newDatabase(folder),
      remove: async () => undefined,
    });
    await run(t, newDatabase, 'postgres');
  });
}
