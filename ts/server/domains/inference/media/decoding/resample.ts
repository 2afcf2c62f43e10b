/** Samples at one rate -> samples at another, by a windowed sinc (Smith, "Digital Audio Resampling", CCRMA 2002). */

/** Zero crossings of the sinc on each side. */
const nCrossings = 16;

/** The sum that a sample of the result is made of: so many samples before its place and after, each with its weight. */
interface Kernel {
  reach: number;
  weights: Float32Array;
}

export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples;
  const divisor = greatestCommonDivisor(from, to);
  const [step, nPhases] = [from / divisor, to / divisor];
  // What is above half of the lower rate must go, or it would come back as other tones.
  const cutoff = Math.min(1, to / from);
  // The same few places between two samples come again and again.
  const kernels: (Kernel | undefined)[] = new Array(nPhases);
  const result = new Float32Array(Math.floor((samples.length * to) / from));
  for (let i = 0; i < result.length; i++) {
    const phase = (i * step) % nPhases;
    kernels[phase] ??= kernelAt(phase / nPhases, cutoff);
    result[i] = sumAround(samples, Math.floor((i * step) / nPhases), kernels[phase]);
  }
  return result;
}

function sumAround(samples: Float32Array, centre: number, { reach, weights }: Kernel): number {
  const first = Math.max(0, centre - reach);
  const last = Math.min(samples.length - 1, centre + reach);
  let sum = 0;
  for (let at = first; at <= last; at++) sum += (weights[at - centre + reach] as number) * (samples[at] as number);
  return sum;
}

/** `offset`: how far behind a sample the place is, 0 to 1. */
function kernelAt(offset: number, cutoff: number): Kernel {
  const reach = Math.ceil(nCrossings / cutoff) + 1;
  const weights = Float32Array.from({ length: 2 * reach + 1 }, (_, index) => windowedSinc((index - reach - offset) * cutoff));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return { reach, weights: weights.map((weight) => weight / sum) };
}

/** Hann's window over the crossings. */
function windowedSinc(x: number): number {
  if (x === 0) return 1;
  if (Math.abs(x) >= nCrossings) return 0;
  const angle = Math.PI * x;
  return (Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos(angle / nCrossings));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
