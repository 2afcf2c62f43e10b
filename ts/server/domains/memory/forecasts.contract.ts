/** Forecasts over HTTP on both databases: series are learned from as jobs, foreseen, and belong to their tenant. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { SeriesRegistry } from '../../platform/series/series-registry.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { readMemoryFile, writeMemoryFile } from './files/memory-file.ts';
import { callerOf, openMemory } from './test-support/memory-bed.ts';

const HOUR_MS = 3_600_000;
const dev = callerOf('dev', 'developer');
const ann = callerOf('ann');
const stranger = callerOf('eve', 'developer', { tenant: 'blue' });

/** Hours of a week that is busy by day, with noise that follows from the hour. */
function busyDays(nHours: number, end: number): { ts: number; value: number }[] {
  return Array.from({ length: nHours }, (_, i) => {
    const ts = end - (nHours - i) * HOUR_MS;
    const hour = ts / HOUR_MS;
    const noise = ((hour * 7919) % 97) / 97 - 0.5;
    return { ts, value: 100 + 40 * Math.sin((2 * Math.PI * (hour % 24)) / 24) + 20 * (hour % 168 < 120 ? 1 : 0) + 8 * noise };
  });
}

async function openForecasts(t: Test, newDatabase: NewDatabase) {
  const now = Date.now();
  const series = new SeriesRegistry();
  series.register({
    name: 'load',
    list: async ({ tenant }) => (tenant === 'red' ? [{ name: 'load.hours', unit: 'requests' }] : []),
    read: async ({ tenant }, name) => {
      if (tenant !== 'red') return undefined;
      return { 'load.hours': busyDays(600, now - (now % HOUR_MS)), 'load.new': busyDays(2, now) }[name];
    },
  });
  const bed = await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), series, now: () => now });
  const rollout = (body: object, as = ann) =>
    bed.send('POST', '/api/v1/worldmodel/rollout', { headers: { 'x-as': JSON.stringify(as) }, body });
  const train = async (file: string, names = ['load.hours']) => {
    const begun = await bed.ask('POST', 'forecasts', { series: names, file }, dev);
    if (begun.status !== 202) throw new Error(begun.text);
    return await until(
      () => bed.jobs.get(tenantScope('red'), begun.body.job_id),
      ({ state }) => state === 'done' || state === 'failed',
      100_000,
    );
  };
  return { ...bed, rollout, train, folder: join(bed.dataDir, 'memory', 'red') };
}

