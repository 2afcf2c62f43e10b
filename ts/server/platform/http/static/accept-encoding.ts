/** Chooses the content coding that a client wants (RFC 9110 section 12.5.3). */

export type ContentCoding = 'br' | 'gzip' | 'identity';

const WEIGHTED = /^([!#$%&'*+.^_`|~\w-]+|\*)\s*(?:;\s*q\s*=\s*(\d(?:\.\d{0,3})?))?$/i;

/** The best of the offered codings, which come in the server's order; of equally welcome ones the first. `identity` where none is welcome. */
export function chooseCoding(header: string | undefined, offered: readonly ContentCoding[]): ContentCoding {
  const weights = readWeights(header);
  const weightOf = (coding: ContentCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? (weights.get('*') ?? MIN_WEIGHT) : (weights.get('*') ?? 0));
  let best: ContentCoding = 'identity';
  let bestWeight = weightOf('identity');
  for (const coding of offered) {
    const weight = weightOf(coding);
    if (weight > 0 && (weight > bestWeight || (best === 'identity' && weight === bestWeight))) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

/** Identity is acceptable where it is not mentioned, and less welcome than anything that is. */
const MIN_WEIGHT = 0.0001;

/** Lowercase names to weights from 0 to 1. */
function readWeights(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const entry of (header ?? '').slice(0, 1000).split(',')) {
    const [, name, weight] = WEIGHTED.exec(entry.trim()) ?? [];
    if (name === undefined) continue;
    const lower = name.toLowerCase();
    weights.set(lower === 'x-gzip' ? 'gzip' : lower, Math.min(1, Number(weight ?? 1)));
  }
  return weights;
}
