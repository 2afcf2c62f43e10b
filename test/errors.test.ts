/** Every refusal is JSON with a code to match on and a sentence to read, in the shape of its API. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { post, send } from './http.ts';
import { chatModel, stockServer } from './server.ts';

const server = await stockServer(t);
const chat = `${server.url}/v1/chat/completions`;
const messages = [{ role: 'user', content: 'Hello' }];

t.test('a missing route says that no handler is registered', async (t) => {
  const { status, json } = await send(`${server.url}/api/v1/nothing/here`);
  t.equal(status, 404);
  t.match(json, { error: String, detail: /no handler/i, path: '/api/v1/nothing/here' });
});

t.test('a missing chat-API route has the chat shape', async (t) => {
  const { status, json } = await send(`${server.url}/v1/nothing`);
  t.equal(status, 404);
  t.match(json, { error: { code: 'not_found', message: String, type: String }, detail: String });
});

for (const path of ['/v1/completions', '/api/v1/models/show']) {
  t.test(`${path} is documented as not served: 404 not_found`, async (t) => {
    const { status, text } = await post(server.url + path, { model: chatModel });
    t.equal(status, 404);
    t.match(text, /"not_found"/);
  });
}

t.test('a method that a path does not serve is 405', async (t) => {
  const { status, headers, json } = await send(chat, { method: 'DELETE' });
  t.equal(status, 405);
  t.match(headers.get('allow'), /POST/);
  t.equal(json?.['status'], 405);
});

t.test('a body that is no JSON is 400', async (t) => {
  const { status, json } = await post(chat, '{"model": ');
  t.equal(status, 400);
  t.match(json, { detail: String });
});

t.test('NaN and Infinity are no JSON', async (t) => {
  t.equal((await post(chat, `{"model":"${chatModel}","messages":[],"temperature":NaN}`)).status, 400);
});

const wrong: [what: string, changes: Record<string, unknown>][] = [
  ['empty messages', { messages: [] }],
  ['messages of the wrong type', { messages: 'hi' }],
  ['a huge max_tokens', { max_tokens: 1e300 }],
  ['a negative max_tokens', { max_tokens: -5 }],
  ['a temperature in words', { temperature: 'warm' }],
  ['too many choices', { n: 1_000_000 }],
  ['an unknown role', { messages: [{ role: 'wizard', content: 'x' }] }],
  ['a nameless model', { model: '' }],
];
for (const [what, changes] of wrong) {
  t.test(`${what} is a 400 that names the member`, async (t) => {
    const { status, json } = await post(chat, { model: chatModel, messages, max_tokens: 2, ...changes });
    t.equal(status, 400);
    t.match(json, { error: { type: 'invalid_request_error', code: String } });
    t.match(json?.['detail'], new RegExp(Object.keys(changes)[0] ?? ''));
  });
}

t.test('null means absent', async (t) => {
  const { status } = await post(chat, { model: chatModel, messages, max_tokens: 2, temperature: null, stop: null, tools: null });
  t.equal(status, 200);
});

t.test('a body that is too large is 413, as JSON with its status', async (t) => {
  const answer = await sendRaw(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 140000000\r\n\r\n{`,
  );
  t.match(answer, /^HTTP\/1\.1 413 /);
  t.match(answer, /"payload_too_large"/);
  t.match(answer, /"status":413/);
});

t.test('two Content-Lengths are refused as JSON', async (t) => {
  const answer = await sendRaw('POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}');
  t.match(answer, /^HTTP\/1\.1 400 /);
  t.match(answer, /"status":400/);
});

t.test('every answer carries a request id', async (t) => {
  const { headers } = await send(`${server.url}/livez`);
  t.match(headers.get('x-request-id'), /\S/);
});

/** Sends bytes and reads until the server closes or has sent a whole JSON body. */
async function sendRaw(request: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.endsWith('}')) break;
  }
  socket.destroy();
  return answer;
}
