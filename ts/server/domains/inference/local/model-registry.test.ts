import t from 'tap';
import type { StoredModel } from '../models/model-source.ts';
import { ScriptedBinding } from '../test-support/scripted-engine.ts';
import type { ModelRequest } from './model-entry.ts';
import { LoadedModel } from './model-opener.ts';
import { ModelRegistry, type OpenModel, type RegistryLimits } from './model-registry.ts';

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

const bytes = (hostBytes: number) => ({ hostBytes, deviceBytes: 0 });
const request = (id: string, sizeBytes?: number): ModelRequest => ({
  stored: stored(id, sizeBytes),
  plan: undefined,
  context: undefined,
  nTokens: 10,
});

const roomy = { maxRequests: 1000, maxTokens: 1000 };

function setUp(limits: Partial<RegistryLimits> = {}, pinned?: string) {
  const binding = new ScriptedBinding();
  const open: OpenModel = async ({ stored: { path } }, onProgress, loadSignal) =>
    new LoadedModel(await binding.load({ path }, { onProgress, signal: loadSignal }), {});
  const defaults = {
    maxModels: 2,
    memory: bytes(1e9),
    loadWaitMs: anyTime,
    drainAfterMs: anyTime,
    idleUnloadMs: 0,
    loadQueue: roomy,
  };
  const registry = new ModelRegistry(open, { ...defaults, ...limits }, pinned === undefined ? [] : [pinned]);
  registry.open();
  t.teardown(() => registry.close());
  /** Uses a model and is done with it; each use is later than the one before. */
  const use = async (id: string) => {
    const reservation = await registry.acquire(request(id), signal, anyTime);
    reservation.release();
    const entry = registry.entry(id) as { lastUsedAt: number };
    entry.lastUsedAt = uses++;
  };
  let uses = 0;
  return { binding, registry, use };
}

