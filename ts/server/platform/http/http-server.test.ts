import t from 'tap';
import Type from 'typebox';
import { HttpError } from './errors.ts';
import { json } from './route.ts';
import { eventually, nestedErrorBody, OK, openTestBed, plainRoute, RawClient } from './test-support/test-bed.ts';

const itemParams = Type.Object({ id: Type.String() });
const routes = [
  plainRoute('GET', '/livez', () => OK, { auth: 'open', probe: true }),
  plainRoute('GET', '/echo', ({ query, headers }) => json(200, { query, agent: headers.get('user-agent') })),
  plainRoute('GET', '/items/{id}', ({ params, query }) => json(200, { params, query }), {
    params: itemParams,
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })), tag: Type.Optional(Type.Array(Type.String())) }),
  }),
  plainRoute('POST', '/api/v1/loaded/things', () => OK),
  plainRoute('GET', '/api/v1/gone/claimed', () => OK),
  plainRoute('POST', '/v1/things', () => OK, { errorBody: nestedErrorBody('one'), body: Type.Object({ name: Type.String() }) }),
  plainRoute('POST', '/v1/messages', () => OK, { errorBody: nestedErrorBody('two'), body: Type.Object({ name: Type.String() }) }),
  plainRoute('POST', '/optional', ({ body }) => json(200, { body: body ?? 'none' }), {
    body: Type.Object({}),
    bodyOptional: true,
  }),
  plainRoute('POST', '/action', () => OK, { maxBody: 0, auth: 'open' }),
  plainRoute('GET', '/broken', () => {
    throw new Error('secret detail');
  }),
  plainRoute('GET', '/teapot', () => {
    throw new HttpError(429, 'queue_full', 'Later.', { headers: { 'retry-after': '3' }, extra: { waiting: 7 } });
  }),
  plainRoute('GET', '/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return OK;
  }),
  plainRoute('GET', '/held', async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return OK;
  }),
];
const bed = await openTestBed(t, routes, {
  errorBodies: [
    { prefix: '/v1/', errorBody: nestedErrorBody('one') },
    { prefix: '/v1/messages', errorBody: nestedErrorBody('two') },
  ],
  findModule: (name) =>
    ({ loaded: { state: 'loaded', module: 'loaded' }, gone: { state: 'unavailable', reason: 'no node has it' } })[name] as never,
});

async function ask(path: string, init: RequestInit = {}, base = bed.url) {
  const response = await fetch(base + path, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
  };
}
const post = (path: string, body: string, type = 'application/json') =>
  ask(path, { method: 'POST', body, headers: { 'content-type': type } });

t.test('parameters and queries are decoded and converted', async (t) => {
  t.strictSame((await ask('/items/a%2Fb?limit=3&tag=x&tag=y')).body, {
    params: { id: 'a/b' },
    query: { limit: 3, tag: ['x', 'y'] },
  });
  t.match((await ask('/items/a?limit=none')).body, {
    error: 'invalid_request',
    detail: /`limit` must be an integer at least 1; "none"/,
  });
  t.match((await ask('/items/a?limit=1&limit=2')).body, { detail: /more than once/ });
  t.match((await ask('/items/%ff')).body, { error: 'invalid_path' });
});

t.test('a sane request id is kept, any other replaced', async (t) => {
  t.equal((await ask('/echo', { headers: { 'x-request-id': 'abc-1' } })).headers.get('x-request-id'), 'abc-1');
  t.equal((await ask('/livez', { headers: { 'x-request-id': 'abc-2' } })).headers.get('x-request-id'), 'abc-2');
  const made = (await ask('/echo', { headers: { 'x-request-id': '<script>' } })).headers.get('x-request-id');
  t.match(made, /^[0-9a-f]{12}-[0-9a-z]+$/);
});

t.test('HEAD answers what GET would, without the body', async (t) => {
  for (const path of ['/echo', '/livez']) {
    const head = await ask(path, { method: 'HEAD' });
    const get = await ask(path);
    t.equal(head.status, 200);
    t.equal(head.text, '');
    t.equal(head.headers.get('content-length'), String(get.text.length));
  }
});

