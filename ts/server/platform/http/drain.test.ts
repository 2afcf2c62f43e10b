import t, { type Test } from 'tap';
import { HttpError } from './errors.ts';
import type { EventStream, Reply } from './route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient, type TestBed } from './test-support/test-bed.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function openWithStream(t: Test): Promise<{ bed: TestBed; client: RawClient; stream: EventStream }> {
  let stream: EventStream | undefined;
  const bed = await openTestBed(t, [
    plainRoute('GET', '/livez', () => OK, { auth: 'open', probe: true }),
    plainRoute('GET', '/work', () => OK),
    plainRoute('GET', '/stream', () => ({
      kind: 'events',
      headers: {},
      start: (opened) => {
        stream = opened;
      },
    })),
  ]);
  const client = await RawClient.open(t, bed.port);
  client.send(get('/stream'));
  await eventually(() => stream !== undefined);
  return { bed, client, stream: stream as unknown as EventStream };
}

t.test('a drain refuses new work, answers probes, and waits for streams', async (t) => {
  const { bed, client, stream } = await openWithStream(t);
  const kept = await RawClient.open(t, bed.port);
  kept.send(get('/work'));
  await kept.until((text) => text.includes('"ok"'));
  const probe = await RawClient.open(t, bed.port);
  probe.send(get('/livez'));
  await probe.until((text) => text.includes('"ok"'));

  let outcome: boolean | undefined;
  const drained = bed.server.drain(20_000).then((isClean) => {
    outcome = isClean;
  });
  kept.send(get('/work'));
  const refusal = await kept.untilClosed();
  t.match(refusal, /HTTP\/1\.1 503 .*retry-after: 5.*connection: close.*"error":"draining"/is);
  probe.send(get('/livez'));
  t.match(await probe.untilClosed(), /200 OK.*200 OK.*connection: close/is, 'the process is alive while it drains');
  await t.rejects(fetch(`${bed.url}/work`), 'no new connection is taken');
  t.equal(outcome, undefined, 'the stream holds the drain');

  stream.write('data: last\n\n');
  stream.end();
  await drained;
  t.equal(outcome, true);
  t.match(await client.until((text) => text.endsWith('0\r\n\r\n')), /data: last/);
});

/** The chunks of a body, each of which must have the size that is written before it. Throws where the framing is broken. */
function chunksOf(answer: string): string[] {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  const chunks: string[] = [];
  for (let at = 0; ; ) {
    const [line = ''] = /^[0-9a-f]+\r\n/i.exec(body.slice(at)) ?? [];
    if (line === '') throw new Error(`no chunk size at ${at}: ${body.slice(at, at + 60)}`);
    const size = Number.parseInt(line, 16);
    if (size === 0) return chunks;
    chunks.push(body.slice(at + line.length, at + line.length + size));
    at += line.length + size + 2;
  }
}

interface Answers {
  bed: TestBed;
  clients: Map<string, RawClient>;
  /** Lets the handlers go on whose answers have no head yet. */
  proceed: () => void;
  streams: EventStream[];
}

/** Answers of each kind, of which one has its head and one has not, when the drain begins. */
async function openAnswers(t: Test): Promise<Answers> {
  const waiting: (() => void)[] = [];
  const streams: EventStream[] = [];
  const wait = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const events: Reply = { kind: 'events', headers: {}, start: (stream) => streams.push(stream) };
  const bytes = async function* () {
    yield Buffer.from('first');
    await wait();
    yield Buffer.from('last!');
  };
  const stream = (sizeBytes?: number): Reply => ({
    kind: 'stream',
    status: 200,
    headers: {},
    body: bytes(),
    ...(sizeBytes !== undefined && { sizeBytes }),
  });
  const kinds: Record<string, () => Reply> = {
    '/events': () => events,
    '/chunked': () => stream(),
    '/sized': () => stream(10),
    '/bytes': () => OK,
    '/refused': () => {
      throw new HttpError(404, 'not_found', 'There is no such thing.');
    },
  };
  const routes = Object.entries(kinds).flatMap(([path, answer]) => [
    plainRoute('GET', path, answer),
    plainRoute('GET', `/late${path}`, () => wait().then(answer)),
  ]);
  const bed = await openTestBed(t, routes);
  const clients = new Map<string, RawClient>();
  for (const path of ['/events', '/chunked', '/sized', ...Object.keys(kinds).map((kind) => `/late${kind}`)]) {
    const client = await RawClient.open(t, bed.port);
    clients.set(path, client);
    client.send(get(path));
  }
  await eventually(() => waiting.length === 7 && streams.length === 1);
  const proceed = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { bed, clients, proceed, streams };
}

