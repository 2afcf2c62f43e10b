import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { VectorIndex as NativeVectors } from '../../../native/vector.ts';
import { packTerms, termVector } from '../terms/term-vector.ts';
import { termsOf } from '../terms/terms.ts';
import { FlatVectors } from './flat-vectors.ts';
import { SlotSet } from './fusion.ts';
import { DEFAULT_BM25, LexicalIndex } from './lexical-index.ts';
import { PassageIndex } from './passage-index.ts';
import { PostingSegment } from './posting-segment.ts';
import { SegmentMerge } from './segment-merge.ts';

const numRuns = process.env['SVC_TEST_LONG'] ? 2_000 : 100;
const words = fc.constantFrom('harbour', 'light', 'keeper', 'bread', 'green', 'door', 'tree', 'Hafen');
const anyText = fc.array(words, { minLength: 1, maxLength: 12 }).map((list) => list.join(' '));

/** BM25 as its formula says, over all texts that are there. */
function naiveScores(texts: ReadonlyMap<number, string>, question: string): Map<number, number> {
  const { k1, b, gramWeight } = DEFAULT_BM25;
  const termLists = new Map([...texts].map(([slot, text]) => [slot, [...termsOf(text)]]));
  const scores = new Map<number, number>();
  for (const kind of ['stem', 'gram'] as const) {
    const lists = new Map(
      [...termLists].map(([slot, terms]) => [slot, terms.filter((each) => each.kind === kind).map(({ term }) => term)]),
    );
    const mean = Math.max(1, [...lists.values()].reduce((sum, list) => sum + list.length, 0) / Math.max(1, lists.size));
    const asked = new Set([...termsOf(question)].filter((each) => each.kind === kind).map(({ term }) => term));
    for (const term of asked) {
      const n = [...lists.values()].filter((list) => list.includes(term)).length;
      const idf = Math.log(1 + (lists.size - n + 0.5) / (n + 0.5));
      for (const [slot, list] of lists) {
        const count = Math.min(15, list.filter((each) => each === term).length);
        if (count === 0) continue;
        const part = (idf * (k1 + 1) * count) / (count + k1 * (1 - b + (b * list.length) / mean));
        scores.set(slot, (scores.get(slot) ?? 0) + part * (kind === 'gram' ? gramWeight : 1));
      }
    }
  }
  return scores;
}

t.test('terms score as BM25 says, however the passages came', async () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyText, { minLength: 1, maxLength: 4 }), { maxLength: 30 }), anyText, (batches, question) => {
      const index = new LexicalIndex();
      const texts = new Map<number, string>();
      for (const batch of batches) {
        const added = batch.map((text) => ({ slot: texts.set(texts.size, text).size - 1, text }));
        index.add(added.map(({ slot, text }) => ({ slot, terms: termVector(text) })));
        index.mergeSome(10);
      }
      const { scores, coverage } = index.search(question);
      const expected = naiveScores(texts, question);
      for (const slot of texts.keys()) {
        const [own, right] = [scores[slot] ?? 0, expected.get(slot) ?? 0];
        if (Math.abs(own - right) > 1e-4 * Math.max(1, right))
          throw new Error(`slot ${slot} scores ${own}, and ${right} is right`);
        const share = coverage[slot] ?? 0;
        if (share < 0 || share > 1.0001 || (right > 0 && share === 0)) throw new Error(`slot ${slot} covers ${share}`);
      }
    }),
    { numRuns },
  );
});

t.test('what was removed is not found, and merging leaves it out', async (t) => {
  const index = new LexicalIndex();
  const add = (slot: number) => {
    index.add([{ slot, terms: termVector(`number ${slot} harbour`) }]);
    while (index.mergeSome());
  };
  for (let slot = 0; slot < 100; slot++) add(slot);
  index.remove([7, 7, 8, 500]);
  for (let slot = 100; slot < 200; slot++) add(slot);
  const { scores } = index.search('harbour');
  t.strictSame(
    Array.from({ length: 200 }, (_, slot) => slot).filter((slot) => (scores[slot] ?? 0) === 0),
    [7, 8],
  );
  const { segments } = index.parts();
  t.ok(segments.length < 20, `${segments.length} segments`);
});

