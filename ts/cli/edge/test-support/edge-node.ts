/** Tests have a node whose routes say what of a request arrived, and that counts which ones did. */
import type { Test } from 'tap';
import type { BodyStream } from '../../../server/platform/http/body/body-stream.ts';
import { type EventStream, json, type Route } from '../../../server/platform/http/route.ts';
import { openTestBed, plainRoute } from '../../../server/platform/http/test-support/test-bed.ts';

export const MAX_BODY = 80 * 1024 * 1024;
export const N_EVENTS = 30;
export const EVENT_MS = 100;

export async function openEdgeNode(t: Test) {
  const handled: string[] = [];
  const open = { auth: 'open', tag: 'Test' } as const;
  const routes: Route[] = [
    plainRoute(
      'GET',
      '/echo',
      ({ headers, remoteAddress, listener, isEncrypted, path }) => {
        handled.push(path);
        return json(200, { headers: Object.fromEntries(headers), remoteAddress, listener, isEncrypted });
      },
      open,
    ),
    plainRoute(
      'POST',
      '/echo',
      ({ path, body }) => {
        handled.push(path);
        return json(200, { bytes: (body as Uint8Array | undefined)?.length ?? 0 });
      },
      { ...open, maxBody: 1000 },
    ),
    plainRoute(
      'GET',
      '/smuggled',
      ({ path }) => {
        handled.push(path);
        return json(200, { smuggled: true });
      },
      open,
    ),
    plainRoute(
      'POST',
      '/upload',
      async ({ body }) => {
        let sizeBytes = 0;
        for await (const chunk of body as BodyStream) sizeBytes += chunk.length;
        return json(200, { sizeBytes });
      },
      { ...open, maxBody: MAX_BODY, bodyKind: 'bytes' },
    ),
    plainRoute('GET', '/stream', () => ({ kind: 'events', headers: {}, start: sendEvents }), open),
  ];
  const proxies = { trustedProxies: ['127.0.0.1'], header: 'x-forwarded-for' as const };
  const bed = await openTestBed(t, routes, { proxies, maxBodyBytes: MAX_BODY });
  return { ...bed, handled };
}

function sendEvents(stream: EventStream): void {
  let n = 0;
  const timer = setInterval(() => {
    stream.write(`data: ${n}\n\n`);
    n += 1;
    if (n < N_EVENTS) return;
    clearInterval(timer);
    stream.end();
  }, EVENT_MS);
  stream.onClose(() => clearInterval(timer));
}
