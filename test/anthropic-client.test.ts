/** The unmodified `@anthropic-ai/sdk` package against a running server. */
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import { refusalOf } from './refusal.ts';
import { chatModel, stockServer } from './server.ts';

const server = await stockServer(t);
const client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
const request = {
  model: chatModel,
  max_tokens: 12,
  temperature: 0,
  messages: [{ role: 'user' as const, content: 'Name three colours.' }],
};

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

t.test('a message ends at max_tokens and counts its tokens', async (t) => {
  const message = await client.messages.create({ ...request, max_tokens: 3 });
  t.match(message, { type: 'message', role: 'assistant', model: chatModel, stop_reason: 'max_tokens', stop_sequence: null });
  t.equal(message.usage.output_tokens, 3);
});

t.test('the stream helper rebuilds the same message', async (t) => {
  const whole = await client.messages.create(request);
  const stream = client.messages.stream(request);
  const types: string[] = [];
  stream.on('streamEvent', (event) => types.push(event.type));
  t.equal(textOf(await stream.finalMessage()), textOf(whole));
  t.equal(types[0], 'message_start');
  t.equal(types.at(-1), 'message_stop');
});

t.test('a stop sequence is named in the answer', async (t) => {
  const text = textOf(await client.messages.create(request));
  const stop = text.slice(Math.floor(text.length / 2), Math.floor(text.length / 2) + 3);
  const message = await client.messages.create({ ...request, stop_sequences: [stop] });
  t.match(message, { stop_reason: 'stop_sequence', stop_sequence: stop });
  t.equal(textOf(message), text.slice(0, text.indexOf(stop)));
});

t.test('a named tool is used, with input that fits its schema', async (t) => {
  const message = await client.messages.create({
    ...request,
    max_tokens: 400,
    tools: [
      {
        name: 'set_light',
        input_schema: {
          type: 'object',
          properties: { room: { type: 'string', enum: ['kitchen', 'hall'] } },
          required: ['room'],
          additionalProperties: false,
        },
      },
    ],
    tool_choice: { type: 'tool', name: 'set_light' },
  });
  t.equal(message.stop_reason, 'tool_use');
  const use = message.content.find((block) => block.type === 'tool_use');
  t.equal(use?.name, 'set_light');
  t.match(use?.input, { room: /^(kitchen|hall)$/ });
});

t.test('count_tokens agrees with the usage of the message', async (t) => {
  const { max_tokens: _, temperature: __, ...counted } = request;
  const { input_tokens } = await client.messages.countTokens(counted);
  const { usage } = await client.messages.create({ ...request, max_tokens: 1 });
  t.equal(input_tokens, usage.input_tokens + (usage.cache_read_input_tokens ?? 0));
});

t.test('errors have the shape of this API', async (t) => {
  const { error } = await refusalOf(client.messages.create({ ...request, messages: [] }));
  t.ok(error instanceof Anthropic.BadRequestError);
  t.match(error, { error: { type: 'error', error: { type: 'invalid_request_error' } } });
});

t.test('models are listed as the client reads them, page by page', async (t) => {
  const models = [];
  for await (const model of client.models.list({ limit: 1 })) models.push(model);
  const found = models.find(({ id }) => id === chatModel);
  t.match(found, { type: 'model', id: chatModel, display_name: String });
  t.notOk(Number.isNaN(Date.parse(found?.created_at ?? '')));
  const staged = async (lifecycle: ('active' | 'retired')[]) => (await client.models.list({ lifecycle })).data.length;
  t.equal(await staged(['active', 'retired']), models.length);
  t.equal(await staged(['retired']), 0, 'none that is installed is retired');
});

t.test('a parsed format is JSON by its schema', async (t) => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string', maxLength: 8 } },
    required: ['city'],
    additionalProperties: false,
  };
  const message = await client.messages.create({
    ...request,
    max_tokens: 100,
    output_config: { format: { type: 'json_schema', schema } },
  });
  t.type(JSON.parse(textOf(message)).city, 'string');
});

t.test('a prompt that is too long says so in the words that clients look for', async (t) => {
  const content = 'word '.repeat(40_000);
  const refusal = await refusalOf(client.messages.create({ ...request, messages: [{ role: 'user', content }] }));
  t.match(refusal, { status: 400, error: { message: /prompt is too long/ } });
});
