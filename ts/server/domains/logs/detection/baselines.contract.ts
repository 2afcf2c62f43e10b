/** Baselines on both databases: nothing alerts for two weeks, then what is loud, quiet or missing does, once. */
import fc from 'fast-check';
import type { Test } from 'tap';
import { createStorage, tenantScope } from '../../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { lineSeries } from '../line-series.ts';
import { Baselines, baselineMigration, deviationOf, type LineCount } from './baselines.ts';
import { everyLine } from './tables.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
const NOW = Date.parse('2026-11-28T12:00:00Z');

const counted = (sender: string, at: number, lines: number): LineCount => ({
  sender,
  className: 'auth',
  hour: new Date(at).toISOString().slice(0, 13),
  lines,
});

function testBaselines(t: Test, newDatabase: NewDatabase): void {
  t.test('sources are judged by the same hours of weeks before', async (t) => {
    const storage = createStorage({
      url: await newUrl(t, newDatabase),
      modules: [{ module: 'logs', migrations: [{ ...baselineMigration, id: 1 }] }],
    });
    await storage.open();
    t.teardown(() => storage.close());
    const baselines = new Baselines(storage.access(), () => 'node');
    const elsewhere = new Baselines(storage.access(), () => 'other');
    const weeks = (n: number): number[] =>
      Array.from({ length: n }, (_, week) => [-1, 0, 1].map((beside) => NOW - (week + 1) * WEEK_MS + beside * HOUR_MS)).flat();
    const old = (sender: string): LineCount[] => weeks(4).map((at, i) => counted(sender, at, 200 + (i % 5)));
    await baselines.count(everyLine(), [
      ...old('10.0.0.1'),
      ...old('10.0.0.2'),
      ...old('10.0.0.3'),
      ...old('10.0.0.4'),
      ...weeks(1).map((at) => counted('10.0.0.5', at, 200)),
      counted('10.0.0.1', NOW, 5_000),
      counted('10.0.0.2', NOW, 3),
      counted('10.0.0.4', NOW, 150),
      counted('10.0.0.5', NOW, 50_000),
    ]);
    const found = async (which: Baselines) =>
      (await which.judgeHour(everyLine(), NOW)).map(({ rule, entity, level }) => `${rule} ${entity} ${level}`).sort();
    t.strictSame(await found(baselines), [
      'baseline-loud 10.0.0.1 auth low',
      'baseline-missing 10.0.0.3 auth medium',
      'baseline-quiet 10.0.0.2 auth low',
    ]);
    t.strictSame(await found(elsewhere), [], 'what another node collects is judged there');
    await baselines.count(everyLine(), [counted('10.0.0.1', NOW, 201)]);
    t.equal((await found(baselines)).length, 2, 'a count takes the place of the one before');
    const late = NOW + HOUR_MS + 11 * 60_000;
    t.equal((await baselines.judge(everyLine(), NOW + HOUR_MS + 9 * 60_000)).filter(({ atMs }) => atMs > NOW).length, 0);
    t.equal((await baselines.judge(everyLine(), late)).length, 2);
    t.strictSame(await baselines.judge(everyLine(), late), [], 'an hour is judged once');
    t.strictSame(
      await new Baselines(storage.access(), () => 'node').judgeHour(everyLine(), NOW + 100 * HOUR_MS),
      [],
      'a node that collected nothing is not judged',
    );
    const [first] = await baselines.judgeHour(everyLine(), NOW);
    t.match(first, { uuid: /^10\.0\.0\.\d auth 2026-11-28T12$/, uuids: [], atMs: NOW + HOUR_MS });
  });

  t.test('lines of the senders of a tenant are summed over nodes, by class and hour', async (t) => {
    const storage = createStorage({
      url: await newUrl(t, newDatabase),
      modules: [{ module: 'logs', migrations: [{ ...baselineMigration, id: 1 }] }],
    });
    await storage.open();
    t.teardown(() => storage.close());
    const baselines = new Baselines(storage.access(), () => 'node');
    await baselines.count(everyLine(), [
      counted('10.0.0.1', NOW, 5),
      counted('10.0.0.1', NOW - HOUR_MS, 3),
      counted('10.0.0.9', NOW, 100),
      // More senders of the tenant than one statement asks for.
      ...Array.from({ length: 1_100 }, (_, i) => counted(`10.1.${i >> 8}.${i & 255}`, NOW, 1)),
    ]);
    await new Baselines(storage.access(), () => 'other').count(everyLine(), [counted('10.0.0.1', NOW, 7)]);
    const sources = [
      { network: '10.0.0.1/32', tenant: 'red' },
      { network: '10.1.0.0/16', tenant: 'red' },
      { network: '10.0.0.0/24' },
    ];
    const source = lineSeries({ baselines, sources: () => sources, now: () => NOW + 1 });
    const [red, blue] = [tenantScope('red'), tenantScope('blue')];
    t.strictSame(await source.list(red), [
      { name: 'logs.lines', unit: 'lines' },
      { name: 'logs.lines.auth', unit: 'lines' },
    ]);
    const both = [
      { ts: NOW - HOUR_MS, value: 3 },
      { ts: NOW, value: 1_112 },
    ];
    t.strictSame(await source.read(red, 'logs.lines', 0), both);
    t.strictSame(await source.read(red, 'logs.lines.auth', NOW + 1), [both[1]]);
    t.equal(await source.read(red, 'logs.lines.mail', 0), undefined);
    t.strictSame([await source.list(blue), await source.read(blue, 'logs.lines', 0)], [[], undefined], 'no sender is of it');
  });

  t.test('what varies as it always did does not alert', (t) => {
    t.equal(deviationOf(0, [5, 5, 5]), undefined, 'too little is known');
    t.equal(deviationOf(0, [0, 9, 9, 9, 9, 9]), undefined, 'it was silent before');
    t.equal(deviationOf(99, [1, 1, 1, 1, 1, 1]), undefined, 'few lines are not loud');
    t.equal(deviationOf(0, [9, 9, 9, 9, 9, 9]), 'missing');
    t.equal(deviationOf(900, [9, 9, 9, 9, 9, 9]), 'loud');
    t.equal(deviationOf(5, [90, 95, 100, 90, 95, 100]), 'quiet');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000 }),
        fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 6, maxLength: 24 }),
        (median, noise) => {
          const samples = noise.map((more) => median + more);
          return deviationOf(median + 5, samples) === undefined;
        },
      ),
    );
    t.end();
  });
}

onEachDatabase(testBaselines);
