/** How well a list of scores puts the one relevant passage in front: 1 in first place, log-discounted below, 0 beyond the tenth (nDCG@10). */
export function ndcgAt10(scores: ArrayLike<number>, relevant: number): number {
  const own = scores[relevant] ?? Number.NEGATIVE_INFINITY;
  let rank = 1;
  // A tie counts against: a ranking that cannot tell passages apart earns nothing by chance.
  for (let i = 0; i < scores.length; i++) if (i !== relevant && (scores[i] ?? 0) >= own) rank++;
  return rank > 10 ? 0 : 1 / Math.log2(rank + 1);
}

/**
 * BM25 and cosine on one scale: each divided by its highest score for the question, then weighted. Ranks alone (reciprocal rank fusion)
 * forget by how much the first is ahead, and a question of one rare name is decided by that.
 */
export function fuseScores(sparse: Float64Array, dense: Float64Array, denseWeight: number): Float64Array {
  const highestSparse = Math.max(...sparse) || 1;
  const highestDense = Math.max(...dense) || 1;
  return sparse.map((score, i) => ((1 - denseWeight) * score) / highestSparse + (denseWeight * (dense[i] ?? 0)) / highestDense);
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return dot / Math.sqrt(lengthA * lengthB || 1);
}
