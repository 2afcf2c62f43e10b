import t from 'tap';
import { until } from '../jobs/test-support/open-jobs.ts';
import { tenantScope } from '../storage/index.ts';
import { PostgresCluster } from '../storage/test-support/postgres-cluster.ts';
import { type AccountTables, accountMade, noteIds, openEvents } from './test-support/open-events.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testPostgres(await PostgresCluster.start());

async function testPostgres(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());
  t.setTimeout(120_000);
  const red = tenantScope('red');

  t.test('an event whose write commits after a later one is not passed over', async (t) => {
    const { events, storage } = await openEvents(t, await cluster.newDatabase());
    const ids = noteIds(events, 'audit');
    await events.start();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slow = storage.access<AccountTables>().write(red, async (tx) => {
      await events.record(tx, red, accountMade, { id: 'first' }).execute();
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await events.send(red, accountMade, { id: 'second' });
    await until(
      () => ids,
      (all) => all.includes('second'),
    );
    held.resolve();
    await slow;
    await until(
      () => ids,
      (all) => all.includes('first'),
    );
    t.equal(ids.length, 2);
  });

  t.test('of two nodes one delivers, and the other takes over when it stops', async (t) => {
    const url = await cluster.newDatabase();
    const one = (await openEvents(t, url)).events;
    const two = (await openEvents(t, url, { nodeId: () => 'node-2' })).events;
    const [first, second] = [noteIds(one, 'audit'), noteIds(two, 'audit')];
    await Promise.all([one.start(), two.start()]);
    for (let i = 0; i < 30; i += 1) await (i % 2 === 0 ? one : two).send(red, accountMade, { id: String(i) });
    await until(
      () => first.length + second.length,
      (n) => n >= 30,
    );
    const together = [...first, ...second];
    t.equal(new Set(together).size, 30);
    t.equal(together.length, 30, 'none came twice');
    await one.stop();
    await two.send(red, accountMade, { id: 'last' });
    await until(
      () => second,
      (ids) => ids.includes('last'),
    );
  });
}