t.test('OPTIONS and Origin are answered for pages of this machine', async (t) => {
  const preflight = await ask('/v1/things', {
    method: 'OPTIONS',
    headers: { origin: 'http://localhost:3000', 'access-control-request-headers': 'content-type, x-custom' },
  });
  t.equal(preflight.status, 204);
  t.equal(preflight.headers.get('access-control-allow-origin'), 'http://localhost:3000');
  t.equal(preflight.headers.get('access-control-allow-methods'), 'OPTIONS, POST');
  t.equal(preflight.headers.get('access-control-allow-headers'), 'content-type, x-custom');
  const refusal = await ask('/nothing', { headers: { origin: 'http://localhost:3000' } });
  t.equal(refusal.headers.get('access-control-allow-origin'), 'http://localhost:3000');
  t.match(refusal.headers.get('vary'), /origin/i);
});

t.test('missing routes follow the 404 rules', async (t) => {
  t.match(await ask('/nothing'), {
    status: 404,
    body: { error: 'not_found', detail: /No handler is registered/, path: '/nothing' },
  });
  t.match(await ask('/v1/nothing'), {
    status: 404,
    body: { one: { code: 'not_found' }, detail: /No handler/ },
  });
  t.match(await ask('/v1/messages/nothing'), {
    status: 404,
    body: { two: { code: 'not_found' }, detail: /No handler/ },
  });
  t.match(await ask('/api/v1/loaded/x'), { status: 404, body: { error: 'route_not_found', module: 'loaded', method: 'GET' } });
  t.match(await ask('/api/v1/gone/x'), {
    status: 503,
    body: { error: 'module_unavailable', module: 'gone', reason: 'no node has it' },
  });
  for (const name of ['auth', 'identity', 'cluster', 'nonsense']) {
    const { status, body } = await ask(`/api/v1/${name}/x`);
    t.equal(status, 404);
    t.strictSame([body['error'], body['module'], body['method']], ['not_found', undefined, undefined], name);
  }
});

