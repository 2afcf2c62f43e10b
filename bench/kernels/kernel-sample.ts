import { median, spread } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import type { KernelTiming } from './kernel-load.ts';

/** @param timings of one process, in order; the first only warmed it up. */
export function kernelSample(timings: readonly KernelTiming[]): Sample {
  const rates = timings.slice(1).map(({ nTokens, seconds }) => nTokens / seconds);
  const { low, high } = spread(rates);
  return { tokensPerSecond: median(rates), slowestTokensPerSecond: low, fastestTokensPerSecond: high };
}
