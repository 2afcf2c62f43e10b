import t from 'tap';
import { Bm25Index } from './bm25-index.ts';

const index = new Bm25Index(['The cat sat.', 'A dog ran after the cat.', 'Über den Bergen']);
t.teardown(() => index.close());

t.test('rare words count for more than common ones', async (t) => {
  const [first = 0, second = 0, third = 0] = index.scores('Which dog saw the cat?');
  t.ok(second > first);
  t.ok(first > third);
  t.equal(third, 0);
});

t.test('case and accents do not matter', async (t) => {
  t.ok((index.scores('uber')[2] ?? 0) > 0);
});

t.test('a question is words, never query syntax', async (t) => {
  t.same([...index.scores('" OR NEAR(')], [0, 0, 0]);
  t.same([...index.scores('?!')], [0, 0, 0]);
});
