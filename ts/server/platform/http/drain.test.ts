import t, { type Test } from 'tap';
import type { EventStream } from './route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient, type TestBed } from './test-support/test-bed.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function openWithStream(
  t: Test,
): Promise<{ bed: TestBed; client: RawClient; stream: EventStream; wasAborted: () => boolean }> {
  let stream: EventStream | undefined;
  let isAborted = false;
  const bed = await openTestBed(t, [
    plainRoute('GET', '/livez', () => OK, { auth: 'open', probe: true }),
    plainRoute('GET', '/work', () => OK),
    plainRoute('GET', '/stream', ({ signal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
      });
      return {
        kind: 'events',
        headers: {},
        start: (opened) => {
          stream = opened;
        },
      };
    }),
  ]);
  const client = await RawClient.open(t, bed.port);
  client.send(get('/stream'));
  await eventually(() => stream !== undefined);
  return { bed, client, stream: stream as unknown as EventStream, wasAborted: () => isAborted };
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

t.test('a drain that passes its limit cuts what is left and says so', async (t) => {
  const { bed, client, wasAborted } = await openWithStream(t);
  t.equal(await bed.server.drain(50), false);
  await client.untilClosed();
  t.equal(wasAborted(), true);
});

t.test('a drain without work ends at once', async (t) => {
  const bed = await openTestBed(t, [plainRoute('GET', '/work', () => OK)]);
  t.equal(await bed.server.drain(20_000), true);
});
