import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { iterations } from '../../../test/test-support/iterations.ts';
import { rounds } from '../../../test/test-support/rounds.ts';
import { VectorIndex, type VectorIndexOptions } from '../../../ts/server/native/vector.ts';
import { cosine } from './vectors.ts';

const dimensions = 5;
const folder = mkdtempSync(join(tmpdir(), 'svc-vector-'));
t.teardown(() => rmSync(folder, { recursive: true }));
let nSaved = 0;

const id = fc.integer({ min: 0, max: 30 });
const vector = fc.array(fc.float({ min: -2, max: 2, noNaN: true }), { minLength: dimensions, maxLength: dimensions });
const pairs = fc.array(fc.tuple(id, vector), { maxLength: 40 });
const operation = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), pairs }),
  fc.record({ kind: fc.constant('addOne' as const), id, vector }),
  fc.record({ kind: fc.constant('remove' as const), ids: fc.array(id, { maxLength: 20 }) }),
  fc.record({ kind: fc.constant('removeOne' as const), id }),
  fc.record({ kind: fc.constant('link' as const) }),
  fc.record({ kind: fc.constant('compact' as const) }),
  fc.record({ kind: fc.constant('reopen' as const), isViewed: fc.boolean() }),
  fc.record({
    kind: fc.constant('search' as const),
    vector,
    k: fc.integer({ min: 1, max: 50 }),
    allowed: fc.option(fc.uniqueArray(id)),
  }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** An index, and beside it a plain map of what should be in it. */
class Pair {
  index: VectorIndex;
  readonly model = new Map<number, Float32Array>();
  readonly #options;

  constructor(storage: 'f16' | 'i8' | 'b1', exactBelow: number) {
    // All are compared again, so that answers are exact by whatever codes they were found.
    this.#options = { dimensions, exactBelow, label: 'random', storage, exactFolder: folder, rescored: 64 };
    this.index = new VectorIndex(this.#options);
  }

  async run(done: Operation): Promise<void> {
    if (done.kind === 'add') await this.#add(done.pairs);
    else if (done.kind === 'addOne') this.#addOne(done.id, Float32Array.from(done.vector));
    else if (done.kind === 'remove') await this.#remove(done.ids);
    else if (done.kind === 'removeOne') this.#removeOne(done.id);
    else if (done.kind === 'link') await this.index.link();
    else if (done.kind === 'compact') await this.index.compact();
    else if (done.kind === 'reopen') await this.#reopen(done.isViewed);
    else await this.#search(Float32Array.from(done.vector), done.k, done.allowed);
    this.#compareCounts();
  }

  async #add(added: [number, number[]][]): Promise<void> {
    await this.index.addAll(
      Float64Array.from(added, ([key]) => key),
      Float32Array.from(added.flatMap(([, numbers]) => numbers)),
    );
    for (const [key, numbers] of added) this.model.set(key, Float32Array.from(numbers));
  }

  #addOne(key: number, numbers: Float32Array): void {
    this.index.add(key, numbers);
    this.model.set(key, numbers);
  }

  async #remove(keys: number[]): Promise<void> {
    const expected = keys.filter((key) => this.model.delete(key)).length;
    if ((await this.index.removeAll(BigUint64Array.from(keys, BigInt))) !== expected)
      throw new Error('the count of removed ones');
  }

  #removeOne(key: number): void {
    this.index.remove(key);
    this.model.delete(key);
  }

  /** The opened index answers as the one that was saved, and takes its place. */
  async #reopen(isViewed: boolean): Promise<void> {
    const path = join(folder, 'index');
    await this.index.save(path);
    const opened = await VectorIndex.open(path, this.#options, { isViewed });
    const query = Float32Array.from({ length: dimensions }, () => 1);
    if (JSON.stringify(opened.search(query, 100)) !== JSON.stringify(this.index.search(query, 100)))
      throw new Error('the opened index');
    await this.index.close();
    this.index = opened;
  }

  async #search(query: Float32Array, k: number, allowed: number[] | null): Promise<void> {
    const keys = allowed === null ? undefined : Float64Array.from(allowed);
    const hits = (await this.index.searchAll(query, k, keys))[0] ?? [];
    if (JSON.stringify(this.index.search(query, k, keys)) !== JSON.stringify(hits)) throw new Error('both ways to search');
    const expected = [...this.model]
      .filter(([key]) => allowed === null || allowed.includes(key))
      .map(([key, numbers]) => ({ id: key, score: cosine(numbers, query) }))
      .sort((a, b) => b.score - a.score);
    if (hits.length !== Math.min(k, expected.length)) throw new Error(`${hits.length} hits of ${expected.length}`);
    for (const [rank, hit] of hits.entries()) this.#compareHit(hit, expected[rank]?.score ?? 0, query);
  }

  /** Half floats: equal scores may change places, so each rank has the score that it should, and each id its own. */
  #compareHit(hit: { id: number; score: number }, expected: number, query: Float32Array): void {
    const own = cosine(this.model.get(hit.id) ?? new Float32Array(dimensions).fill(Number.NaN), query);
    const told = this.index.similarity(query, hit.id) ?? Number.NaN;
    const isRight = [expected, own, told].every((score) => Math.abs(score - hit.score) < 0.003);
    if (!isRight) throw new Error(`id ${hit.id} has ${hit.score}, its own is ${own}, told ${told}, of this rank ${expected}`);
  }

  #compareCounts(): void {
    const { nVectors, nLinked, nUnlinked, nRemoved } = this.index.stats();
    if (nVectors !== this.model.size) throw new Error(`${nVectors} vectors instead of ${this.model.size}`);
    if (nLinked + nUnlinked !== nVectors + nRemoved) throw new Error('rows do not add up');
  }
}

