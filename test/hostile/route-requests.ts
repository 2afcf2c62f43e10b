/** The largest requests of a route: each place of it with the largest value, and headers. */
import type { Ids } from '../matrix/belongings.ts';
import type { Request } from '../matrix/client.ts';
import type { Row } from '../matrix/rows.ts';
import { largestValue } from './largest-values.ts';
import { bodyLimit, placesOf, rightRequest, withValue } from './request-places.ts';

/** The head of a request has 16 KiB, the credential among it. */
const HEAD_BYTES = 12 * 1024;
const HEADERS = ['x-request-id', 'user-agent', 'if-none-match', 'last-event-id', 'accept', 'x-api-key', 'upload-metadata'];
/** Of a body, for the other members and the names. */
const OTHER_BYTES = 4 * 1024;

/** @param mostBytes of a body; routes may take more. */
export function* largestRequests(row: Row, ids: Ids, characters: string, mostBytes: number): Generator<Request> {
  const limit = bodyLimit(row);
  for (const place of placesOf(row)) {
    const isBody = place.in === 'body';
    const bytes = isBody ? Math.min(mostBytes, limit - Math.min(OTHER_BYTES, limit / 2)) : HEAD_BYTES / 6;
    const value = largestValue(place.schema, characters, bytes);
    if (value === undefined) continue;
    yield withValue(row, ids, place, isBody ? value : encodeURIComponent(String(value)));
  }
  const right = rightRequest(row, ids);
  if (typeof right.body === 'string') yield { ...right, body: repeat(characters, Math.min(mostBytes, limit)) };
  const name = HEADERS[row.name.length % HEADERS.length] ?? 'user-agent';
  if (row.method === 'GET') yield { ...right, headers: { ...right.headers, [name]: '%7e"'.repeat(HEAD_BYTES / 4) } };
}

function repeat(characters: string, bytes: number): string {
  return characters.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(characters))));
}
