import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Refusal } from '../../client/refusal.ts';
import { asCliError } from '../as-cli-error.ts';
import { runCli } from '../run-cli.ts';
import { openClient } from '../server-client.ts';
import { Terminal } from '../terminal.ts';
import { ChatSession } from './chat-session.ts';
import { streamChat } from './chat-stream.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

interface Asked {
  model: string;
  messages: { role: string; content: string }[];
}

/** A chat server that answers with the given frames; `models` is its list. */
async function chatServer(t: Test, answer: (response: ServerResponse, asked: Asked) => void) {
  const asked: Asked[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          data: [
            { id: 'embedder', capabilities: ['embeddings'] },
            { id: 'talker', capabilities: ['chat'] },
          ],
        }),
      );
      return;
    }
    const body = (await json(request)) as Asked;
    asked.push(body);
    answer(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, more = {}) => frame({ model: 'talker', choices: [{ delta: { content }, ...more }] });

function speak(response: ServerResponse, ...words: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of words) response.write(delta(word));
  response.end(`${delta('', { finish_reason: 'stop' })}${frame({ choices: [], usage: { total_tokens: 5 } })}data: [DONE]\n\n`);
}

t.test('a question is answered once, by the model that chats', async (t) => {
  const { asked, url } = await chatServer(t, (response) => speak(response, 'Hel', 'lo ', 'wörld'));
  const text = await runCli(['chat', '--url', url, '--system', 'be kind', 'say', 'hello']);
  t.match(text, { code: 0, stdout: 'Hello wörld\n' });
  t.match(asked[0], {
    model: 'talker',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'say hello' },
    ],
  });
  const parsed = await runCli(['chat', '--url', url, '--json', '--model', 'other', 'hello']);
  t.strictSame(parsed.json(), { model: 'talker', text: 'Hello wörld', finish_reason: 'stop', usage: { total_tokens: 5 } });
});

t.test('an answer that is late is called late, and nobody is told to start the server', async (t) => {
  const cause = Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
  const failed = asCliError(Refusal.unreachable(new TypeError('fetch failed', { cause }), 'http://127.0.0.1:8880'));
  t.match(failed, { exit: 'failed', code: 'late', message: /has not answered in time/ });
  t.notMatch(failed.remedy, /svc serve/);
});

t.test('an answer that is late in its midst is called late, and one whose connection ends has broken off', async (t) => {
  const failed = async (cause: Error) => {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(delta('half')));
        controller.error(new TypeError('terminated', { cause }));
      },
    });
    const client = { request: async () => new Response(body) } as unknown as Parameters<typeof streamChat>[0];
    const listener = { onText: () => {} };
    const request = { model: 'talker', messages: [] };
    return await streamChat(client, request, listener, new AbortController().signal).catch((error: unknown) => error);
  };
  const late = Object.assign(new Error('Body Timeout Error'), { code: 'UND_ERR_BODY_TIMEOUT' });
  t.match(await failed(late), { exit: 'failed', code: 'late', message: /is late/, remedy: /svc status/ });
  t.match(await failed(new Error('other side closed')), { exit: 'failed', code: 'stream_cut', message: /broke off/ });
});

t.test('piped text follows the question; no question is a usage error', async (t) => {
  const { asked, url } = await chatServer(t, (response) => speak(response, 'ok'));
  await runCli(['chat', '--url', url, 'summarise:'], { input: 'a long text\n' });
  t.equal(asked[0]?.messages[0]?.content, 'summarise:\n\na long text');
  t.match(await runCli(['chat', '--url', url]), { code: 2 });
});

