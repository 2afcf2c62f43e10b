import t from 'tap';
import { ChatRequest, sendChat } from './chat-request.ts';
import { chunked, startScripted, whole } from './scripted-server.ts';

const frame = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}],"usage":null}\n\n`;
const usage =
  'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":15}}}\n\n';

t.test('an event stream gives its frames, its gaps and its usage', async (t) => {
  const server = await startScripted((socket) =>
    socket.write(chunked([frame('a'), frame('b') + frame('c'), usage, 'data: [DONE]\n\n'])),
  );
  t.teardown(() => server.close());
  const answer = await sendChat(server.target, '{}', { apiKey: 'k' });
  t.match(answer, { status: 200, nCompletionTokens: 3, nPromptTokens: 20, nPromptEvaluated: 5 });
  t.equal(answer.gapsMs.length, 2);
  t.ok(answer.ttftMs <= answer.e2eMs);
  t.ok(server.requests[0]?.startsWith('POST /v1/chat/completions HTTP/1.1\r\n'));
  t.ok(server.requests[0]?.endsWith('x-api-key: k\r\n\r\n{}'));
});

t.test('an answer without a stream gives its usage', async (t) => {
  const body = '{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}';
  const server = await startScripted((socket) => socket.write(whole('200 OK', body)));
  t.teardown(() => server.close());
  t.match(await sendChat(server.target, '{}'), { status: 200, nCompletionTokens: 2, nPromptEvaluated: 7 });
});

t.test("what the server computed is taken from llama-server's timings where they stand", async (t) => {
  const last = 'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":1},"timings":{"prompt_n":4}}\n\n';
  const server = await startScripted((socket) => socket.write(chunked([frame('a'), last])));
  t.teardown(() => server.close());
  t.match(await sendChat(server.target, '{}'), { nPromptTokens: 20, nPromptEvaluated: 4 });
});

t.test('a refusal gives its status and when to come back', async (t) => {
  const server = await startScripted((socket) =>
    socket.write(whole('429 Too Many Requests', '{"error":{}}', 'Retry-After: 3\r\n')),
  );
  t.teardown(() => server.close());
  t.match(await sendChat(server.target, '{}'), { status: 429, retryAfter: '3', nCompletionTokens: 0 });
});

t.test('an answer that is cut counts as none', async (t) => {
  const server = await startScripted((socket) => socket.end(chunked([frame('a'), frame('b')]).slice(0, -7)));
  t.teardown(() => server.close());
  const answer = await sendChat(server.target, '{}');
  t.equal(answer.status, 0);
  t.equal(answer.gapsMs.length, 1);
});

t.test('abort() closes the connection', async (t) => {
  const server = await startScripted(() => request.abort());
  t.teardown(() => server.close());
  const request = new ChatRequest(server.target, '{}');
  await server.clientLeft;
  t.equal(server.requests.length, 1);
});
