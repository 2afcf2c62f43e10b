/** No source sees more requests than it takes, however many nodes and callers ask. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { createStorage, type Storage } from '../../../platform/storage/index.ts';
import { type Dialect, type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { type ScienceTables, scienceMigrations } from '../tables.ts';
import { adapterOf, openScience, rowsOf, scriptedSource, sendJson } from '../test-support/science-bed.ts';
import { Pace } from './pace.ts';

const QUERIES_A_SECOND = 100;
const SECONDS = 3;

async function openPace(t: Test, url: string, mostWaitMs = 60_000): Promise<{ pace: Pace; storage: Storage }> {
  const storage = createStorage({ url, modules: [{ module: 'science', migrations: scienceMigrations }] });
  await storage.open();
  t.teardown(() => storage.close());
  return { pace: new Pace({ storage: storage.access<ScienceTables>(), mostWaitMs }), storage };
}

function testPaceContract(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  t.test('places of one source follow each other in its rate, and those of others do not wait for them', async (t) => {
    const { pace } = await openPace(t, await newUrl(t, newDatabase));
    const rate = { requests: 10, per_seconds: 1 };
    const places = await Promise.all(
      Array.from({ length: 20 }, async () => {
        return (await pace.reserve('one', rate)).at;
      }),
    );
    const sorted = places.toSorted((a, b) => a - b);
    const distances = sorted.slice(1).map((at, i) => at - (sorted[i] as number));
    t.ok(
      distances.every((ms) => ms >= 100),
      `${Math.min(...distances)} ms`,
    );
    t.equal((await pace.reserve('two', rate)).waitMs, 0);
  });

  t.test('who would wait too long is refused, and takes no place', async (t) => {
    const { pace } = await openPace(t, await newUrl(t, newDatabase), 1_500);
    const rate = { requests: 1, per_seconds: 1 };
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => pace.reserve('one', rate)));
    t.ok(outcomes.filter(({ status }) => status === 'fulfilled').length <= 3);
    const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    t.match(refused.reason, { code: 'source_rate_limited', extra: { source: 'one' } });
    t.ok(refused.reason.retryAfterMs >= 1_000 && refused.reason.retryAfterMs <= 4_000);
  });

  t.test('what the source says moves the places, and only away', async (t) => {
    const { pace } = await openPace(t, await newUrl(t, newDatabase), 3_000);
    const rate = { requests: 1_000, per_seconds: 1 };
    await pace.reserve('one', rate);
    await pace.block('one', 2_000);
    await pace.block('one', 10);
    const { waitMs } = await pace.reserve('one', rate);
    t.ok(waitMs > 1_000 && waitMs <= 2_100, `${waitMs} ms`);
    await t.rejects(pace.requireOpen('one'), { code: 'source_rate_limited' });
    await pace.reserve('two', rate);
    t.ok((await pace.requireOpen('two')) > 0);
    await pace.reserve('slow', rate);
    await pace.slowDown('slow', 1_000);
    await pace.reserve('slow', rate);
    t.ok((await pace.reserve('slow', rate)).waitMs > 800);
    await pace.block('new', 60_000);
    await t.rejects(pace.reserve('new', rate), { code: 'source_rate_limited', retryAfterMs: 60_000 });
  });

  t.test('requests whose node was held up do not leave together', async (t) => {
    const { pace } = await openPace(t, await newUrl(t, newDatabase));
    const rate = { requests: 10, per_seconds: 1 };
    const { signal } = new AbortController();
    const left: number[] = [];
    const taking = Array.from({ length: 8 }, async () => {
      await pace.take('one', rate, signal);
      left.push(performance.now());
    });
    await wait(50);
    const until = performance.now() + 900;
    while (performance.now() < until);
    await Promise.all(taking);
    const distances = left.slice(1).map((at, i) => at - (left[i] as number));
    t.ok(distances.filter((ms) => ms < 50).length <= 1, `${distances.map(Math.round)} ms`);
  });

  const nNodes = dialect === 'postgres' ? 2 : 1;
  t.test(`${nNodes} nodes at ${QUERIES_A_SECOND} queries a second exceed no rate`, { timeout: 120_000 }, async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: rowsOf(0, 1) }));
    const rate = { requests: 10, per_seconds: 1 };
    const slow = { requests: 1, per_seconds: 3 };
    const adapters = [adapterOf('fast', `${source.url}/fast`, { rate }), adapterOf('slow', `${source.url}/slow`, { rate: slow })];
    const settings = { 'science.wait_seconds': 5 };
    const nodes = [];
    for (let n = 0; n < nNodes; n++) nodes.push(await openScience(t, { databaseUrl, adapters, settings, nodeId: `node${n}` }));
    const asking: Promise<{ status: number }>[] = [];
    for (let n = 0; n < QUERIES_A_SECOND * SECONDS; n++) {
      asking.push((nodes[n % nNodes] as (typeof nodes)[number]).query({ limit: 1 }));
      await wait(1_000 / QUERIES_A_SECOND);
    }
    const answers = await Promise.all(asking);
    t.ok(answers.every(({ status }) => status === 200));
    for (const [name, { requests, per_seconds: seconds }] of [
      ['fast', rate],
      ['slow', slow],
    ] as const) {
      const times = source.asked.filter(({ url }) => url.pathname.startsWith(`/${name}/`)).map(({ at }) => at);
      t.ok(times.length > 1, `${name} was asked ${times.length} times`);
      const most = Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + seconds * 1_000).length));
      t.ok(most <= requests, `${name}: ${most} requests in ${seconds} s, of ${requests}`);
    }
  });
}

// Rates are waited for.
onEachDatabase(testPaceContract, { timeoutMs: 180_000 });
