import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ExecuteStatement } from '../statement.ts';
import { createDatabaseFile } from './sqlite-engine.ts';
import { SqliteThreads } from './sqlite-threads.ts';

async function open(t: Test): Promise<SqliteThreads> {
  const file = join(t.testdir(), 'svc.db');
  createDatabaseFile(file);
  const threads = await SqliteThreads.open(file, { onBroken: t.fail, onCommit() {} });
  t.teardown(() => threads.close());
  return threads;
}

/** Keeps a thread busy for a good part of a second, in one statement. */
const slow = (execute: ExecuteStatement): Promise<unknown> =>
  execute({
    sql: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000000) select count(*) from n',
    parameters: [],
  });

async function quick(execute: ExecuteStatement): Promise<unknown> {
  await execute({ sql: 'select 1', parameters: [] });
  return await execute({ sql: 'select 2', parameters: [] });
}

t.test('slow statements of one tenant do not hold up what others read', async (t) => {
  const threads = await open(t);
  let nSlowOver = 0;
  const running = Array.from({ length: 6 }, () => threads.read('a', undefined, slow).finally(() => nSlowOver++));
  for (const tenant of ['b', undefined, 'b']) {
    await threads.read(tenant, undefined, quick);
    t.equal(nSlowOver, 0, 'none of the slow ones is over');
  }
  await Promise.all(running);
});

t.test(
  'a statement that exceeds its time is left behind, and whoever waits behind it is answered by another thread',
  async (t) => {
    const threads = await open(t);
    const outcomes = [threads.read('a', 100, slow), threads.read('a', 10_000, quick), threads.read('b', 10_000, quick)];
    const [refused, ...others] = await Promise.allSettled(outcomes);
    t.match(refused, { status: 'rejected', reason: { code: 'transaction_timeout' } });
    for (const { status } of others) t.equal(status, 'fulfilled');
  },
);

t.test('reads go on behind any number of statements that exceed their time', async (t) => {
  const threads = await open(t);
  for (let i = 0; i < 6; i++) await t.rejects(threads.read('a', 20, slow), { code: 'transaction_timeout' });
  await threads.read('a', 10_000, quick);
});
