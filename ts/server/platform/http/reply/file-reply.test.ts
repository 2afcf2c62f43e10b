import { open, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Reply } from '../route.ts';
import { eventually, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { readRange } from './file-answer.ts';

const folder = t.testdir({ 'a.txt': '0123456789', 'empty.txt': '', folder: {} });
const path = (name: string): string => join(folder, name);
await writeFile(path('large.bin'), Buffer.alloc(8 * 1024 * 1024, 'y'));
await symlink(path('a.txt'), path('link.txt'));

const file = (name: string, more: { etag?: string } = {}): Reply => ({
  kind: 'file',
  headers: { 'content-type': 'text/plain' },
  file: path(name),
  ...more,
});
const bed = await openTestBed(t, [
  plainRoute('GET', '/files/*', ({ params }) => file((params as { path: string }).path)),
  plainRoute('GET', '/weak', () => file('a.txt', { etag: 'W/"w"' })),
  plainRoute('GET', '/handle', async () => ({ kind: 'file', headers: {}, file: await open(path('a.txt')) })),
]);

async function ask(name: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(bed.url + name, { method, headers });
  const of = (header: string): string | null => response.headers.get(header);
  return { status: response.status, text: await response.text(), etag: of('etag') ?? '', length: of('content-length'), of };
}

t.test('a file has its type, length, validators and bytes', async (t) => {
  const { status, text, etag, length, of } = await ask('/files/a.txt');
  t.strictSame([status, text, length, of('content-type'), of('accept-ranges')], [200, '0123456789', '10', 'text/plain', 'bytes']);
  t.match(etag, /^"[^"]+"$/);
  t.ok(Date.parse(of('last-modified') ?? '') > 0);
  t.equal((await ask('/handle')).text, '0123456789');
  t.equal((await ask('/files/link.txt')).text, '0123456789');
  t.strictSame(await ask('/files/empty.txt').then((answer) => [answer.status, answer.text, answer.length]), [200, '', '0']);
});

t.test('HEAD has the headers of GET', async (t) => {
  const head = await ask('/files/a.txt', {}, 'HEAD');
  t.strictSame([head.status, head.text, head.length], [200, '', '10']);
});

t.test('what is no regular file is 404', async (t) => {
  for (const name of ['none.txt', 'folder', 'a.txt/b']) t.equal((await ask(`/files/${name}`)).status, 404, name);
});

t.test('a client that has the file is told so', async (t) => {
  const { etag, of } = await ask('/files/a.txt');
  const modified = of('last-modified') ?? '';
  const cases: [headers: Record<string, string>, status: number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `"x", W/${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 200],
    [{ 'if-modified-since': 'some day' }, 200],
  ];
  for (const [headers, status] of cases) t.equal((await ask('/files/a.txt', headers)).status, status, JSON.stringify(headers));
  t.equal((await ask('/weak', { 'if-none-match': '"w"' })).status, 304, 'tags are compared weakly');
});

t.test('a changed file has another tag', async (t) => {
  await writeFile(path('b.txt'), 'one');
  const before = await ask('/files/b.txt');
  await writeFile(path('b.txt'), 'two');
  await utimes(path('b.txt'), new Date(), new Date(Date.now() + 5));
  t.not((await ask('/files/b.txt')).etag, before.etag);
});

t.test('ranges', async (t) => {
  const { etag, of } = await ask('/files/a.txt');
  const modified = of('last-modified') ?? '';
  const cases: [range: string, status: number, text: string, contentRange: string | null, more?: Record<string, string>][] = [
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=a-b', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10', { 'if-range': etag }],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10', { 'if-range': modified }],
    ['bytes=2-4', 200, '0123456789', null, { 'if-range': '"other"' }],
    ['bytes=2-4', 200, '0123456789', null, { 'if-range': `W/${etag}` }],
    ['bytes=2-4', 200, '0123456789', null, { 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ];
  for (const [range, status, text, contentRange, more] of cases) {
    const answer = await ask('/files/a.txt', { range, ...more });
    t.strictSame(
      [answer.status, answer.text, answer.of('content-range')],
      [status, text, contentRange],
      `${range} ${more?.['if-range'] ?? ''}`,
    );
  }
  t.equal((await ask('/weak', { range: 'bytes=1-2', 'if-range': 'W/"w"' })).status, 200, 'a weak tag allows no range');
  t.equal((await ask('/files/empty.txt', { range: 'bytes=0-' })).status, 416);
});

t.test('whatever the range, what is sent lies within the file', (t) => {
  const number = fc.oneof(fc.nat(30).map(String), fc.constantFrom('', '99999999999999999999', '-1', ' 1', '1e3'));
  fc.assert(
    fc.property(number, number, fc.nat(20), (from, to, size) => {
      const range = readRange(`bytes=${from}-${to}`, size);
      if (range === undefined || range === 'unsatisfiable') return true;
      return range.first >= 0 && range.first <= range.last && range.last < size;
    }),
  );
  t.end();
});

t.test('a slow client holds a chunk and not the file, and leaving closes the handle', async (t) => {
  const handle = await open(path('large.bin'));
  const { port, metrics } = await openTestBed(t, [
    plainRoute('GET', '/large', () => ({ kind: 'file', headers: {}, file: handle })),
  ]);
  const client = await RawClient.open(t, port);
  client.socket.pause();
  client.send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => metrics.expose().includes('svc_http_requests_in_flight 1'));
  client.socket.destroy();
  await eventually(() => handle.fd === -1);
  t.equal(handle.fd, -1);
});

t.test('a large file arrives whole, and one that shrinks meanwhile ends in a cut connection', async (t) => {
  t.equal((await ask('/files/large.bin')).text.length, 8 * 1024 * 1024);
  await writeFile(path('shrinking.bin'), Buffer.alloc(16 * 1024 * 1024));
  const client = await RawClient.open(t, bed.port);
  client.socket.pause();
  client.send('GET /files/shrinking.bin HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => bed.metrics.expose().includes('svc_http_requests_in_flight 1'));
  await truncate(path('shrinking.bin'), 100);
  client.socket.resume();
  t.ok((await client.untilClosed()).length < 16 * 1024 * 1024);
});
