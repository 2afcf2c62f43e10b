/** What the outbox holds of jobs that ended, on both databases. */
import t, { type Test } from 'tap';
import Type from 'typebox';
import { type EventRow, eventsMigrations } from '../events/index.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { silentLog } from '../module/test-support/scripted-context.ts';
import { createStorage, systemScope, tenantScope } from '../storage/index.ts';
import { newSqliteDatabase } from '../storage/test-support/each-database.ts';
import { PostgresCluster } from '../storage/test-support/postgres-cluster.ts';
import { JobFailedError, Jobs, jobsMigrations } from './index.ts';
import type { JobTables } from './store/job-tables.ts';
import { untilState } from './test-support/open-jobs.ts';

const red = tenantScope('red');

async function testEndedEvents(t: Test, url: string): Promise<void> {
  const storage = createStorage({ url, modules: [jobsMigrations, eventsMigrations] });
  await storage.open();
  const jobs = new Jobs({
    storage,
    log: silentLog,
    metrics: new MetricsRegistry(),
    nodeId: () => 'node-1',
    pollMs: 10,
    tellsEnds: true,
  });
  const access = storage.access<JobTables & { events: EventRow }>();
  t.teardown(async () => {
    await jobs.stop(100);
    await storage.close();
  });
  const queue = jobs.define({
    name: 'test.work',
    input: Type.Object({ fails: Type.Boolean() }),
    maxAttempts: 1,
    run: async ({ input }) => {
      if (input.fails) throw new JobFailedError('no_luck', 'It did not work.', 'Try something else.');
      return 1;
    },
  });
  const told = async (): Promise<object[]> => {
    const rows = await access.read(systemScope(), (db) => db.selectFrom('events').selectAll().orderBy('seq').execute());
    return rows.map(({ tenant, type, payload }) => ({ tenant, type, ...(JSON.parse(payload) as object) }));
  };
  const orphan = await queue.enqueue(red, { fails: false }, { owner: 'bob' });
  await access.writeUnit(systemScope(), (db) => [
    db.updateTable('jobs').set({ state: 'running', runner: 'dead', open_step: 'pay', claim: 1 }).where('id', '=', orphan.id),
  ]);
  await jobs.start();
  await untilState(jobs, red, orphan.id, 'failed');
  const ofTest = { tenant: 'red', kind: 'test.work' };
  t.strictSame(await told(), [{ ...ofTest, type: 'jobs.failed', id: orphan.id, owner: 'bob', code: 'step_outcome_unknown' }]);
  queue.start();
  const good = await queue.enqueue(red, { fails: false }, { owner: 'ann' });
  await untilState(jobs, red, good.id, 'done');
  const bad = await queue.enqueue(red, { fails: true });
  await untilState(jobs, red, bad.id, 'failed');
  t.strictSame((await told()).slice(1), [
    { ...ofTest, type: 'jobs.done', id: good.id, owner: 'ann' },
    { ...ofTest, type: 'jobs.failed', id: bad.id, owner: null, code: 'no_luck' },
  ]);
}

t.test('on SQLite', async (t) => {
  const { url, remove } = await newSqliteDatabase();
  t.teardown(remove);
  await testEndedEvents(t, url);
});

const missing = PostgresCluster.missing();
t.test('on PostgreSQL', { skip: missing ?? false }, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  await testEndedEvents(t, await cluster.newDatabase());
});
