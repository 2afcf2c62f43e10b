import t from 'tap';
import type { StoredModel } from '../model-source.ts';
import { ScriptedDoor } from '../scripted-engine.ts';
import { LoadedModel } from './loaded-model.ts';
import { ModelTable, type TableLimits } from './model-table.ts';

const anyTime = 60_000;
const { signal } = new AbortController();

const stored = (id: string, sizeBytes = 1000): StoredModel => ({
  id,
  path: id,
  sizeBytes,
  kind: 'chat',
  architecture: 'llama',
  family: 'llama',
  nCtxTrain: 512,
  createdAt: 0,
});

function setUp(limits: Partial<TableLimits> = {}, pinned?: string) {
  const door = new ScriptedDoor();
  const open = async ({ path }: StoredModel, onProgress: (fraction: number) => void, loadSignal: AbortSignal) =>
    new LoadedModel(await door.load({ path }, { onProgress, signal: loadSignal }), {});
  const table = new ModelTable(open, { maxModels: 2, maxBytes: 1e9, loadWaitMs: anyTime, ...limits }, pinned);
  /** Uses a model and is done with it; each use is later than the one before. */
  const use = async (id: string) => {
    const lease = await table.acquire(stored(id), signal, anyTime);
    lease.release();
    const entry = table.entry(id) as { lastUsedAt: number };
    entry.lastUsedAt = uses++;
  };
  let uses = 0;
  return { door, table, use };
}

function hold(door: ScriptedDoor): () => void {
  let open = () => {};
  door.gate = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

t.test('all who wait for a model share one load', async (t) => {
  const { door, table } = setUp();
  const leases = await Promise.all([1, 2, 3].map(() => table.acquire(stored('a'), signal, anyTime)));
  t.strictSame(door.loaded, ['a']);
  t.equal(new Set(leases.map((lease) => lease.model)).size, 1);
  t.equal(table.entry('a')?.nLeases, 3);
});

t.test('the longest unused model makes room', async (t) => {
  const { door, table, use } = setUp();
  await use('a');
  await use('b');
  await use('a');
  await use('c');
  t.strictSame(door.closed, ['b']);
  t.strictSame(
    [...table.entries()].map((entry) => entry.stored.id),
    ['a', 'c'],
  );
});

t.test('bytes count, not only models', async (t) => {
  const { door, use } = setUp({ maxModels: 9, maxBytes: 2500 });
  await use('a');
  await use('b');
  await use('c');
  t.strictSame(door.closed, ['a']);
});

t.test('the pinned model stays', async (t) => {
  const { door, use } = setUp({}, 'a');
  await use('a');
  await use('b');
  await use('c');
  t.strictSame(door.closed, ['b']);
});

t.test('a newcomer waits until a model at work is done', async (t) => {
  const { door, table } = setUp({ maxModels: 1 });
  const lease = await table.acquire(stored('a'), signal, anyTime);
  const waiting = table.acquire(stored('b'), signal, anyTime);
  await new Promise(setImmediate);
  t.strictSame(door.loaded, ['a']);
  lease.release();
  await waiting;
  t.strictSame(door.loaded, ['a', 'b']);
});

t.test('a model at work stays, and a newcomer that cannot wait is told to come back', async (t) => {
  const { table, use } = setUp({ maxModels: 1 });
  const lease = await table.acquire(stored('a'), signal, anyTime);
  await t.rejects(table.acquire(stored('b'), signal, 1), {
    status: 503,
    code: 'models_busy',
    headers: { 'retry-after': '2' },
  });
  lease.release();
  await use('b');
  t.equal(table.entry('a'), undefined);
});

t.test('where only the pinned model has room, nobody waits in vain', async (t) => {
  const { table, use } = setUp({ maxModels: 1 }, 'a');
  await use('a');
  await t.rejects(table.acquire(stored('b'), signal, anyTime), { status: 503, code: 'models_busy' });
});

t.test('a lease is given back once', async (t) => {
  const { table } = setUp();
  const lease = await table.acquire(stored('a'), signal, anyTime);
  lease.release();
  lease.release();
  t.equal(table.entry('a')?.nLeases, 0);
});

t.test('who cannot wait for the load hears model_loading; the load goes on', async (t) => {
  const { door, table } = setUp();
  const finish = hold(door);
  await t.rejects(table.acquire(stored('a'), signal, 1), {
    status: 503,
    code: 'model_loading',
    headers: { 'retry-after': String },
  });
  t.equal(table.entry('a')?.progress, 0.5);
  finish();
  await table.acquire(stored('a'), signal, anyTime);
  t.strictSame(door.loaded, ['a']);
});

t.test('a client that leaves while the model loads holds nothing', async (t) => {
  const { door, table } = setUp();
  const finish = hold(door);
  const aborter = new AbortController();
  const waiting = table.acquire(stored('a'), aborter.signal, anyTime);
  await new Promise(setImmediate);
  aborter.abort();
  await t.rejects(waiting, { name: 'AbortError' });
  t.equal(table.entry('a')?.nLeases, 0);
  finish();
});

t.test('a failed load is forgotten, so that the next request tries again', async (t) => {
  const { door, table, use } = setUp();
  door.gate = Promise.reject(new Error('no memory'));
  await t.rejects(table.acquire(stored('a'), signal, anyTime), { message: 'no memory' });
  door.gate = Promise.resolve();
  await use('a');
  t.strictSame(door.loaded, ['a', 'a']);
});

t.test('unloading waits for running jobs and refuses new ones', async (t) => {
  const { door, table } = setUp();
  const lease = await table.acquire(stored('a'), signal, anyTime);
  const unloading = table.unload('a', { force: false });
  await t.rejects(table.acquire(stored('a'), signal, anyTime), { status: 503, code: 'model_unloading' });
  t.strictSame(door.closed, []);
  lease.release();
  await unloading;
  t.strictSame(door.closed, ['a']);
});

t.test('a forced unload does not wait', async (t) => {
  const { door, table } = setUp();
  await table.acquire(stored('a'), signal, anyTime);
  await table.unload('a', { force: true });
  t.strictSame(door.closed, ['a']);
});

t.test('unloading a model that is loading aborts the load', async (t) => {
  const { door, table } = setUp();
  const finish = hold(door);
  const waiting = table.acquire(stored('a'), signal, anyTime);
  const refused = t.rejects(waiting, { code: 'load_aborted' });
  await new Promise(setImmediate);
  const unloading = table.unload('a', { force: true });
  finish();
  await unloading;
  await refused;
  t.equal(table.entry('a'), undefined);
});

t.test('a request that meets an eviction waits for it and loads again', async (t) => {
  const { door, table, use } = setUp({ maxModels: 1 });
  await use('a');
  const b = table.acquire(stored('b'), signal, anyTime).then((lease) => lease.release());
  await b;
  await use('a');
  t.strictSame(door.loaded, ['a', 'b', 'a']);
});

t.test('after close nothing is loaded', async (t) => {
  const { door, table, use } = setUp();
  await use('a');
  await table.close();
  t.strictSame(door.closed, ['a']);
  await t.rejects(table.acquire(stored('a'), signal, anyTime), { status: 503, code: 'model_unloading' });
});