t.test('refusals, failures inside the stream and broken streams are errors with the server’s sentence', async (t) => {
  const inner = JSON.stringify({ error: { message: 'out of memory' } });
  const cases: [answer: (response: ServerResponse) => void, code: number, message: RegExp][] = [
    [
      (response) => void response.writeHead(429).end(JSON.stringify({ error: { message: 'too busy', code: 'queue_full' } })),
      1,
      /429: too busy/,
    ],
    [(response) => void response.writeHead(401).end('{}'), 1, /401/],
    [
      (response) => void response.writeHead(404).end(JSON.stringify({ error: 'not_found', detail: 'no such model' })),
      4,
      /no such model/,
    ],
    [(response) => void response.writeHead(200).end(frame({ detail: inner })), 1, /out of memory/],
    [(response) => void response.writeHead(200).end(frame({ error: { message: 'it broke' } })), 1, /it broke/],
    [(response) => void response.writeHead(200).end(delta('half')), 1, /broke off/],
    [(response) => void response.writeHead(200).end('data: <html>\n\n'), 1, /no JSON/],
  ];
  for (const [answer, code, message] of cases) {
    const { url } = await chatServer(t, answer);
    t.match(await runCli(['chat', '--url', url, 'x']), { code, stderr: message });
  }
});

/** A session whose input is typed by the test and whose output can be waited for. */
function typedSession(url: string) {
  const input = new PassThrough();
  const waiting: (() => void)[] = [];
  const out = {
    text: '',
    write(text: string) {
      out.text += text;
      for (const check of waiting) check();
      return true;
    },
  };
  const seen = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const check = () => pattern.test(out.text) && resolve();
      waiting.push(check);
      check();
    });
  const terminal = new Terminal({ json: false, out, err: out });
  const client = openClient({
    options: { url },
    positionals: [],
    terminal,
    signal: new AbortController().signal,
    env: {},
  });
  const session = new ChatSession({ client, terminal, input, request: { model: 'talker' } });
  const type = (line: string) => void input.write(`${line}\n`);
  return { session, ended: session.run(), type, seen, out };
}

t.test('a conversation remembers, forgets and follows instructions', async (t) => {
  let n = 0;
  const { asked, url } = await chatServer(t, (response) => speak(response, `answer ${++n}.`));
  const { ended, type, seen } = typedSession(url);
  type('one');
  await seen(/answer 1\./);
  type('two');
  await seen(/answer 2\./);
  type('/clear');
  type('/system be brief');
  type('three');
  await seen(/answer 3\./);
  type('/help');
  await seen(/\/exit/);
  type('/exit');
  await ended;
  const said = asked.map(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`));
  t.strictSame(said, [['user: one'], ['user: one', 'assistant: answer 1.', 'user: two'], ['system: be brief', 'user: three']]);
});

t.test('an interruption stops the answer, not the conversation', async (t) => {
  const { promise: wasClosed, resolve: closed } = Promise.withResolvers<void>();
  const { asked, url } = await chatServer(t, (response, { messages }) => {
    if (messages.length > 1) return speak(response, 'going on');
    response.writeHead(200).write(delta('never ending'));
    response.on('close', () => closed());
  });
  const { session, ended, type, seen } = typedSession(url);
  type('talk');
  await seen(/never ending/);
  session.interrupt();
  await seen(/stopped/);
  await wasClosed;
  type('more');
  await seen(/going on/);
  type('/exit');
  await ended;
  t.match(asked[1]?.messages, [{ content: 'talk' }, { role: 'assistant', content: 'never ending' }, { content: 'more' }]);
});

t.test('an interruption at the prompt ends the conversation', async (t) => {
  const { url } = await chatServer(t, (response) => speak(response, 'never'));
  const { session, ended } = typedSession(url);
  session.interrupt();
  await ended;
  t.pass('it ended');
});

t.test('what a model says cannot drive the terminal', async (t) => {
  const { url } = await chatServer(t, (response) => speak(response, '\x1b]0;owned\x07done'));
  const { ended, type, seen, out } = typedSession(url);
  type('hi');
  await seen(/done/);
  type('/exit');
  await ended;
  t.notOk(out.text.includes('\x1b') || out.text.includes('\x07'), out.text);
});
