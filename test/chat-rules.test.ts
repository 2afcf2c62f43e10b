/** The rules of the chat API: substitution, failures inside a stream, tools at the edge, tool-capable models. */
import t from 'tap';
import { post } from './http.ts';
import { chatModel, stockServer } from './server.ts';

const server = await stockServer(t);
const url = `${server.url}/v1/chat/completions`;
const messages = [{ role: 'user', content: 'Hello' }];
const tools = [{ type: 'function', function: { name: 'read_clock', parameters: { type: 'object', properties: {} } } }];

t.test('an unknown model is answered by another one, and a header says so', async (t) => {
  const { status, headers, json } = await post(url, { model: 'no-such-model', messages, max_tokens: 2 });
  t.equal(status, 200);
  t.equal(json?.['model'], chatModel);
  t.ok(headers.has('x-svc-model-substituted'));
});

t.test('the model that was asked for is not reported as a substitute', async (t) => {
  const { headers, json } = await post(url, { model: chatModel, messages, max_tokens: 2 });
  t.equal(json?.['model'], chatModel);
  t.notOk(headers.has('x-svc-model-substituted'));
});

for (const stream of [false, true]) {
  t.test(`a missing model is a 400 with stream: ${stream}`, async (t) => {
    const { status, json } = await post(url, { messages, stream });
    t.equal(status, 400);
    t.match(json, { error: { message: String, type: String, code: String }, detail: String });
  });
}

t.test('without a stream a failure is a 4xx with the error object and its sentence again', async (t) => {
  const { status, json } = await post(url, { model: chatModel, messages: [{ role: 'user', content: 'word '.repeat(40_000) }] });
  t.equal(status, 400);
  t.match(json, { error: { code: 'context_length_exceeded', message: json?.['detail'] }, detail: String });
});

t.test('in a stream the same failure carries the same code, before or inside the first frame', async (t) => {
  const { status, json, text } = await post(url, {
    model: chatModel,
    messages: [{ role: 'user', content: 'word '.repeat(40_000) }],
    stream: true,
  });
  const first = status === 200 ? (JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? '') as Record<string, unknown>) : json;
  t.match(first, { error: { code: 'context_length_exceeded' }, detail: String });
});

t.test('client tools pass through unless the edge is asked to run its own', async (t) => {
  const { headers } = await post(url, { model: chatModel, messages, tools, max_tokens: 2 });
  t.equal(headers.get('x-svc-edge-tools'), 'passthrough');
});

t.test('tools for a model that is not here go to none of another family: 422 with those that can', async (t) => {
  const { status, json } = await post(url, { model: 'mistral-7b', messages, tools, max_tokens: 2 });
  t.equal(status, 422);
  t.match(json, { error: { code: 'model_cannot_tool_call' }, supported_models: [chatModel] });
});

t.test('tools for a missing model go to a capable one of its family', async (t) => {
  const { status, json } = await post(url, { model: 'llama-3.2-1b', messages, tools, max_tokens: 2 });
  t.equal(status, 200);
  t.equal(json?.['model'], chatModel);
});
