import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { loadAddon } from '../../../ts/server/native/load.ts';
import { NativeError } from '../../../ts/server/native/native-error.ts';
import { VectorIndex } from '../../../ts/server/native/vector.ts';

const one = Float32Array.of(1, 0, 0);
const index = () => new VectorIndex({ dimensions: 3 });

t.test('options out of their range are refused', async (t) => {
  const wrong = [
    { dimensions: 0 },
    { dimensions: 65_537 },
    { dimensions: 1.5 },
    { dimensions: Number.NaN },
    { dimensions: 3, connectivity: 1 },
    { dimensions: 3, expansionAdd: 1e9 },
    { dimensions: 3, expansionSearch: -1 },
    { dimensions: 3, exactBelow: 2 ** 33 },
    { dimensions: 3, label: 'x'.repeat(257) },
  ];
  for (const options of wrong) t.throws(() => new VectorIndex(options), { name: 'NativeError', code: 'invalid_argument' });
});

t.test('numbers that are not finite are refused, and nothing of their batch is added', async (t) => {
  const vectors = index();
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    t.throws(() => vectors.add(1, Float32Array.of(0, bad, 0)), { code: 'invalid_argument' });
    t.throws(() => vectors.search(Float32Array.of(0, bad, 0), 1), { code: 'invalid_argument' });
    const batch = vectors.addAll(Float64Array.of(1, 2), Float32Array.of(1, 0, 0, 0, bad, 0));
    await t.rejects(batch, { code: 'invalid_argument' });
  }
  t.equal(vectors.stats().nVectors, 0);
});

t.test('the largest and smallest floats have a direction like any other', async (t) => {
  const vectors = index();
  vectors.add(1, Float32Array.of(3.4e38, 3.4e38, 0));
  vectors.add(2, Float32Array.of(1e-45, 0, 0));
  vectors.add(3, new Float32Array(3));
  const hits = vectors.search(one, 3);
  t.strictSame(
    hits.map(({ id }) => id),
    [2, 1, 3],
  );
  t.ok(Math.abs((hits[1]?.score ?? 0) - Math.SQRT1_2) < 0.001);
  t.equal(hits[2]?.score, 0);
});

t.test('ids that are no safe integers are refused', async (t) => {
  const vectors = index();
  for (const id of [-1, 0.5, Number.NaN, 2 ** 53]) {
    t.throws(() => vectors.add(id, one), { code: 'invalid_argument' });
    t.throws(() => vectors.remove(id), { code: 'invalid_argument' });
    t.throws(() => vectors.similarity(one, id), { code: 'invalid_argument' });
  }
  await t.rejects(vectors.removeAll(BigUint64Array.of(1n << 53n)), { code: 'invalid_argument' });
  vectors.add(Number.MAX_SAFE_INTEGER, one);
  t.equal(vectors.search(one, 1)[0]?.id, Number.MAX_SAFE_INTEGER);
});

t.test('vectors of other dimensions, and k out of its range, are refused', async (t) => {
  const vectors = index();
  t.throws(() => vectors.add(1, Float32Array.of(1, 0)), RangeError);
  t.throws(() => vectors.search(Float32Array.of(1, 0, 0, 0), 1), RangeError);
  await t.rejects(vectors.addAll(Float64Array.of(1, 2), one), RangeError);
  await t.rejects(vectors.searchAll(Float32Array.of(1, 0), 1), { code: 'invalid_argument' });
  for (const k of [0, -1, 10_001, 1.5, Number.NaN]) await t.rejects(vectors.searchAll(one, k), { code: 'invalid_argument' });
});

t.test('arguments of any other kind are refused by every method', async (t) => {
  const addon = loadAddon('vector') as { createIndex(options: unknown): Record<string, (...given: unknown[]) => unknown> };
  const raw = addon.createIndex({ dimensions: 3 });
  const hostile = [undefined, null, 1, 'x', {}, [], new Float32Array(3), new Uint8Array(8), Symbol('x'), () => 1, 10n];
  for (const method of ['addNow', 'removeNow', 'searchNow', 'similarity', 'add', 'remove', 'search', 'save']) {
    for (const given of hostile) {
      if (method === 'save' && typeof given === 'string') continue;
      t.throws(() => raw[method]?.(given, given, given), NativeError, `${method} ${String(given)}`);
    }
  }
  for (const given of hostile) t.throws(() => addon.createIndex(given), NativeError);
});

t.test('what is changed after the call does not change what was given', async (t) => {
  const vectors = index();
  const numbers = Float32Array.of(1, 0, 0);
  const added = vectors.addAll(Float64Array.of(1), numbers);
  numbers.fill(-1);
  await added;
  t.equal(vectors.similarity(one, 1), 1);
});

t.test('a closed index says so, and closing again is no fault', async (t) => {
  const vectors = index();
  vectors.add(1, one);
  await vectors.close();
  await vectors.close();
  t.throws(() => vectors.add(2, one), { code: 'closed' });
  t.throws(() => vectors.search(one, 1), { code: 'closed' });
  t.throws(() => vectors.stats(), { code: 'closed' });
  await t.rejects(vectors.searchAll(one, 1), { code: 'closed' });
  await t.rejects(vectors.link(), { code: 'closed' });
  await t.rejects(vectors.compact(), { code: 'closed' });
  await t.rejects(vectors.save('/nowhere/index'), { code: 'closed' });
});

t.test('closing does not wait for links, and neither does the end of a thread', async (t) => {
  const vectors = new VectorIndex({ dimensions: 64, exactBelow: 0 });
  const keys = Float64Array.from({ length: 5000 }, (_, i) => i);
  await vectors.addAll(
    keys,
    Float32Array.from({ length: 5000 * 64 }, (_, i) => Math.sin(i * i)),
  );
  const linked = vectors.link();
  await Promise.all([vectors.close(), t.rejects(linked, { code: 'closed' })]);

  const file = createRequire(import.meta.url).resolve('./linking-worker.ts');
  const worker = new Worker(file);
  await new Promise((resolve) => worker.once('message', resolve));
  t.equal(await worker.terminate(), 1);
});
