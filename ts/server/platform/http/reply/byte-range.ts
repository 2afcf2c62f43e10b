/** The Range header of one request (RFC 9110 section 14). */

/** Offsets of the first and the last byte. */
export interface ByteRange {
  first: number;
  last: number;
}

const SINGLE = /^bytes\s*=\s*(\d{0,15})-(\d{0,15})$/i;

/**
 * Undefined: send everything, because there is no range, because it is no valid one, or because several are asked for, which a server may
 * ignore. `unsatisfiable`: the range lies behind the end.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = SINGLE.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return readSuffix(Number(to), sizeBytes);
  const first = Number(from);
  const last = to === '' ? sizeBytes - 1 : Number(to);
  if (to !== '' && last < first) return undefined;
  return first >= sizeBytes ? 'unsatisfiable' : { first, last: Math.min(last, sizeBytes - 1) };
}

/** The last so many bytes. */
function readSuffix(length: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - length), last: sizeBytes - 1 };
}
