/** A codebook: clusters of memories, its slots, and the sequence in which what they hold came true. Pure; one seed gives one codebook. */
import { generator } from './world-model.ts';

/** A memory's vector, of length 1, and from when on it holds. */
export interface SlotMember {
  readonly at: number;
  readonly vector: Float32Array;
}

export interface Codebook {
  readonly dimensions: number;
  /** One vector for each slot, one after the other. */
  readonly centroids: Float32Array;
  /** How many memories each slot has. */
  readonly sizes: readonly number[];
  /** Slots by the time of their memories. */
  readonly sequence: readonly number[];
}

export const MOST_SLOTS = 64;
const LEAST_MEMBERS = 4;
/** The centre of one memory would be its vector, which is gone when it is forgotten. */
const LEAST_SIZE = 2;
const MAX_ROUNDS = 30;

/** Undefined: there are too few memories for two slots. */
export function learnCodebook(members: readonly SlotMember[], seed: number): Codebook | undefined {
  if (members.length < LEAST_MEMBERS) return undefined;
  const ordered = [...members].sort((a, b) => a.at - b.at);
  const vectors = ordered.map(({ vector }) => vector);
  const n = Math.max(2, Math.min(MOST_SLOTS, Math.round(Math.sqrt(vectors.length / 2))));
  const nearest = clustersOf(vectors, n, generator(seed));
  const kept = Array.from({ length: n }, (_, slot) => vectors.filter((_vector, i) => nearest[i] === slot)).map(
    (cluster, slot) => ({
      slot,
      cluster,
    }),
  );
  const slots = kept.filter(({ cluster }) => cluster.length >= LEAST_SIZE).sort((a, b) => b.cluster.length - a.cluster.length);
  if (slots.length < 2) return undefined;
  const numbers = new Map(slots.map(({ slot }, i) => [slot, i]));
  const dimensions = vectors[0]?.length ?? 0;
  const centroids = new Float32Array(dimensions * slots.length);
  for (const [i, { cluster }] of slots.entries()) centroids.set(centreOf(cluster, dimensions), i * dimensions);
  return {
    dimensions,
    centroids,
    sizes: slots.map(({ cluster }) => cluster.length),
    sequence: nearest.flatMap((slot) => numbers.get(slot) ?? []),
  };
}

/** The cluster of each vector: k-means by the cosine, from centres that lie apart (Arthur and Vassilvitskii, 2007). */
function clustersOf(vectors: readonly Float32Array[], n: number, random: () => number): number[] {
  const dimensions = vectors[0]?.length ?? 0;
  const centres = firstCentres(vectors, n, random);
  let nearest = vectors.map((vector) => nearestOf(centres, vector));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (let slot = 0; slot < n; slot++) {
      const cluster = vectors.filter((_, i) => nearest[i] === slot);
      if (cluster.length > 0) centres[slot] = centreOf(cluster, dimensions);
    }
    const next = vectors.map((vector) => nearestOf(centres, vector));
    if (next.every((slot, i) => slot === nearest[i])) break;
    nearest = next;
  }
  return nearest;
}

function firstCentres(vectors: readonly Float32Array[], n: number, random: () => number): Float32Array[] {
  const centres = [vectors[Math.floor(random() * vectors.length)] as Float32Array];
  const distances = new Float64Array(vectors.length).fill(Number.POSITIVE_INFINITY);
  while (centres.length < n) {
    const last = centres.at(-1) as Float32Array;
    for (const [i, vector] of vectors.entries())
      distances[i] = Math.min(distances[i] as number, Math.max(0, 1 - product(last, vector)));
    let left = random() * distances.reduce((sum, each) => sum + each, 0);
    let chosen = vectors.length - 1;
    for (const [i, distance] of distances.entries()) {
      left -= distance;
      if (left > 0) continue;
      chosen = i;
      break;
    }
    centres.push(vectors[chosen] as Float32Array);
  }
  return centres;
}

function centreOf(cluster: readonly Float32Array[], dimensions: number): Float32Array {
  const sum = new Float64Array(dimensions);
  for (const vector of cluster) for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (vector[i] as number);
  const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0)) || 1;
  return Float32Array.from(sum, (value) => value / length);
}

function nearestOf(centres: readonly Float32Array[], vector: Float32Array): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (const [i, centre] of centres.entries()) {
    const near = product(centre, vector);
    if (near > most) [best, most] = [i, near];
  }
  return best;
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
