/** A direction stands for what a model was asked and answered well. Pure. */

export interface ModelQuestion {
  /** The choice of a model for it. */
  readonly id: string;
  /** The model that was right. */
  readonly best: string;
  readonly vector: Float32Array;
}

/** The mean of fewer questions would be near to the vector of what may be forgotten. */
const LEAST_QUESTIONS = 8;
const DIGITS = 10_000;

/** The mean direction of the questions of each model that has enough of them. */
export function meansOf(questions: readonly ModelQuestion[]): Record<string, number[]> {
  const sums = new Map<string, { n: number; sum: Float64Array }>();
  for (const { best, vector } of questions) {
    const own = sums.get(best) ?? { n: 0, sum: new Float64Array(vector.length) };
    own.n += 1;
    for (let i = 0; i < own.sum.length; i++) own.sum[i] = (own.sum[i] as number) + (vector[i] ?? 0);
    sums.set(best, own);
  }
  const means = [...sums].filter(([, { n }]) => n >= LEAST_QUESTIONS).map(([name, { sum }]) => [name, unit(sum)] as const);
  return Object.fromEntries(means);
}

/** A route of which nothing is known is as near as the farthest of the others. */
export function cosinesTo(
  means: Readonly<Record<string, readonly number[]>>,
  routes: readonly string[],
  vector: Float32Array,
): number[] {
  const found = routes.map((route) => (Object.hasOwn(means, route) ? dot(means[route] ?? [], vector) : undefined));
  const known = found.filter((cosine) => cosine !== undefined);
  const least = known.length === 0 ? 0 : Math.min(...known);
  return found.map((cosine) => cosine ?? least);
}

function unit(sum: Float64Array): number[] {
  const length = Math.hypot(...sum) || 1;
  return [...sum].map((value) => Math.round((value / length) * DIGITS) / DIGITS);
}

function dot(a: readonly number[], b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
