/** For tests: a route that streams until its client goes away, one that answers late, and a client that notes when they end. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';

/** Ids of the late requests that handlers have. */
export const lateRequests: string[] = [];
/** Ids of the requests whose handlers were told that their client is gone. */
export const leftRequests: string[] = [];

export function streamingRoutes(): Route[] {
  const common = { auth: 'viewer', tag: 'Test', maxBody: 0, responses: { 200: Type.Object({}) } } as const;
  return [
    route({
      ...common,
      method: 'GET',
      path: '/api/v1/test/stream',
      summary: 'Streams',
      handle: ({ requestId }) => ({
        kind: 'events',
        headers: {},
        start: (stream) => {
          stream.onClose(() => leftRequests.push(requestId));
          stream.write('data: begun\n\n');
        },
      }),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/api/v1/test/late',
      summary: 'Answers when its client is gone',
      handle: ({ signal, requestId }) =>
        new Promise((resolve) => {
          lateRequests.push(requestId);
          signal.addEventListener('abort', () => {
            leftRequests.push(requestId);
            resolve(json(200, {}));
          });
        }),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/api/v1/test/bytes',
      summary: 'Sends bytes without an end',
      handle: () => ({ kind: 'stream', status: 200, headers: {}, body: endlessBytes() }),
    }),
  ];
}

async function* endlessBytes(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield new Uint8Array(10);
    await new Promise((resolve) => setTimeout(resolve, 5).unref());
  }
}

interface OpenRequest {
  status: Promise<number>;
  /** All that arrived, when the answer ended; `cut` when it broke off. */
  ended: Promise<{ text: string; isCut: boolean; at: number }>;
  /** What arrived so far. */
  text(): string;
  close(): void;
}

export function openRequest(url: string, headers: Record<string, string>): OpenRequest {
  const controller = new AbortController();
  let text = '';
  const response = fetch(url, { headers, signal: controller.signal });
  const read = async () => {
    let isCut = false;
    try {
      const decoder = new TextDecoder();
      for await (const chunk of (await response).body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    } catch {
      isCut = true;
    }
    return { text, isCut, at: performance.now() };
  };
  return { status: response.then(({ status }) => status), ended: read(), text: () => text, close: () => controller.abort() };
}

/** Resolves when the stream has begun. */
export async function begun(request: OpenRequest): Promise<OpenRequest> {
  const deadline = performance.now() + 10_000;
  while (request.text() === '') {
    if (performance.now() > deadline) throw new Error('the stream did not begin');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return request;
}
