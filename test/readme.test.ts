/** The first command that a reader tries is the one in the README. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { startServer } from './server.ts';

const readme = readFileSync('README.md', 'utf8');

t.test("the README's curl streams a completion", async (t) => {
  const [, path, body] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(readme) ?? [];
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true' } });
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body ?? null,
  });
  const text = await response.text();
  t.equal(response.status, 200);
  t.match(text, /"model":"svc-chat-tiny"/);
  t.match(contentOf(text), /^Hello! I am svc-chat-tiny/);
  t.match(text, /data: \[DONE\]\n\n$/);
});

function contentOf(events: string): string {
  const parts = [...events.matchAll(/"delta":\{[^}]*"content":"((?:[^"\\]|\\.)*)"/g)];
  return parts.map(([, content]) => JSON.parse(`"${content}"`) as string).join('');
}

t.test('the files that the README links to are there', async (t) => {
  for (const [, target] of readme.matchAll(/\]\((?!http)([^)#]+)\)/g))
    t.ok(readFileSync(target ?? '').length > 0, String(target));
});
