import pg from 'pg';
import t, { type Test } from 'tap';
import { systemScope } from '../../platform/storage/index.ts';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import type { MeteringTables } from './tables.ts';
import { ann, openMetering, root, work } from './test-support/metering-bed.ts';
import { UsageStore } from './usage/usage-store.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  testSharedQuotas(() => cluster.newDatabase());
}

/** What a node may not know yet of another: it tells it twice a second, and the other asks as often. */
const KNOWN_WITHIN_MS = 15_000;

function testSharedQuotas(newDatabase: () => Promise<string>): void {
  const twoNodes = async (t: Test, limits: object) => {
    const databaseUrl = await newDatabase();
    // The nodes tell each other what the clock of the database's machine says was lately.
    const clock = { now: Date.now() };
    const one = await openMetering(t, { databaseUrl, nodeId: 'one', clock });
    const two = await openMetering(t, { databaseUrl, nodeId: 'two', clock });
    await one.ask('PUT', '/api/v1/metering/quotas', root, { tenant: 'red', ...limits });
    return { one, two };
  };

  /** How long it takes until the node refuses. */
  const refusedAfter = async (attempt: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < KNOWN_WITHIN_MS) {
      if ((await attempt().catch((error: unknown) => error)) instanceof Error) return performance.now() - startedAt;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return Number.POSITIVE_INFINITY;
  };

  t.test('a quota by the minute that one node uses up is soon used up on the other', async (t) => {
    const { one, two } = await twoNodes(t, { tokens_per_minute: 1000 });
    await two.use(ann, 1, 1).catch(() => undefined);
    await one.use(ann, 500, 490, { nMost: 490 });
    const begin = () => two.module.api.begin(ann, { ...work, nPromptEstimate: 0, nMost: 900 });
    const tried = async () => (await begin()).end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    const ms = await refusedAfter(tried);
    t.ok(ms < KNOWN_WITHIN_MS, `after ${Math.round(ms)} ms`);
    await t.rejects(begin(), { code: 'rate_limit_exceeded' });
  });

  t.test('a write whose COMMIT comes through after its repetition began is there once', async (t) => {
    const databaseUrl = await newDatabase();
    const bed = await openMetering(t, { databaseUrl });
    await bed.use(ann, 10, 5);
    const store = new UsageStore(bed.storage.access<MeteringTables>());
    const next = (await store.lastBatch(systemScope(), 'one')) + 1;
    const [late, watch] = [new pg.Client({ connectionString: databaseUrl }), new pg.Client({ connectionString: databaseUrl })];
    for (const client of [late, watch]) {
      await client.connect();
      t.teardown(() => client.end());
    }
    await late.query('begin isolation level serializable');
    await late.query(`update metering_nodes set batch = ${next} where node = 'one'`);
    const key = { tenant: 'red', user_id: 'usr_ann', key_id: 'key_a', model: 'm', operation: 'chat' };
    const times = { id: 'a', wasOpened: false, startedAt: bed.clock.now, endedAt: bed.clock.now };
    const ended = [{ ...key, ...times, promptTokens: 1, cachedTokens: 0, completionTokens: 1 }];
    const repeated = store.write(systemScope(), 'one', next, { opened: [], extended: [], ended });
    const refused = t.rejects(repeated, { code: 'constraint_violation' });
    const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while ((await watch.query(waits)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await late.query('commit');
    await refused;
    t.match(await bed.usage(), [{ requests: 1 }]);
  });

  t.test('what running requests hold on one node is held on the other', async (t) => {
    const { one, two } = await twoNodes(t, { tokens_per_minute: 1000 });
    const running = await one.module.api.begin(ann, { ...work, nPromptEstimate: 0, nMost: 950 });
    const tried = async () => {
      const meter = await two.module.api.begin(ann, { ...work, nPromptEstimate: 0, nMost: 100 });
      await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    };
    t.ok((await refusedAfter(tried)) < KNOWN_WITHIN_MS);
    await running.end({ nPromptTokens: 1, nCachedTokens: 0, nCompletionTokens: 0 });
    const startedAt = performance.now();
    let isAdmitted = false;
    while (!isAdmitted && performance.now() - startedAt < KNOWN_WITHIN_MS)
      isAdmitted = await tried().then(
        () => true,
        () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 20)),
      );
    t.ok(isAdmitted, 'and free again when they end');
  });

  t.test('a quota by the month counts what all nodes used', async (t) => {
    const { one, two } = await twoNodes(t, { requests_per_month: 10 });
    await two.use(ann, 1, 1).catch(() => undefined);
    for (let i = 0; i < 8; i += 1) await one.use(ann, 1, 1);
    const ms = await refusedAfter(() => two.use(ann, 1, 1));
    t.ok(ms < KNOWN_WITHIN_MS, `after ${Math.round(ms)} ms`);
    const usage = await one.usage();
    const total = usage.reduce((sum, row) => sum + row.requests, 0);
    t.ok(total >= 10 && total <= 10 + KNOWN_WITHIN_MS / 20, `${total} requests of 10`);
    t.strictSame([...new Set(usage.map(({ node }) => node))].sort(), ['one', 'two']);
  });
}
