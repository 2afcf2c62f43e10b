import t from 'tap';
import { isWanted, rankOf } from './retrieval-measures.ts';

const places = (...sources: string[]) => sources.map((source) => ({ source }));

t.test('the first right document counts, and passages of one document count once', async (t) => {
  const wanted = { sources: ['b'], pages: [] };
  t.strictSame(rankOf(places('a', 'a', 'b', 'b'), wanted), { firstRank: 2, ndcgAt10: 1 / Math.log2(3), recallAt100: 1 });
  t.strictSame(rankOf(places('a'), wanted), { firstRank: undefined, ndcgAt10: 0, recallAt100: 0 });
  t.strictSame(rankOf([], wanted), { firstRank: undefined, ndcgAt10: 0, recallAt100: 0 });
});

t.test('of several that are wanted, the best order is 1', async (t) => {
  const wanted = { sources: ['a', 'b'], pages: [] };
  t.strictSame(rankOf(places('b', 'a', 'c'), wanted), { firstRank: 1, ndcgAt10: 1, recallAt100: 1 });
  t.match(rankOf(places('b', ...'cdefghijkl', 'a'), wanted), { firstRank: 1, recallAt100: 1 });
  t.ok(rankOf(places('b', ...'cdefghijkl', 'a'), wanted).ndcgAt10 < 0.7, 'the eleventh is beyond the tenth');
});

t.test('where pages are wanted, the page has to be right', async (t) => {
  const wanted = { sources: ['a'], pages: [2, 3] };
  const found = [{ source: 'a', page: 1 }, { source: 'a' }, { source: 'b', page: 2 }, { source: 'a', page: 3 }];
  t.match(rankOf(found, wanted), { firstRank: 4, recallAt100: 0.5 });
  t.strictSame(
    found.map((place) => isWanted(place, wanted)),
    [false, false, false, true],
  );
});