t.test('answers of every kind end whole in a drain, and those without a head yet say that the connection closes', async (t) => {
  const { bed, clients, proceed, streams } = await openAnswers(t);
  const drained = bed.server.drain(20_000);
  while (bed.server.draining && streams.length < 2) {
    proceed();
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const stream of streams) {
    stream.write('data: last\n\n');
    stream.end();
  }
  const ended = eventually(() => {
    proceed();
    return bed.metrics.expose().includes('svc_http_requests_in_flight 0');
  });
  t.equal(await drained, true);
  await ended;
  for (const [path, client] of clients) {
    const text = await client.until((received) => /0\r\n\r\n$|last!$|\}$/.test(received));
    const head = text.slice(0, text.indexOf('\r\n\r\n'));
    t.equal(head.match(/\r\nconnection: close/gi)?.length ?? 0, path.startsWith('/late/') ? 1 : 0, `${path}: the head`);
    t.notMatch(text.slice(head.length), /connection/i, `${path}: the body`);
    if (path.endsWith('/chunked')) t.strictSame(chunksOf(text), ['first', 'last!'], path);
    if (path.endsWith('/events')) t.strictSame(chunksOf(text), [':\n\n', 'data: last\n\n'], path);
  }
});

t.test('a large answer that begins in a drain is waited for, however slowly it is read', async (t) => {
  const body = Buffer.alloc(16 * 2 ** 20, 'x');
  const begun = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const large = async (): Promise<Reply> => {
    begun.resolve();
    await goesOn.promise;
    return { kind: 'bytes', status: 200, headers: {}, body };
  };
  const bed = await openTestBed(t, [plainRoute('GET', '/large', large)]);
  const client = await RawClient.open(t, bed.port);
  client.socket.pause();
  client.send(get('/large'));
  await begun.promise;
  let isOver = false;
  const drained = bed.server.drain(20_000).then((isClean) => {
    isOver = true;
    return isClean;
  });
  goesOn.resolve();
  await eventually(() => bed.server.draining);
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
  t.equal(isOver, false, 'the client has not read it yet');
  client.socket.resume();
  t.equal(await drained, true);
  const text = await client.until((received) => received.length > body.length && received.endsWith('x'));
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
  t.match(head, /connection: close/i);
  t.equal(text.length - head.length, body.length);
});

t.test('a drain that passes its limit ends streams with an error frame, and refuses what has no head', async (t) => {
  const { bed, clients, streams } = await openAnswers(t);
  let nClosed = 0;
  for (const stream of streams) stream.onClose(() => nClosed++);
  t.equal(await bed.server.drain(50), false);
  t.equal(nClosed, 1, 'its handler hears the same as when a client goes away');
  const stream = (await clients.get('/events')?.until((received) => received.endsWith('0\r\n\r\n'))) ?? '';
  t.match(chunksOf(stream).at(-1), /^event: error\ndata: \{"error":"draining".*\}\n\n$/);
  for (const path of ['/late/events', '/late/bytes', '/late/sized']) {
    const text = await clients.get(path)?.until((received) => received.endsWith('}'));
    t.match(text, /^HTTP\/1\.1 503 .*connection: close.*"error":"draining"/is, path);
  }
  t.match(await clients.get('/sized')?.untilClosed(), /first$/, 'a file can only be cut');
});

t.test('a drain without work ends at once', async (t) => {
  const bed = await openTestBed(t, [plainRoute('GET', '/work', () => OK)]);
  t.equal(await bed.server.drain(20_000), true);
});
