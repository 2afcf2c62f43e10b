import t from 'tap';
import { cosine, fuseScores, ndcgAt10 } from './ranking.ts';

t.test('the discount grows with the rank of the relevant passage', async (t) => {
  t.equal(ndcgAt10([3, 2, 1], 0), 1);
  t.equal(ndcgAt10([3, 2, 1], 1), 1 / Math.log2(3));
  const falling = Array.from({ length: 20 }, (_, i) => -i);
  t.ok(ndcgAt10(falling, 9) > 0);
  t.equal(ndcgAt10(falling, 10), 0);
});

t.test('passages with equal scores count as before the relevant one', async (t) => {
  t.equal(ndcgAt10([0, 0, 0], 0), 1 / Math.log2(4));
});

t.test('fused scores follow the weight', async (t) => {
  const [sparse, dense] = [Float64Array.of(10, 0), Float64Array.of(0.1, 0.2)];
  t.same([...fuseScores(sparse, dense, 0)], [1, 0]);
  t.same([...fuseScores(sparse, dense, 1)], [0.5, 1]);
  t.same([...fuseScores(new Float64Array(2), dense, 0)], [0, 0], 'no word found anywhere divides nothing by zero');
});

t.test('the cosine does not depend on lengths', async (t) => {
  t.equal(cosine(Float32Array.of(2, 0), Float32Array.of(7, 0)), 1);
  t.equal(cosine(Float32Array.of(2, 0), Float32Array.of(0, 1)), 0);
});
