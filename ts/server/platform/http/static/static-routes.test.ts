import { symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { openTestBed, RawClient } from '../test-support/test-bed.ts';
import { chooseCoding } from './static-folder.ts';
import { staticRoutes } from './static-routes.ts';

const script = 'console.log("hello");\n'.repeat(200);
const folder = t.testdir({
  built: {
    'index.html': '<!doctype html>page',
    'app-B3xk9_Qa.js': script,
    'plain.js': script,
    'logo.png': 'png',
    '.env': 'SECRET',
    'a b.txt': 'space',
    assets: { 'style.3f9a2c1d.css': 'a{}', 'prepared.css': 'b{}'.repeat(1000), 'prepared.css.br': 'from the build' },
    'stale.css': 'c{}'.repeat(1000),
    'stale.css.gz': 'older',
  },
  'secret.txt': 'SECRET',
});
const built = join(folder, 'built');
await symlink(join(folder, 'secret.txt'), join(built, 'escape.txt'));
await symlink(folder, join(built, 'up'));
await symlink(join(built, 'plain.js'), join(built, 'alias.js'));
await utimes(join(built, 'stale.css.gz'), new Date(0), new Date(0));
await utimes(join(built, 'assets', 'prepared.css'), new Date(0), new Date(0));

const bed = await openTestBed(
  t,
  staticRoutes({
    folder: built,
    path: '/chat',
    auth: 'open',
    tag: 'Pages',
    summary: 'The chat',
    headers: { 'content-security-policy': "default-src 'self'" },
  }),
);

/** Over a raw socket: fetch decodes bodies and rewrites paths. */
async function ask(path: string, ...fields: string[]) {
  const client = await RawClient.open(t, bed.port);
  client.send([`GET ${path} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n'));
  const hasAll = (text: string): boolean => {
    const end = text.indexOf('\r\n\r\n');
    return end > 0 && text.length >= end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  };
  const text = await client.until(hasAll);
  client.socket.destroy();
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return {
    status: Number(head.slice(9, 12)),
    of: (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim(),
    body: Buffer.from(rest.join('\r\n\r\n'), 'latin1'),
  };
}

t.test('files have their type, a tag and the headers of the page', async (t) => {
  const index = await ask('/chat');
  t.strictSame(
    [index.status, index.of('content-type'), index.body.toString()],
    [200, 'text/html; charset=utf-8', '<!doctype html>page'],
  );
  t.strictSame([index.of('cache-control'), index.of('x-content-type-options')], ['no-cache', 'nosniff']);
  t.equal(index.of('content-security-policy'), "default-src 'self'");
  const again = await ask('/chat', `If-None-Match: ${index.of('etag')}`);
  t.strictSame([again.status, again.body.length, again.of('etag')], [304, 0, index.of('etag')]);
  t.equal((await ask('/chat/logo.png')).of('content-type'), 'image/png');
  t.equal((await ask('/chat/alias.js')).body.toString(), script, 'a link within the folder is a file of it');
  const slash = await ask('/chat/');
  t.strictSame([slash.status, slash.of('location')], [308, '/chat']);
  const head = await fetch(`${bed.url}/chat/logo.png`, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), '3');
});

t.test('names with a hash are kept for good', async (t) => {
  for (const name of ['app-B3xk9_Qa.js', 'assets/style.3f9a2c1d.css']) {
    t.match((await ask(`/chat/${name}`)).of('cache-control'), /immutable/, name);
  }
  for (const name of ['plain.js', 'assets/prepared.css'])
    t.equal((await ask(`/chat/${name}`)).of('cache-control'), 'no-cache', name);
});

t.test('a coding that the client takes is used, with a tag of its own', async (t) => {
  const plain = await ask('/chat/plain.js');
  const br = await ask('/chat/plain.js', 'Accept-Encoding: gzip, deflate, br');
  const gzip = await ask('/chat/plain.js', 'Accept-Encoding: gzip;q=1.0, br;q=0.5');
  t.strictSame(
    [plain, br, gzip].map((answer) => answer.of('content-encoding')),
    [undefined, 'br', 'gzip'],
  );
  t.strictSame(
    [plain, br, gzip].map((answer) => answer.of('vary')),
    Array(3).fill('Accept-Encoding'),
  );
  t.equal(brotliDecompressSync(br.body).toString(), script);
  t.equal(gunzipSync(gzip.body).toString(), script);
  t.equal(new Set([plain, br, gzip].map((answer) => answer.of('etag'))).size, 3);
  t.equal((await ask('/chat/plain.js', 'Accept-Encoding: br', `If-None-Match: ${br.of('etag')}`)).status, 304);
  t.equal(
    (await ask('/chat/logo.png', 'Accept-Encoding: br')).of('content-encoding'),
    undefined,
    'small and compressed files stay',
  );
});

t.test('what the build compressed is sent as it is, unless it is older than the file', async (t) => {
  t.equal((await ask('/chat/assets/prepared.css', 'Accept-Encoding: br')).body.toString(), 'from the build');
  t.equal(gunzipSync((await ask('/chat/stale.css', 'Accept-Encoding: gzip')).body).toString(), 'c{}'.repeat(1000));
});

t.test('a changed file is read again', async (t) => {
  await writeFile(join(built, 'changing.txt'), 'one');
  const before = await ask('/chat/changing.txt');
  await writeFile(join(built, 'changing.txt'), 'three');
  const after = await ask('/chat/changing.txt');
  t.equal(after.body.toString(), 'three');
  t.not(after.of('etag'), before.of('etag'));
});

t.test('nothing outside the folder, hidden or no file is served', async (t) => {
  const escapes = [
    '../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    '%2e%2e%2fsecret.txt',
    'x/../../secret.txt',
    '..\\secret.txt',
  ];
  const odd = ['.env', 'escape.txt', 'up/secret.txt', 'assets', 'assets/', 'plain.js/', 'plain.js%00.png', '/etc/passwd'];
  for (const name of [...escapes, ...odd, '%2fetc%2fpasswd', 'none.js', 'a%20b.txt', 'index.html%00', 'n'.repeat(5000)]) {
    const { status, body } = await ask(`/chat/${name}`);
    t.ok([400, 404].includes(status), `${name.slice(0, 40)}: ${status}`);
    t.notMatch(body.toString(), /SECRET/, name.slice(0, 40));
  }
  t.equal((await ask('/chat/%ff')).status, 400);
});

t.test('weights decide between codings', (t) => {
  const cases: [header: string | undefined, coding: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['gzip;q=0.8, br;q=0.1', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['identity', 'identity'],
    ['identity;q=1, gzip;q=0.5', 'identity'],
    ['gzip;q=0.5', 'gzip'],
    ['gzip ; q = 0.001', 'gzip'],
    ['deflate', 'identity'],
    ['br;q=nonsense', 'identity'],
    [',,;', 'identity'],
  ];
  for (const [header, coding] of cases) t.equal(chooseCoding(header, ['br', 'gzip']), coding, header ?? 'none');
  t.equal(chooseCoding('br', []), 'identity');
  fc.assert(fc.property(fc.string(), (header) => ['br', 'gzip', 'identity'].includes(chooseCoding(header, ['br', 'gzip']))));
  t.end();
});
