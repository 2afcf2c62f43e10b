/** Makes speech slower at the same pitch, by overlapping pieces where they fit best (WSOLA; Verhelst and Roelands 1993). */

const FRAME_SECONDS = 0.04;
const SEARCH_SECONDS = 0.008;

/** @param factor how many times as long it becomes. */
export function stretched(samples: Int16Array, factor: number, rate: number): Int16Array {
  const frame = 2 * Math.round((rate * FRAME_SECONDS) / 2);
  const hop = frame / 2;
  const search = Math.round(rate * SEARCH_SECONDS);
  const nHops = Math.floor((samples.length * factor) / hop);
  if (samples.length < frame + 2 * search || nHops < 2) return samples;
  const window = Float32Array.from({ length: frame }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frame));
  const sum = new Float32Array((nHops + 1) * hop);
  const last = samples.length - frame;
  let natural = 0;
  for (let k = 0; k < nHops; k++) {
    const wanted = Math.min(last, Math.round((k * hop) / factor));
    const at = k === 0 ? 0 : bestMatch(samples, natural, wanted, { search, last, length: hop });
    for (let i = 0; i < frame; i++) sum[k * hop + i] = (sum[k * hop + i] ?? 0) + (samples[at + i] ?? 0) * (window[i] ?? 0);
    natural = Math.min(last, at + hop);
  }
  return Int16Array.from(sum, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
}

export async function wholeOf(source: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const pieces: Int16Array[] = [];
  for await (const piece of source) pieces.push(piece);
  const whole = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The place near `wanted` whose samples are most like those that would follow naturally. */
function bestMatch(
  samples: Int16Array,
  natural: number,
  wanted: number,
  { search, last, length }: { search: number; last: number; length: number },
): number {
  let best = wanted;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = Math.max(0, wanted - search); at <= Math.min(last, wanted + search); at += 2) {
    let likeness = 0;
    for (let i = 0; i < length; i += 4) likeness += (samples[at + i] ?? 0) * (samples[natural + i] ?? 0);
    if (likeness > most) {
      most = likeness;
      best = at;
    }
  }
  return best;
}
