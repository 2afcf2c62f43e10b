import { SeededRandom } from '../random/seeded-random.ts';

/** The 95% bootstrap interval of a mean (Efron 1979), for values that are no yes or no. The same values give the same interval. */
export function bootstrapInterval(values: readonly number[], nResamples = 1_000): { low: number; high: number } {
  const random = new SeededRandom(1);
  const means = Array.from({ length: nResamples }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[random.integer(values.length)] ?? 0;
    return sum / values.length;
  }).toSorted((a, b) => a - b);
  return { low: means[Math.floor(nResamples * 0.025)] ?? 0, high: means[Math.ceil(nResamples * 0.975) - 1] ?? 0 };
}
