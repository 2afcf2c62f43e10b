import { readFileSync } from 'node:fs';
import t from 'tap';
import { send } from './http.ts';
import { chatModel, startServer } from './server.ts';

const server = await startServer(t);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

t.test('livez and readyz answer 200', async (t) => {
  t.equal((await send(`${server.url}/livez`)).status, 200);
  t.equal((await send(`${server.url}/readyz`)).status, 200);
});

t.test('health reports the version and that authentication is off while there are no accounts', async (t) => {
  const { status, json } = await send(`${server.url}/health`);
  t.equal(status, 200);
  t.match(json, { version, auth: 'off' });
});

t.test('system/version is the package version', async (t) => {
  t.match((await send(`${server.url}/api/v1/system/version`)).json, { version });
});

t.test('metrics are Prometheus text with the model as a label', async (t) => {
  await send(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: { model: chatModel, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 },
  });
  const { headers, text } = await send(`${server.url}/metrics`);
  t.match(headers.get('content-type'), /^text\/plain/);
  t.match(text, /^# TYPE svc_\w+ histogram$/m);
  t.match(text, new RegExp(`model="${chatModel}"`));
});

t.test('openapi.json is served and is the committed file', async (t) => {
  const { json } = await send(`${server.url}/openapi.json`);
  t.strictSame(json, JSON.parse(readFileSync('openapi.json', 'utf8')));
});

t.test('docs is a page', async (t) => {
  const { status, headers } = await send(`${server.url}/docs`);
  t.equal(status, 200);
  t.match(headers.get('content-type'), /^text\/html/);
});
