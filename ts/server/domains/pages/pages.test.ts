/** The pages over HTTP, from a folder that stands for the built one. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openTestBed } from '../../platform/http/test-support/test-bed.ts';
import { pagesRoutes } from './routes.ts';

const built = t.testdir({
  'chat.html': '<!doctype html>chat',
  'login.html': '<!doctype html>login',
  'admin.html': '<!doctype html>admin',
  'sandbox.html': '<!doctype html>sandbox',
  assets: { 'chat-B3xk9_Qa.js': 'export {};' },
});
const bed = await openTestBed(t, pagesRoutes(built));

t.test('each page is answered to everyone, with a policy that loads nothing from elsewhere', async (t) => {
  for (const page of ['chat', 'login', 'admin']) {
    const answer = await fetch(`${bed.url}/${page}`);
    t.strictSame([answer.status, await answer.text()], [200, `<!doctype html>${page}`]);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      t.ok(policy.split('; ').includes(part), part);
    t.notMatch(policy, /unsafe-inline|unsafe-eval|https?:|\*/);
    t.equal(answer.headers.get('x-dns-prefetch-control'), 'off');
  }
});

t.test('the chat alone may use the microphone and play sounds, of its own server and its own making', async (t) => {
  for (const page of ['chat', 'login', 'admin', 'sandbox']) {
    const { headers } = await fetch(`${bed.url}/${page}`);
    const isChat = page === 'chat';
    t.match(headers.get('permissions-policy'), isChat ? /microphone=\(self\)/ : /microphone=\(\)/, page);
    const parts = (headers.get('content-security-policy') ?? '').split('; ');
    t.equal(parts.includes("media-src 'self' blob:"), isChat, page);
  }
});

t.test('the bare address leads a browser to the chat, and tells a program in JSON that nothing is there', async (t) => {
  const ask = (accept: string) => fetch(`${bed.url}/`, { headers: { accept }, redirect: 'manual' });
  for (const accept of [
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'image/png, TEXT/HTML;q=0.5',
  ]) {
    const answer = await ask(accept);
    t.strictSame([answer.status, answer.headers.get('location'), answer.headers.get('vary')], [302, '/chat', 'Accept'], accept);
  }
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0', 'text/htmlx']) {
    const answer = await ask(accept);
    t.equal(answer.status, 404, accept);
    t.match(await answer.json(), { error: 'not_found', detail: /^No handler is registered for GET \// });
  }
});

t.test('the sandbox runs scripts in an origin of its own, and loads nothing at all', async (t) => {
  const answer = await fetch(`${bed.url}/sandbox`);
  t.strictSame([answer.status, await answer.text()], [200, '<!doctype html>sandbox']);
  const parts = (answer.headers.get('content-security-policy') ?? '').split('; ');
  for (const part of ['sandbox allow-scripts', "default-src 'none'", "form-action 'none'", "frame-ancestors 'self'"])
    t.ok(parts.includes(part), part);
  t.notMatch(parts.join('; '), /allow-same-origin|allow-top-navigation|allow-popups|unsafe-eval|connect-src|'self' |https?:|\*/);
  t.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN');
});

t.test('files with a hash are kept for good', async (t) => {
  const answer = await fetch(`${bed.url}/assets/chat-B3xk9_Qa.js`);
  t.match(answer.headers.get('cache-control'), /immutable/);
  t.equal((await fetch(`${bed.url}/assets/none.js`)).status, 404);
});

t.test('a page below a page is none', async (t) => {
  t.equal((await fetch(`${bed.url}/chat/login.html`)).status, 404);
});

t.test('without built pages the answer says what to do', async (t) => {
  const empty = join(t.testdir(), 'web');
  mkdirSync(empty);
  const bare = await openTestBed(t, pagesRoutes(empty));
  const answer = await fetch(`${bare.url}/chat`);
  t.equal(answer.status, 503);
  t.match(await answer.json(), { error: 'pages_not_built', detail: /node scripts\/build\.mjs --web/ });
  rmSync(empty, { recursive: true });
  t.equal((await fetch(`${bare.url}/admin`)).status, 503);
});
