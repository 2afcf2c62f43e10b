export interface ContentRange {
  /** First byte; absent in the answer to an unsatisfiable range. */
  start?: number;
  end?: number;
  /** Absent when the server does not know the length. */
  sizeBytes?: number;
}

// A range with a length, a range of unknown length, or no range and a length: RFC 9110, section 14.4.
const pattern = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/;

/** Undefined for a header that is missing, malformed or contradicts itself. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const match = pattern.exec(header ?? '');
  if (!match) return undefined;
  const [, start, end, size] = match;
  const range: ContentRange = {
    ...(start !== undefined && end !== undefined && { start: Number(start), end: Number(end) }),
    ...(size !== undefined && size !== '*' && { sizeBytes: Number(size) }),
  };
  const isSound = range.start === undefined || range.end === undefined || range.start <= range.end;
  const isInside = range.end === undefined || range.sizeBytes === undefined || range.end < range.sizeBytes;
  return isSound && isInside ? range : undefined;
}
