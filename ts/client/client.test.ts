import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type Connection, createClient } from './client.ts';
import type { Refusal } from './refusal.ts';
import { retry } from './retry.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

async function clientOf(t: Test, answer: Answer, more: Partial<Connection> = {}) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ base, init: {}, headers: () => ({}), renew: async () => false, ...more });
  return { client, asked, server };
}

const refusalOf = (work: Promise<unknown>): Promise<Refusal> =>
  work.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => error as Refusal,
  );

t.test('a route is asked by its name, with its parameters in their places', async (t) => {
  const { client, asked } = await clientOf(t, (response) => response.end('{"data":[]}'));
  t.strictSame(await client.call('GET /api/v1/webhooks'), { data: [] });
  const params = { id: 'a/b' };
  await client.call('GET /api/v1/webhooks/{id}/deliveries', { params, query: { limit: 5, state: undefined } });
  t.strictSame(asked, ['GET /api/v1/webhooks', 'GET /api/v1/webhooks/a%2Fb/deliveries?limit=5']);
});

t.test('a refusal has the code and the sentence of either error shape', async (t) => {
  const shapes: [body: string, code: string, sentence: string][] = [
    ['{"error":"not_found","detail":"There is none."}', 'not_found', 'There is none.'],
    ['{"error":{"message":"too busy","code":"queue_full"}}', 'queue_full', 'too busy'],
    ['<h1>Bad Gateway</h1>', '502', '<h1>Bad Gateway</h1>'],
    ['', '502', ''],
  ];
  for (const [body, code, sentence] of shapes) {
    const { client } = await clientOf(t, (response) => response.writeHead(502).end(body));
    t.match(await refusalOf(client.call('GET /health')), { status: 502, code, message: sentence });
  }
});

t.test('an answer that is no JSON is a refusal as well', async (t) => {
  const { client } = await clientOf(t, (response) => response.end('<html>'));
  t.match(await refusalOf(client.call('GET /health')), { status: 200, code: 'no_json' });
});

t.test('a request that is refused for its credential is sent once more where there is another one', async (t) => {
  const credentials = ['old', 'new'];
  const { client, asked } = await clientOf(
    t,
    (response, { headers }) => response.writeHead(headers.authorization === 'new' ? 200 : 401).end('{}'),
    {
      headers: () => ({ authorization: credentials[0] ?? '' }),
      renew: async () => credentials.length > 1 && credentials.shift() !== undefined,
    },
  );
  t.strictSame(await client.call('GET /health'), {});
  t.equal(asked.length, 2);
});

t.test('what no server answers says where one was looked for, and is tried again as often as wanted', async (t) => {
  const { client, server } = await clientOf(t, () => undefined);
  await new Promise((resolve) => server.close(resolve));
  const pauses: number[] = [];
  const steps = {
    signal: new AbortController().signal,
    tries: 3,
    firstPauseMs: 10,
    pause: async (ms: number) => pauses.push(ms),
  };
  const refusal = await refusalOf(retry(steps, () => client.call('GET /health')));
  t.match(refusal, { status: 0, code: 'unreachable', message: /^no server answers at http:\/\/127/ });
  t.strictSame(pauses, [10, 20]);
});

t.test('a caller that gives up gets its own reason, and no refusal', async (t) => {
  const { client } = await clientOf(t, () => undefined);
  const reason = new Error('enough');
  t.equal(await refusalOf(client.call('GET /health', { signal: AbortSignal.abort(reason) })), reason);
});

t.test('a server that has the request and is late is not one that is away', async (t) => {
  const { client } = await clientOf(t, () => undefined);
  const refusal = await refusalOf(client.call('GET /health', { signal: AbortSignal.timeout(50) }));
  t.match(refusal, { status: 0, code: 'late', message: /^the server at http:\/\/127.* has not answered in time$/ });
});