function testForecasts(t: Test, newDatabase: NewDatabase): void {
  t.test('a series is learned from, foreseen better than by the last value, and the same again by the same seed', async (t) => {
    const bed = await openForecasts(t, newDatabase);
    t.strictSame((await bed.ask('GET', 'series')).body.data, [{ name: 'load.hours', unit: 'requests' }]);
    const job = await bed.train('load.exmm');
    t.match(job, { state: 'done', result: { file: 'load.exmm', models: [{ series: 'load.hours' }] } });
    const [{ method, scores }] = (job.result as { models: [{ method: string; scores: Record<string, number> }] }).models;
    t.ok((scores[method] ?? 1) < 0.5, JSON.stringify(scores));
    for (const horizon of [1, 6, 24])
      t.match(bed.metrics.expose(), `svc_memory_forecast_error_ratio_count{horizon="${horizon}"} 1\n`);
    const wanted = { emm_path: 'load.exmm', series: ['load.hours'], horizon: 48, seed: 7 };
    const before = readFileSync(join(bed.folder, 'load.exmm'));
    const { status, body } = await bed.rollout(wanted);
    t.match([status, body.method, body.steps.length], [200, method, 48]);
    const truth = busyDays(48, bed.now() - (bed.now() % HOUR_MS) + 48 * HOUR_MS);
    const error = truth.reduce((sum, { value }, i) => sum + Math.abs(value - body.steps[i].mean), 0) / 48;
    t.ok(error < 15, `${error}`);
    t.equal(body.steps[0].ts, new Date(truth[0]?.ts ?? 0).toISOString());
    for (const { quantiles, mean } of body.steps)
      t.ok(quantiles.p10 <= quantiles.p50 && quantiles.p50 <= quantiles.p90 && Number.isFinite(mean));
    t.strictSame((await bed.rollout(wanted)).body, body);
    t.notSame((await bed.rollout({ ...wanted, seed: 8 })).body, body);
    t.same(readFileSync(join(bed.folder, 'load.exmm')), before, 'a rollout only reads');
    const values = busyDays(400, bed.now());
    t.match((await bed.rollout({ series: values, horizon: 3 })).body, { method: /^seasonal/, steps: [{}, {}, {}] });
    t.match((await bed.rollout({ series: ['load.hours'], horizon: 1 })).body, { method: /^seasonal/ }, 'rules alone');
  });

  t.test('other sections stay, and a file that is damaged is kept as it is', async (t) => {
    const bed = await openForecasts(t, newDatabase);
    await bed.train('load.exmm');
    const path = join(bed.folder, 'load.exmm');
    const other = { kind: 'episodes', name: 'kept', bytes: new Uint8Array([1, 2, 3]) } as const;
    writeMemoryFile(path, [...readMemoryFile(path), other], 1);
    await bed.train('load.exmm');
    t.match(readMemoryFile(path), [other, { kind: 'world_model', name: 'series' }]);
    const bytes = readFileSync(path);
    bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const wanted = { emm_path: 'load.exmm', series: ['load.hours'], horizon: 3 };
    t.match(await bed.rollout(wanted), {
      status: 422,
      body: { error: 'forecast_model_load_failed', deprecated_error: 'world_model_load_failed' },
    });
    t.match(await bed.train('load.exmm'), { state: 'failed', error: { code: 'memory_file_invalid' } });
    t.same(readFileSync(path), bytes);
    t.strictSame(readdirSync(bed.folder), ['load.exmm'], 'nothing is left over');
    writeMemoryFile(path, [{ kind: 'world_model', name: 'series', bytes: new Uint8Array([9, 0, 0, 0, 1]) }], 1);
    t.match(await bed.rollout(wanted), { status: 422, body: { error: 'forecast_model_load_failed' } });
    writeMemoryFile(path, [other], 1);
    t.match(await bed.rollout(wanted), { status: 422, body: { error: 'no_world_model' } });
  });

  t.test('files and series of others, and names that lead elsewhere, answer as unknown ones', async (t) => {
    const bed = await openForecasts(t, newDatabase);
    await bed.train('load.exmm');
    symlinkSync(join(bed.folder, 'load.exmm'), join(bed.folder, 'link.exmm'));
    const wanted = { series: ['load.hours'], horizon: 3 };
    for (const emm_path of ['none.exmm', 'link.exmm', '../red/load.exmm', join(bed.folder, 'load.exmm'), 'load', '..'])
      t.match(
        await bed.rollout({ ...wanted, emm_path }),
        { status: 422, body: { error: 'no_world_model', param: 'emm_path' } },
        emm_path,
      );
    t.match(await bed.rollout({ ...wanted, emm_path: 'load.exmm' }, stranger), {
      status: 422,
      body: { error: 'no_world_model' },
    });
    t.match(await bed.rollout(wanted, stranger), { status: 404, body: { error: 'series_not_found' } });
    t.strictSame((await bed.ask('GET', 'series', undefined, stranger)).body.data, []);
    t.match(await bed.ask('POST', 'forecasts', { series: ['load.hours'], file: 'a.exmm' }, ann), { status: 403 });
    t.match(await bed.ask('POST', 'forecasts', { series: ['load.hours'], file: '../x.exmm' }, dev), {
      status: 400,
      body: { param: 'file' },
    });
    t.match(await bed.ask('POST', 'forecasts', { series: ['load.gone'], file: 'a.exmm' }, dev), { status: 404 });
    t.match(await bed.train('a.exmm', ['load.new']), { state: 'failed', error: { code: 'series_not_regular' } });
    for (const [body, param] of [
      [{ series: ['load.hours'], horizon: 0 }, 'horizon'],
      [{ series: ['load.hours'], horizon: 'many' }, 'horizon'],
      [{ series: [], horizon: 3 }, 'series'],
      [{ series: ['load.hours'], horizon: 3, seed: -1 }, 'seed'],
    ] as const)
      t.match(await bed.rollout(body), { status: 400, body: { param } }, JSON.stringify(body));
    const flat = [1, 2].map((i) => ({ ts: i, value: i }));
    t.match(await bed.rollout({ series: flat, horizon: 3 }), { status: 400 });
    t.match(await bed.rollout({ series: [1, 2, 3].map((i) => ({ ts: 5, value: i })), horizon: 3 }), {
      status: 422,
      body: { error: 'series_not_regular' },
    });
    await bed.host.owners.find(({ name }) => name === 'memory')?.belongings.eraseTenant(tenantScope('red'));
    t.throws(() => readdirSync(bed.folder), { code: 'ENOENT' });
  });
}

onEachDatabase(testForecasts, { timeoutMs: 300_000 });
