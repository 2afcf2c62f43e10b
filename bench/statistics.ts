/** Order statistics of samples; all throw on an empty list. */

/** @param fraction 0 to 1; interpolates between the two nearest values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * fraction;
  const low = sorted[Math.floor(at)];
  const high = sorted[Math.ceil(at)];
  if (low === undefined || high === undefined) throw new Error('a quantile needs at least one value');
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spread(values: readonly number[]): { low: number; high: number } {
  return { low: quantile(values, 0), high: quantile(values, 1) };
}
