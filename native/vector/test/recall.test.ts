import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { VectorIndex } from '../../../ts/server/native/vector.ts';
import { clusteredVectors, nearestExactly, randomNumbers, vectorAt } from './vectors.ts';

const dimensions = 96;
const count = 4000;
const nQueries = 50;
const k = 10;
const vectors = clusteredVectors(count + nQueries, dimensions, 7);
const stored = vectors.subarray(0, count * dimensions);
const queries = vectors.subarray(count * dimensions);
const ids = Float64Array.from({ length: count }, (_, id) => id);

function emptyIndex(t: Test, exactBelow: number, more: object = {}): VectorIndex {
  const index = new VectorIndex({ dimensions, exactBelow, ...more });
  t.teardown(() => index.close());
  return index;
}

async function linkedIndex(t: Test, exactBelow: number, more: object = {}): Promise<VectorIndex> {
  const index = emptyIndex(t, exactBelow, more);
  await index.addAll(ids, stored);
  await index.link();
  return index;
}

/** The share of the truly nearest that were found. */
async function recall(
  index: VectorIndex,
  allowed?: Float64Array | Uint32Array,
  isAllowed?: (id: number) => boolean,
): Promise<number> {
  const answers = await index.searchAll(queries, k, allowed);
  let nFound = 0;
  for (const [i, hits] of answers.entries()) {
    const nearest = new Set(nearestExactly(stored, vectorAt(queries, i, dimensions), k, isAllowed));
    nFound += hits.filter(({ id }) => nearest.has(id)).length;
  }
  return nFound / (nQueries * k);
}

t.test('an index that follows links finds at least 99 of 100 nearest vectors', async (t) => {
  const index = await linkedIndex(t, 100);
  t.match(index.stats(), { nLinked: count, nUnlinked: 0 });
  t.ok((await recall(index)) >= 0.99);
});

for (const [storage, codeBytes] of [
  ['i8', dimensions + 4],
  ['b1', Math.ceil(dimensions / 64) * 8 + 8],
] as const) {
  t.test(`an index of codes (${storage}) finds as much, of all and of some, while its vectors lie in a file`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-vector-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    for (const exactBelow of [100, count]) {
      const index = await linkedIndex(t, exactBelow, { storage, exactFolder: folder });
      t.ok((await recall(index)) >= 0.99);
      const isAllowed = (id: number) => id % 3 === 0;
      t.ok((await recall(index, ids.filter(isAllowed), isAllowed)) >= 0.99);
      const full = await linkedIndex(t, exactBelow);
      t.ok(full.sizeBytes - index.sizeBytes >= count * (2 * dimensions - codeBytes) - 100_000, 'less memory');
      const path = join(folder, 'saved');
      await index.save(path);
      const viewed = await VectorIndex.open(path, { dimensions, exactBelow, storage, exactFolder: folder }, { isViewed: true });
      t.strictSame(await viewed.searchAll(queries, k), await index.searchAll(queries, k));
      await viewed.close();
      t.strictSame(readdirSync(folder), ['saved'], 'the file has no name, and goes with the index');
    }
  });

  t.test(`without comparing again, codes (${storage}) alone find less, so that is what finds the rest`, async (t) => {
    const index = await linkedIndex(t, count, { storage, rescored: 0 });
    const found = await recall(index);
    t.ok(found > 0.3 && found < 0.99, `${found}`);
  });
}

t.test('a folder that is not there is refused', async (t) => {
  const options = { dimensions, storage: 'i8', exactFolder: '/nowhere/at/all' } as const;
  t.throws(() => new VectorIndex(options), { code: 'index_write_failed' });
  t.throws(() => new VectorIndex({ dimensions, storage: 'f8' as never }), { code: 'invalid_argument' });
  t.throws(() => new VectorIndex({ dimensions, rescored: -1 }), { code: 'invalid_argument' });
});

t.test('a small index compares with each, and half precision changes next to nothing', async (t) => {
  const index = await linkedIndex(t, count);
  t.match(index.stats(), { nLinked: 0, nUnlinked: count });
  t.ok((await recall(index)) >= 0.995);
});

for (const share of [0.01, 0.1, 0.5]) {
  t.test(`of ${100 * share} % that may be found, at least 99 of 100 nearest are, by list and by bits`, async (t) => {
    const index = await linkedIndex(t, 100);
    const random = randomNumbers(share * 1000);
    const allowed = ids.filter(() => random() < share);
    const set = new Set(allowed);
    const bits = new Uint32Array(Math.ceil(count / 32));
    for (const id of allowed) bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31));
    const isAllowed = (id: number) => set.has(id);
    t.ok((await recall(index, allowed, isAllowed)) >= 0.99);
    t.ok((await recall(index, bits, isAllowed)) >= 0.99);
    const hits = (await index.searchAll(queries, 100, bits)).flat();
    t.ok(hits.every(({ id }) => set.has(id)));
  });
}

t.test('what links cannot reach yet is found all the same', async (t) => {
  const index = emptyIndex(t, 100);
  const half = count / 2;
  await index.addAll(ids.subarray(0, half), stored.subarray(0, half * dimensions));
  await index.link();
  for (let id = half; id < count; id++) index.add(id, vectorAt(stored, id, dimensions));
  // Its own thread may have begun with them.
  const { nLinked, nUnlinked } = index.stats();
  t.equal(nLinked + nUnlinked, count);
  t.ok(nUnlinked > 0, `${nUnlinked} have no links`);
  t.strictSame(index.search(vectorAt(stored, half + 77, dimensions), 1)[0]?.id, half + 77);
});

t.test('after three of four were removed, the rest is found, before and after compacting', async (t) => {
  const index = await linkedIndex(t, 100);
  const isKept = (id: number) => id % 4 === 0;
  t.equal(await index.removeAll(ids.filter((id) => !isKept(id))), (count * 3) / 4);
  t.ok((await recall(index, undefined, isKept)) >= 0.99);
  const before = index.sizeBytes;
  await index.compact();
  t.match(index.stats(), { nVectors: count / 4, nRemoved: 0, nLinked: count / 4 });
  t.ok(index.sizeBytes < before / 2);
  t.ok((await recall(index, undefined, isKept)) >= 0.99);
});
