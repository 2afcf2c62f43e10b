import t from 'tap';
import type { FoundPassage } from './collection.ts';
import { diversify } from './retriever.ts';

type Placed = Partial<Pick<FoundPassage, 'documentNo' | 'page' | 'sheet' | 'slide' | 'start' | 'end'>>;

/** Passages best first, by their places in the list. */
function orderOf(places: readonly Placed[]): number[] {
  const results = places.map((place, seq) => ({ documentNo: 1, start: 1_000 * seq, end: 1_000 * seq + 900, seq, ...place }));
  return diversify(results as unknown as FoundPassage[]).map(({ seq }) => seq);
}

t.test('of a document without pages, each passage keeps its rank', async (t) => {
  const neighbours = [0, 1, 2, 3, 4].map((i) => ({ start: 1_050 * i, end: 1_050 * i + 1_200 }));
  t.strictSame(orderOf([...neighbours, { documentNo: 2 }]), [0, 1, 2, 3, 4, 5]);
});

t.test('a passage that mostly repeats what stands before it comes behind all others', async (t) => {
  const whole = { start: 0, end: 1_000 };
  t.strictSame(orderOf([whole, { start: 400, end: 1_200 }, { documentNo: 2 }, { start: 900, end: 1_900 }]), [0, 2, 3, 1]);
  t.strictSame(orderOf([whole, { documentNo: 2, ...whole }]), [0, 1], 'not of another document');
});

t.test('of one page, sheet or slide, the fourth passage comes behind all others', async (t) => {
  for (const place of [{ page: 2 }, { sheet: 'Fees' }, { slide: 2 }])
    t.strictSame(orderOf([place, place, place, place, { ...place, page: 3 }, { documentNo: 2 }]), [0, 1, 2, 4, 5, 3]);
});
