export interface BackoffRange {
  readonly first: number;
  readonly longest: number;
}

export const defaultBackoff: BackoffRange = { first: 1_000, longest: 600_000 };

/**
 * Milliseconds to wait after so many failures (from 1): doubled each time up to `longest`, of which a random half is left out, so that jobs
 * that failed together do not come back together. `random` is from 0 to 1.
 */
export function backoffMs(failures: number, { first, longest }: BackoffRange, random = Math.random()): number {
  const whole = Math.min(longest, first * 2 ** Math.min(failures - 1, 40));
  return Math.round(whole * (0.5 + random / 2));
}