const kinds = (['f16', 'i8', 'b1'] as const).flatMap((storage) => [0, 8, 8192].map((exactBelow) => ({ storage, exactBelow })));
for (const { storage, exactBelow } of kinds) {
  t.test(`random operations leave what a plain map has (${storage}, exact below ${exactBelow})`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
        const pair = new Pair(storage, exactBelow);
        for (const done of operations) await pair.run(done);
        await pair.index.close();
      }),
      { numRuns: iterations(30, 500, 'SVC_TEST_OPERATIONS') },
    );
    t.pass('as the map');
  });
}

const at = (key: number) => Float32Array.from({ length: dimensions }, (_, i) => Math.sin(key * (i + 1)));
const keysOf = (part: number) => Float64Array.from({ length: 100 }, (_, i) => part * 100 + i);

/** Each part adds its keys and removes half of them, beside everything else that can be done to an index. */
function workOn(index: VectorIndex, part: number, options: VectorIndexOptions): Promise<unknown>[] {
  const works = [
    index.addAll(keysOf(part), Float32Array.from([...keysOf(part)].flatMap((key) => [...at(key)]))),
    index.removeAll(keysOf(part).subarray(0, 50)),
    index.searchAll(at(part), 10),
    index.link(),
    ...(part % 5 === 0 ? [index.compact(), saveAndSearch(index, options)] : []),
  ];
  // On this thread, while the others are at it.
  index.search(at(part), 10);
  return works;
}

/** A thread that is ended while it links an index of its own. */
async function endWorker(): Promise<void> {
  const worker = new Worker(new URL('linking-worker.ts', import.meta.url));
  await once(worker, 'message');
  await worker.terminate();
}

for (const storage of ['f16', 'i8', 'b1'] as const)
  t.test(`searches, changes, linking, compacting, saving and opening at once (${storage})`, (t) => runAtOnce(t, storage));

async function runAtOnce(t: Test, storage: 'f16' | 'i8' | 'b1'): Promise<void> {
  const options = { dimensions, exactBelow: 50, storage, exactFolder: folder };
  const index = new VectorIndex(options);
  const parts = Array.from({ length: 20 }, (_, part) => part);
  let nRounds = 0;
  for (const _ of rounds(2)) {
    await Promise.all([endWorker(), ...parts.flatMap((part) => workOn(index, part, options))]);
    for (const part of parts) await index.removeAll(keysOf(part).subarray(0, 50));
    if (index.stats().nVectors !== 1000) t.fail(`${index.stats().nVectors} vectors are left`);
    nRounds++;
  }
  t.comment(`${nRounds} rounds`);
  t.equal(index.search(at(1975), 1)[0]?.id, 1975);
  await index.close();
}

/** While the one that was saved is changed, the other one is, too. */
async function saveAndSearch(index: VectorIndex, options: VectorIndexOptions): Promise<void> {
  const path = join(folder, `busy-${++nSaved}`);
  await index.save(path);
  const opened = await VectorIndex.open(path, options, { isViewed: true });
  const keys = Float64Array.from({ length: 200 }, (_, i) => 5000 + i);
  const numbers = Float32Array.from({ length: 200 * dimensions }, (_, i) => Math.sin(i * i));
  await Promise.all([
    opened.addAll(keys, numbers),
    opened.link(),
    opened.searchAll(numbers.subarray(0, 10 * dimensions), 5),
    opened.removeAll(keys.subarray(0, 100)),
    opened.link(),
    opened.save(path),
  ]);
  await opened.close();
}
