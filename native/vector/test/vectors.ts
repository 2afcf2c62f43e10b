/** Vectors of the shapes that embeddings have: many near few centres, from a generator with a seed. */

export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `count` vectors, one after the other. */
export function clusteredVectors(count: number, dimensions: number, seed: number): Float32Array {
  const random = randomNumbers(seed);
  const bell = () => random() + random() + random() + random() - 2;
  const centres = Array.from({ length: 50 }, () => Float32Array.from({ length: dimensions }, bell));
  const vectors = new Float32Array(count * dimensions);
  for (let i = 0; i < count; i++) {
    const centre = centres[Math.floor(random() * centres.length)];
    for (let j = 0; j < dimensions; j++) vectors[i * dimensions + j] = (centre?.[j] ?? 0) + 0.7 * bell();
  }
  return vectors;
}

export function vectorAt(vectors: Float32Array, index: number, dimensions: number): Float32Array {
  return vectors.subarray(index * dimensions, (index + 1) * dimensions);
}

/** 0 where one of them is zero. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : product / Math.sqrt(aa * bb);
}

/** Ids from 0 up whose vectors are nearest, in double precision: what an index is compared with. */
export function nearestExactly(
  vectors: Float32Array,
  query: Float32Array,
  k: number,
  isAllowed = (_id: number) => true,
): number[] {
  const dimensions = query.length;
  const ids = Array.from({ length: vectors.length / dimensions }, (_, id) => id).filter(isAllowed);
  const scored = ids.map((id) => ({ id, score: cosine(vectorAt(vectors, id, dimensions), query) }));
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, k)
    .map(({ id }) => id);
}
