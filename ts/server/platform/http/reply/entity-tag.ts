/** Conditional requests (RFC 9110 section 13). */

type Headers = ReadonlyMap<string, string>;

/** Whether the client has what would be sent. If-None-Match decides where it is given; If-Modified-Since counts whole seconds. */
export function isNotModified(headers: Headers, etag: string, modified: Date | undefined): boolean {
  const tags = headers.get('if-none-match');
  if (tags !== undefined) return tags.trim() === '*' || listsTag(tags, etag);
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  return modified !== undefined && wholeSeconds(modified) <= since;
}

/** Whether a range may be sent: If-Range is absent, or names exactly what would be sent. A weak tag or an older date does not. */
export function allowsRange(headers: Headers, etag: string, modified: Date): boolean {
  const condition = headers.get('if-range');
  if (condition === undefined) return true;
  if (condition.startsWith('"')) return condition === etag;
  return !condition.startsWith('W/') && Date.parse(condition) === wholeSeconds(modified);
}

/** The weak comparison of section 8.8.3.2. */
function listsTag(list: string, etag: string): boolean {
  const opaque = etag.replace(/^W\//, '');
  const tags: readonly string[] = list.match(/"[^"]*"/g) ?? [];
  return tags.includes(opaque);
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
