import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { RemoteEmbedder } from './remote-embedder.ts';

type Handle = (request: IncomingMessage, body: { model?: string; input?: string[] }, response: ServerResponse) => void;

async function serve(t: Test, handle: Handle): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    handle(request, JSON.parse(text || '{}'), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const options = { tenant: 'red', signal: new AbortController().signal };

t.test('OpenAI’s answer is read in its order, made as long as 1, and asked with the key', async (t) => {
  const seen: unknown[] = [];
  const url = await serve(t, ({ url: path, headers }, { model, input }, response) => {
    seen.push([path, headers.authorization, model, input]);
    json(response, 200, {
      data: [
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] },
      ],
    });
  });
  const embedder = new RemoteEmbedder({ url: `${url}/v1/`, key: 'secret' });
  const { vectors, nTokens } = await embedder.embed('bge-m3', ['a', 'b'], options);
  t.strictSame(
    vectors.map((vector) => [...vector].map((value) => Math.round(value * 10) / 10)),
    [
      [0.6, 0.8],
      [0, 1],
    ],
  );
  t.equal(nTokens, undefined);
  t.strictSame(seen, [['/v1/embeddings', 'Bearer secret', 'bge-m3', ['a', 'b']]]);
});

t.test('an Ollama that knows its own path only is asked there', async (t) => {
  const url = await serve(t, ({ url: path }, _, response) => {
    if (path === '/api/embed') json(response, 200, { embeddings: [[1, 0]] });
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
  });
  t.ok(await new RemoteEmbedder({ url }).has('bge-m3'));
});

t.test('whatever else it answers is embedding_failed, and neither its address nor its words are told', async (t) => {
  const answers: [number, unknown][] = [
    [500, { error: 'internal-host-7 is down' }],
    [404, { error: 'no model' }],
    [200, {}],
    [200, null],
    [200, { data: [] }],
    [200, { data: [{ embedding: [] }] }],
    [200, { data: [{ embedding: ['x'] }] }],
    [200, { data: [{ embedding: [1, null] }] }],
    [200, { data: [null] }],
    [200, { embeddings: [new Array(20_000).fill(1)] }],
  ];
  for (const [status, body] of answers) {
    const url = await serve(t, (_, __, response) => json(response, status, body));
    const error = await new RemoteEmbedder({ url }).embed('m', ['a'], options).catch((failure: unknown) => failure);
    t.match(error, { code: 'embedding_failed' }, JSON.stringify(body)?.slice(0, 50));
    t.notMatch((error as Error).message, /127\.0\.0\.1|internal-host/);
  }
  const embedder = new RemoteEmbedder({ url: 'http://127.0.0.1:9' });
  await t.rejects(embedder.embed('m', ['a'], options), { code: 'embedding_failed', message: /cannot be reached/ });
  t.notOk(await embedder.has('m'));
});

t.test('a redirect is not followed, and a service that says nothing is given up', async (t) => {
  const redirecting = await serve(t, (_, __, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end());
  await t.rejects(new RemoteEmbedder({ url: redirecting }).embed('m', ['a'], options), { code: 'embedding_failed' });
  const silent = await serve(t, () => {});
  await t.rejects(new RemoteEmbedder({ url: silent, timeoutMs: 50 }).embed('m', ['a'], options), { code: 'embedding_failed' });
});