t.test('a segment that was merged in slices is that of all passages at once, whatever order they came in', async (t) => {
  const passages = fc.uniqueArray(
    fc.record({ slot: fc.integer({ min: 0, max: 60 }), text: anyText, lies: fc.integer({ min: 0, max: 4 }) }),
    {
      selector: ({ slot }) => slot,
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(passages, fc.array(fc.integer({ min: 0, max: 60 })), fc.integer({ min: 1, max: 20 }), (all, dead, slice) => {
      const segmentOf = (some: typeof all) =>
        PostingSegment.of(some.map(({ slot, text }) => ({ slot, terms: termVector(text) })));
      const merge = new SegmentMerge(
        [0, 1, 2, 3, 4].map((place) => segmentOf(all.filter(({ lies }) => lies === place))),
        (slot) => dead.includes(slot),
      );
      let merged: PostingSegment | undefined;
      while (merged === undefined) merged = merge.advance(slice);
      const live = segmentOf(all.filter(({ slot }) => !dead.includes(slot)));
      if (!isDeepStrictEqual(merged.parts, live.parts)) throw new Error('the merged segment differs');
    }),
    { numRuns },
  );
  t.pass();
});

const exactly = [
  { name: 'in JavaScript', create: (dimensions: number) => new FlatVectors(dimensions), error: 1e-5 },
  // Half floats: each of both numbers of a product is wrong by one part in 2,048 at most.
  { name: 'natively', create: (dimensions: number) => new NativeVectors({ dimensions }), error: 1e-3 },
];

for (const { name, create, error } of exactly)
  t.test(`vectors are compared exactly, through additions, replacements and removals, ${name}`, async () => {
    const vector = fc
      .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 })
      .map((list) => Float32Array.from(list, (value) => value / (Math.hypot(...list) || 1)));
    const change = fc.record({ id: fc.integer({ min: 0, max: 20 }), vector: fc.option(vector, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), vector, (changes, query) => {
        const index = create(6);
        const there = new Map<number, Float32Array>();
        for (const { id, vector: given } of changes) {
          if (given === undefined) {
            there.delete(id);
            index.remove(id);
          } else {
            there.set(id, given);
            index.add(id, given);
          }
        }
        const isEven = (id: number) => id % 2 === 0;
        const right = [...there]
          .filter(([id]) => isEven(id))
          .map(([id, own]) => ({ id, score: own.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0) }))
          .sort((a, b) => b.score - a.score || a.id - b.id);
        const found = index.search(query, 5, new SlotSet(21, [...there.keys()].filter(isEven)).bits);
        if (found.length !== Math.min(5, right.length)) throw new Error('not as many as there are');
        for (const [i, hit] of found.entries())
          if (Math.abs(hit.score - (right[i]?.score ?? 9)) > error) throw new Error('another order');
        index.close();
      }),
      { numRuns },
    );
  });

t.test(
  'by ranks, how far apart scores are says nothing, and who stands in both rankings comes before who leads one',
  async (t) => {
    const base = new PassageIndex();
    const passage = (documentNo: number, text: string, cosine: number) => ({
      documentNo,
      seq: 0,
      terms: packTerms(termVector(text)),
      vector: Float32Array.of(cosine, Math.sqrt(1 - cosine * cosine)),
    });
    base.add([
      passage(1, 'bread bread bread', 0.01),
      passage(2, 'bread of the harbour street and its bakery', 0.98),
      passage(3, 'poppy cake', 0.99),
      passage(4, 'nothing at all', 0.97),
    ]);
    const query = { question: 'bread', vector: Float32Array.of(1, 0), denseWeight: 0.25, k: 10, documents: undefined };
    const hits = base.search({ ...query, isByRanks: true });
    // Ranks by terms and by vectors.
    const expected = [
      [2, 1 / 62 + 1 / 62],
      [1, 1 / 61 + 1 / 64],
      [3, 1 / 61],
      [4, 1 / 63],
    ] as const;
    t.strictSame(
      hits.map(({ documentNo, score }) => [documentNo, score.toFixed(6)]),
      expected.map(([documentNo, score]) => [documentNo, ((score * 61) / 2).toFixed(6)]),
    );
    t.not(base.search(query)[0]?.documentNo, 2);
  },
);

t.test('a vector of other dimensions is refused', async (t) => {
  t.throws(() => new FlatVectors(4).add(1, new Float32Array(5)), RangeError);
});

for (const { name, create } of exactly)
  t.test(`a base finds by terms and by vectors, and only what is allowed, ${name}`, async (t) => {
    const base = new PassageIndex(create);
    const passage = (documentNo: number, text: string, vector: readonly number[]) => ({
      documentNo,
      seq: 0,
      terms: packTerms(termVector(text)),
      vector: Float32Array.from(vector),
    });
    base.add([
      passage(1, 'the keeper of the lighthouse', [1, 0]),
      passage(2, 'rye bread', [0, 1]),
      passage(3, 'poppy cake', [0.6, 0.8]),
    ]);
    const search = (more: object) =>
      base
        .search({ question: 'bread', vector: Float32Array.of(1, 0), denseWeight: 0.4, k: 10, documents: undefined, ...more })
        .map(({ documentNo }) => documentNo);
    t.strictSame(search({}), [2, 1, 3]);
    t.strictSame(search({ denseWeight: 0 }), [2]);
    t.strictSame(search({ denseWeight: 1 }), [1, 3, 2]);
    t.strictSame(search({ denseWeight: 1, isByRanks: true }), [1, 3, 2]);
    t.strictSame(search({ documents: [3] }), [3]);
    t.strictSame(search({ vector: Float32Array.of(1, 0, 0) }), [2], 'a vector of another model does not count');
    base.remove([2]);
    t.strictSame(search({}), [1, 3]);
    t.strictSame(search({ documents: [2] }), []);
  });