t.test('a path without the method is 405 with Allow', async (t) => {
  const { status, headers, body } = await ask('/echo', { method: 'DELETE' });
  t.equal(status, 405);
  t.equal(headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.match(body, { error: 'method_not_allowed', status: 405 });
  t.match((await ask('/api/v1/loaded/things')).body, { error: 'method_not_allowed', module: 'loaded', method: 'GET' });
  const claimed = await ask('/api/v1/gone/claimed', { method: 'DELETE' });
  t.match(claimed, { status: 405, body: { error: 'method_not_allowed', module: 'gone', method: 'DELETE' } });
  t.equal((await ask('/livez', { method: 'POST' })).status, 405);
});

t.test('errors keep their headers and extra members, in the shape of their route', async (t) => {
  const { status, headers, body } = await ask('/teapot');
  t.equal(status, 429);
  t.equal(headers.get('retry-after'), '3');
  t.strictSame(body, { error: 'queue_full', detail: 'Later.', path: '/teapot', waiting: 7 });
  t.match((await post('/v1/things', '{}')).body, {
    one: { code: 'invalid_request', param: 'name' },
    detail: '`name` is required: a string.',
  });
  t.match((await post('/v1/messages', '{}')).body, { two: { code: 'invalid_request' }, detail: String });
});

t.test('what a handler throws is logged and not told', async (t) => {
  const { status, text } = await ask('/broken');
  t.equal(status, 500);
  t.match(text, /"internal"/);
  t.notMatch(text, /secret detail/);
  t.ok(bed.lines.some((line) => line.includes('secret detail')));
});

t.test('JSON bodies need their content type, with any charset that is UTF-8', async (t) => {
  t.match(await post('/v1/things', '{}', 'text/plain'), { status: 415, body: { one: { code: 'unsupported_media_type' } } });
  t.equal((await post('/v1/things', '{"name":"a"}', 'application/json; charset=UTF-8')).status, 200);
  t.equal((await post('/v1/things', '{"name":"a"}', 'application/json; charset=utf-16')).status, 415);
  t.equal((await ask('/optional', { method: 'POST' })).text, '{"body":"none"}');
  t.equal((await post('/action', '{}')).status, 200, 'a body that the route does not take is read past');
});

t.test('requests in one segment are answered in order', async (t) => {
  const client = await RawClient.open(t, bed.port);
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const sent = JSON.stringify({ name: 'x' });
  client.send(
    get('/livez') +
      get('/items/1') +
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n${sent}` +
      get('/nothing') +
      get('/items/2'),
  );
  const received = await client.until((text) => text.includes('"id":"2"'));
  t.strictSame(
    [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
    ['200', '200', '200', '404', '200'],
  );
  t.ok(received.indexOf('"id":"1"') < received.indexOf('"id":"2"'));
});

t.test('a client that leaves is counted and logged as such', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
  client.socket.destroy();
  await eventually(() => bed.lines.some((line) => line.includes('"path":"/held"')));
  t.match(
    bed.lines.find((line) => line.includes('/held')),
    /"status":499.*"aborted":true/,
  );
});

t.test('no exchange is forgotten: once all are over, none is in flight', async (t) => {
  for (const path of ['/slow', '/broken', '/nothing', '/livez']) {
    const client = await RawClient.open(t, bed.port);
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3));
    client.send('POST / HTTP/1.1\r\nHost: a b\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
    await client.untilClosed();
  }
  await eventually(() => bed.metrics.expose().includes('svc_http_requests_in_flight 0'));
  t.match(bed.metrics.expose(), /svc_http_requests_in_flight 0/);
});

t.test('metrics are by route pattern; unknown paths and methods share one label', async (t) => {
  for (let i = 0; i < 20; i++) await ask(`/random-${i}`);
  const text = bed.metrics.expose();
  t.match(text, /svc_http_requests_total\{route="\/items\/\{id\}",method="GET",status="200"\} \d+/);
  t.match(text, /svc_http_requests_total\{route="none",method="GET",status="404"\} \d+/);
  t.notMatch(text, /random-/);
});

t.test('the log has the path without the query, and no credential', async (t) => {
  await ask('/echo?token=topsecret', { headers: { authorization: 'Bearer topsecret-key' } });
  t.ok(bed.lines.some((line) => line.includes('"path":"/echo"')));
  t.notOk(bed.lines.some((line) => line.includes('topsecret')));
});

t.test('the public edge takes no chunked bodies', async (t) => {
  const chunked = 'POST /action HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
  const outside = await RawClient.open(t, Number(new URL(bed.publicUrl).port));
  outside.send(chunked);
  t.match(await outside.untilClosed(), /^HTTP\/1\.1 411 .*"error":"length_required".*"status":411/s);
  const inside = await RawClient.open(t, bed.port);
  inside.send(chunked);
  t.match(await inside.until((text) => text.includes('}')), /^HTTP\/1\.1 200 /);
});

t.test('a server that is held answers probes, and other requests once it is released', async (t) => {
  const probe = plainRoute('GET', '/livez', () => OK, { probe: true, auth: 'open' });
  const echo = plainRoute('POST', '/echo', ({ body }) => json(200, body as object), { body: Type.Object({ n: Type.Number() }) });
  const { server, url } = await openTestBed(t, [probe, echo]);
  const release = server.hold();
  const order: string[] = [];
  const post = (n: number) =>
    fetch(`${url}/echo`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ n }) });
  const waiting = [1, 2].map(async (n) => {
    const answer = await post(n);
    order.push(`answer ${n}`);
    return answer.json();
  });
  const missing = fetch(`${url}/nothing`).then(({ status }) => status);
  t.equal((await fetch(`${url}/livez`)).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 50));
  order.push('released');
  release();
  t.strictSame(await Promise.all(waiting), [{ n: 1 }, { n: 2 }], 'bodies that came meanwhile are whole');
  t.equal(await missing, 404);
  t.equal(order[0], 'released');
  t.equal((await post(3)).status, 200, 'later ones do not wait');
});

t.test('a port that is taken is refused with the reason', async (t) => {
  const second = (await openTestBed(t, routes)).server;
  await t.rejects(
    second.open({ host: '127.0.0.1', port: bed.port }),
    /cannot listen on 127\.0\.0\.1:\d+: another program listens there/,
  );
});

t.test('connections over the limit are closed', async (t) => {
  const small = await openTestBed(t, routes, { maxConnections: 2 });
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.open(t, small.port)));
  await eventually(() => clients.filter((client) => client.closed).length === 1);
  t.equal(clients.filter((client) => client.closed).length, 1);
});