function hold(binding: ScriptedBinding): () => void {
  let open = () => {};
  binding.gate = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

t.test('all who wait for a model share one load', async (t) => {
  const { binding, registry } = setUp();
  const reservations = await Promise.all([1, 2, 3].map(() => registry.acquire(request('a'), signal, anyTime)));
  t.strictSame(binding.loaded, ['a']);
  t.equal(new Set(reservations.map((reservation) => reservation.model)).size, 1);
  t.equal(registry.entry('a')?.nReservations, 3);
});

t.test('what may wait for a model is bounded, by requests and by tokens, for each model', async (t) => {
  for (const loadQueue of [
    { ...roomy, maxRequests: 2 },
    { ...roomy, maxTokens: 11 },
  ]) {
    const { binding, registry } = setUp({ loadQueue });
    const release = hold(binding);
    const waiting = [1, 2].map(() => registry.acquire(request('a'), signal, anyTime));
    const refused = { code: 'queue_full', retryAfterMs: Number };
    await t.rejects(registry.acquire(request('a'), signal, anyTime), refused);
    const other = registry.acquire(request('b'), signal, anyTime);
    release();
    await Promise.all([...waiting, other]);
    await t.resolves(registry.acquire(request('a'), signal, anyTime), 'nobody waits for what is there');
  }
});

t.test('who gives up waiting leaves the queue', async (t) => {
  const { binding, registry } = setUp({ loadQueue: { ...roomy, maxRequests: 1 } });
  const release = hold(binding);
  await t.rejects(registry.acquire(request('a'), signal, 1), { code: 'model_loading' });
  const waiting = registry.acquire(request('a'), signal, anyTime);
  release();
  await t.resolves(waiting);
});

t.test('the longest unused model makes room', async (t) => {
  const { binding, registry, use } = setUp();
  await use('a');
  await use('b');
  await use('a');
  await use('c');
  t.strictSame(binding.closed, ['b']);
  t.strictSame(
    [...registry.entries()].map((entry) => entry.stored.id),
    ['a', 'c'],
  );
});

t.test('bytes count, not only models', async (t) => {
  const { binding, use } = setUp({ maxModels: 9, memory: bytes(2500) });
  await use('a');
  await use('b');
  await use('c');
  t.strictSame(binding.closed, ['a']);
});

t.test('the pinned model stays', async (t) => {
  const { binding, use } = setUp({}, 'a');
  await use('a');
  await use('b');
  await use('c');
  t.strictSame(binding.closed, ['b']);
});

t.test('a candidate waits until a model at work is done', async (t) => {
  const { binding, registry } = setUp({ maxModels: 1 });
  const reservation = await registry.acquire(request('a'), signal, anyTime);
  const waiting = registry.acquire(request('b'), signal, anyTime);
  await new Promise(setImmediate);
  t.strictSame(binding.loaded, ['a']);
  reservation.release();
  await waiting;
  t.strictSame(binding.loaded, ['a', 'b']);
});

t.test('a model at work stays, and a candidate that cannot wait is told to come back', async (t) => {
  const { registry, use } = setUp({ maxModels: 1 });
  const reservation = await registry.acquire(request('a'), signal, anyTime);
  await t.rejects(registry.acquire(request('b'), signal, 1), {
    code: 'models_busy',
    retryAfterMs: 2000,
  });
  reservation.release();
  await use('b');
  t.equal(registry.entry('a'), undefined);
});

t.test('where only the pinned model has room, nobody waits in vain', async (t) => {
  const { registry, use } = setUp({ maxModels: 1 }, 'a');
  await use('a');
  await t.rejects(registry.acquire(request('b'), signal, anyTime), { code: 'models_busy' });
});

t.test('a reservation is given back once', async (t) => {
  const { registry } = setUp();
  const reservation = await registry.acquire(request('a'), signal, anyTime);
  reservation.release();
  reservation.release();
  t.equal(registry.entry('a')?.nReservations, 0);
});

t.test('who cannot wait for the load hears model_loading; the load goes on', async (t) => {
  const { binding, registry } = setUp();
  const finish = hold(binding);
  await t.rejects(registry.acquire(request('a'), signal, 1), {
    code: 'model_loading',
    retryAfterMs: Number,
  });
  t.equal(registry.entry('a')?.progress, 0.5);
  finish();
  await registry.acquire(request('a'), signal, anyTime);
  t.strictSame(binding.loaded, ['a']);
});

t.test('a client that leaves while the model loads holds nothing', async (t) => {
  const { binding, registry } = setUp();
  const finish = hold(binding);
  const aborter = new AbortController();
  const waiting = registry.acquire(request('a'), aborter.signal, anyTime);
  await new Promise(setImmediate);
  aborter.abort();
  await t.rejects(waiting, { name: 'AbortError' });
  t.equal(registry.entry('a')?.nReservations, 0);
  finish();
});

t.test('a failed load is forgotten, so that the next request tries again', async (t) => {
  const { binding, registry, use } = setUp();
  binding.gate = Promise.reject(new Error('no memory'));
  await t.rejects(registry.acquire(request('a'), signal, anyTime), { message: 'no memory' });
  binding.gate = Promise.resolve();
  await use('a');
  t.strictSame(binding.loaded, ['a', 'a']);
});

t.test('unloading waits for running jobs and refuses new ones', async (t) => {
  const { binding, registry } = setUp();
  const reservation = await registry.acquire(request('a'), signal, anyTime);
  const unloading = registry.unload('a', { force: false });
  await t.rejects(registry.acquire(request('a'), signal, anyTime), { code: 'model_unloading' });
  t.strictSame(binding.closed, []);
  reservation.release();
  await unloading;
  t.strictSame(binding.closed, ['a']);
});

t.test('a forced unload does not wait', async (t) => {
  const { binding, registry } = setUp();
  await registry.acquire(request('a'), signal, anyTime);
  await registry.unload('a', { force: true });
  t.strictSame(binding.closed, ['a']);
});

t.test('unloading a model that is loading aborts the load', async (t) => {
  const { binding, registry } = setUp();
  const finish = hold(binding);
  const waiting = registry.acquire(request('a'), signal, anyTime);
  const refused = t.rejects(waiting, { code: 'load_aborted' });
  await new Promise(setImmediate);
  const unloading = registry.unload('a', { force: true });
  finish();
  await unloading;
  await refused;
  t.equal(registry.entry('a'), undefined);
});

t.test('a request that meets an eviction waits for it and loads again', async (t) => {
  const { binding, registry, use } = setUp({ maxModels: 1 });
  await use('a');
  const b = registry.acquire(request('b'), signal, anyTime).then((reservation) => reservation.release());
  await b;
  await use('a');
  t.strictSame(binding.loaded, ['a', 'b', 'a']);
});

t.test('after close nothing is loaded', async (t) => {
  const { binding, registry, use } = setUp();
  await use('a');
  await registry.close();
  t.strictSame(binding.closed, ['a']);
  await t.rejects(registry.acquire(request('a'), signal, anyTime), { code: 'model_unloading' });
});

t.test('what can never fit is refused at once, with the figures', async (t) => {
  const { binding, registry } = setUp({ memory: bytes(2500) });
  await t.rejects(registry.acquire(request('huge', 3000), signal, anyTime), {
    code: 'out_of_memory',
    message: /3000 bytes.*2500/,
    extra: { needed_bytes: 3000, limit_bytes: 2500 },
  });
  t.strictSame(binding.loaded, []);
});

t.test('a prediction counts before the load, and a second context with it', async (t) => {
  const { binding, registry, use } = setUp({ maxModels: 9, memory: bytes(8_500) });
  await use('old');
  const plan = { weights: bytes(3000), extras: bytes(1000), engine: bytes(2000), embedder: bytes(5000) };
  const planned = (context: ModelRequest['context']): ModelRequest => ({ ...request('a'), plan, context });
  const first = await registry.acquire(planned('engine'), signal, anyTime);
  t.strictSame(binding.closed, [], '6,000 beside 1,000');
  await t.rejects(
    registry.acquire(planned('embedder'), signal, anyTime),
    { code: 'out_of_memory' },
    '9,000 is more than there is',
  );
  first.release();
  await registry.unload('a', { force: true });
  const second = await registry.acquire({ ...planned('embedder'), plan: { ...plan, embedder: bytes(2000) } }, signal, anyTime);
  t.strictSame(binding.closed, ['a', 'old'], '8,000 alone');
  second.release();
});

t.test('a model that is asked for all the time is evicted after a while', async (t) => {
  const { binding, registry } = setUp({ maxModels: 1, drainAfterMs: 1 });
  let reservation = await registry.acquire(request('a'), signal, anyTime);
  const candidate = registry.acquire(request('b'), signal, anyTime);
  let isHere = false;
  void candidate.then(() => {
    isHere = true;
  });
  // Leases of the old model overlap, as under constant demand, until a request for it has to wait.
  const late: Promise<{ release(): void }>[] = [];
  while (late.length === 0) {
    const waiting = registry.acquire(request('a'), signal, anyTime);
    const tick = new Promise<void>((resolve) => setTimeout(() => resolve(), 20));
    const next = await Promise.race([waiting, tick]);
    reservation.release();
    if (next) reservation = next;
    else late.push(waiting);
    await new Promise(setImmediate);
  }
  (await candidate).release();
  t.ok(isHere);
  (await late[0])?.release();
  t.strictSame(binding.loaded, ['a', 'b', 'a']);
});

t.test('a model that nobody uses is unloaded, a pinned one is not', async (t) => {
  const { binding, registry } = setUp({ idleUnloadMs: 1 }, 'b');
  for (const id of ['a', 'b']) (await registry.acquire(request(id), signal, anyTime)).release();
  while (registry.entry('a')) await new Promise((resolve) => setTimeout(resolve, 20));
  t.strictSame(binding.closed, ['a']);
  registry.setPinned('b', false);
  while (registry.entry('b')) await new Promise((resolve) => setTimeout(resolve, 20));
});

t.test('what an engine saved counts too', async (t) => {
  const { binding, registry, use } = setUp({ maxModels: 9, memory: bytes(1e6) });
  const reservation = await registry.acquire({ ...request('a'), context: 'engine' }, signal, anyTime);
  await reservation.model.engine();
  reservation.release();
  await use('b');
  t.strictSame(binding.closed, []);
  binding.engine.offloadMemoryBytes = 1e6;
  await use('c');
  t.ok(binding.closed.includes('a'), 'it leaves when its saved states take the room');
});

t.test('two load at a time', async (t) => {
  const { binding, registry } = setUp({ maxModels: 9 });
  const finish = hold(binding);
  const reservations = ['a', 'b', 'c'].map((id) => registry.acquire(request(id), signal, anyTime));
  await new Promise((resolve) => setTimeout(resolve, 5));
  t.strictSame(binding.loaded, ['a', 'b']);
  finish();
  await Promise.all(reservations);
  t.strictSame(binding.loaded, ['a', 'b', 'c']);
});

t.test('who waits behind a load sleeps until it is over, and then evicts the model', async (t) => {
  const { binding, registry } = setUp({ maxModels: 1, drainAfterMs: 1 });
  const open = hold(binding);
  const first = registry.acquire(request('a'), signal, anyTime);
  const candidate = registry.acquire(request('b'), signal, anyTime);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const timers = t.capture(globalThis, 'setTimeout', setTimeout);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(timers().length, 1, 'nobody polls');
  timers.restore();
  open();
  const reservation = await first;
  const late = registry.acquire(request('a'), signal, anyTime);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(registry.entry('a')?.nDrainers, 1, 'those who come back wait without a say in it');
  reservation.release();
  (await candidate).release();
  (await late).release();
  t.strictSame(binding.loaded, ['a', 'b', 'a']);
});
