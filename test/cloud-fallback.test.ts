/** A model of this node answers where no provider does: whole requests, large ones and images too. */
import sharp from 'sharp';
import t from 'tap';
import { type HttpAnswer, post, send } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { BILLED, startProvider } from './providers/provider-server.ts';
import { chatModel, startServer } from './server.ts';

t.setTimeout(240_000);

const { url } = await startServer(t, {
  hasProjector: true,
  env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_INFERENCE_CTX: '4096' },
});
const provider = await startProvider(t, openAiDialect);
const DOWN = { status: 503 };
const messages = [{ role: 'user', content: 'Name three colours.' }];
const ask = (more: object = {}): Promise<HttpAnswer> => {
  // Each attempt of a request meets the same.
  provider.script = Array.from({ length: 4 }, () => DOWN);
  return post(`${url}/v1/chat/completions`, { model: 'best', max_tokens: 4, messages, ...more });
};

t.before(async () => {
  const timeouts = { connect_ms: 1000, first_byte_ms: 5000, idle_ms: 5000 };
  const backend = {
    id: 'far',
    kind: 'openai',
    base_url: `${provider.origin}/v1`,
    timeouts,
    model_filter: { include: ['far-model'] },
  };
  const made = await post(`${url}/api/v1/cloud/backends`, backend);
  if (made.status !== 201) throw new Error(made.text);
});

let nChanges = 0;
/** A breaker that has opened is closed by a change of the backend. */
t.beforeEach(async () => {
  await send(`${url}/api/v1/cloud/backends/far`, { method: 'PATCH', body: { weight: 1 + ++nChanges } });
  const route = { targets: [{ backend: 'far', model: 'far-model' }], fallbacks: [chatModel] };
  const set = await send(`${url}/api/v1/cloud/routes/best`, { method: 'PUT', body: route });
  if (set.status !== 200) throw new Error(set.text);
});

t.test('a provider that works answers', async (t) => {
  provider.say = () => ({ texts: ['from', ' afar'], tokens: BILLED });
  t.match(await post(`${url}/v1/chat/completions`, { model: 'best', messages }), { status: 200, json: { model: 'far-model' } });
});

t.test('where none does, the model of this node answers under its own name, whole or as a stream', async (t) => {
  const whole = await ask();
  t.match(whole, { status: 200, json: { model: chatModel, usage: { completion_tokens: 4 } } }, whole.text);
  const nAsked = provider.chats.length;
  const streamed = await ask({ stream: true });
  t.equal(provider.chats.length, nAsked + 4, 'behind all attempts');
  t.match(streamed.text, /"model":"tiny-chat"[\s\S]*"finish_reason":"length"[\s\S]*\[DONE\]/);
  t.notMatch(streamed.text, /"model":"far-model"/);
});

t.test('an image, whose bytes wait outside of the memory of JavaScript, is read twice', async (t) => {
  const noise = Buffer.from(Array.from({ length: 512 * 512 * 3 }, (_, i) => (i * 7_919 + (i >> 3)) & 255));
  const png = await sharp(noise, { raw: { width: 512, height: 512, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
  ];
  const answer = await ask({ messages: [{ role: 'user', content }] });
  t.match(answer, { status: 200, json: { model: chatModel } }, answer.text.slice(0, 300));
  t.ok(JSON.stringify(provider.chats.at(-1)?.body).includes(png.toString('base64')), 'and the provider was sent it');
});

t.test('tools arrive at either', async (t) => {
  const parameters = { type: 'object', properties: { q: { enum: ['a'] } }, required: ['q'], additionalProperties: false };
  const tools = [{ type: 'function', function: { name: 'look', parameters } }];
  const answer = await ask({ tools, tool_choice: 'required', max_tokens: 64 });
  t.match(
    answer,
    { status: 200, json: { model: chatModel, choices: [{ message: { tool_calls: [{ function: { name: 'look' } }] } }] } },
    answer.text,
  );
});

t.test('a strict schema that only the provider follows is not answered without it', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, patternProperties: { '^x': { type: 'integer' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'shape', strict: true, schema } };
  t.match(await ask({ response_format }), { status: 502, json: { error: { code: 'provider_unreachable' } } });
  const local = await post(`${url}/v1/chat/completions`, { model: chatModel, messages, response_format });
  t.match(local, { status: 400, json: { error: { code: 'schema_not_supported' } } }, local.text);
});

t.test('what a provider has begun is not ended by another model', async (t) => {
  provider.say = () => ({ texts: ['from', ' afar'], tokens: BILLED });
  provider.script = ['cut'];
  const { text } = await post(`${url}/v1/chat/completions`, { model: 'best', messages, stream: true });
  t.match(text, /provider_stream_cut/);
  t.notMatch(text, /tiny-chat|\[DONE\]/);
});
