/** Welch's t-test: how far apart the means of two samples are, in units of what chance would make of them. */

interface Comparison {
  /** Student's t; above 4.5 in size, leakage tests call a difference proven. */
  t: number;
  /** Difference of the means, as a share of the mean of `one`. */
  relative: number;
}

export function compareMeans(one: readonly number[], other: readonly number[]): Comparison {
  const [a, b] = [momentsOf(one), momentsOf(other)];
  return {
    t: (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length),
    relative: (a.mean - b.mean) / a.mean,
  };
}

/** Without the slowest samples: those were interrupted, and say nothing of what was measured. */
export function withoutInterrupted(samples: readonly number[], share = 0.2): number[] {
  return samples.toSorted((a, b) => a - b).slice(0, Math.ceil(samples.length * (1 - share)));
}

function momentsOf(samples: readonly number[]): { mean: number; variance: number } {
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  return { mean, variance: samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (samples.length - 1) };
}
