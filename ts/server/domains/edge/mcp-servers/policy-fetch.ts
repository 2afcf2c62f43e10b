/** fetch() by the client for other servers, which judges addresses and cuts answers that do not end. */
import { ReadableStream } from 'node:stream/web';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';

/** A server that sends without end is cut. */
export const MOST_BYTES = 8 * 1024 * 1024;
const EMPTY = new Set([204, 205, 304]);

export function policyFetch(client: HttpClient): FetchLike {
  return async (url, init = {}) => {
    const answer = await client.request(new URL(url), {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body instanceof URLSearchParams ? init.body.toString() : ((init.body ?? undefined) as string | undefined),
      signal: init.signal ?? undefined,
    });
    const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    if (EMPTY.has(answer.status)) answer.discard();
    const body = EMPTY.has(answer.status)
      ? null
      : (ReadableStream.from(limited(answer)) as unknown as globalThis.ReadableStream<Uint8Array>);
    return new Response(body, { status: answer.status, headers });
  };
}

async function* limited(answer: HttpResponse): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0;
  for await (const chunk of answer.chunks()) {
    sizeBytes += chunk.length;
    if (sizeBytes > MOST_BYTES) throw new HttpClientError('body_too_large', `the answer has more than ${MOST_BYTES} bytes`);
    yield new Uint8Array(chunk);
  }
}
