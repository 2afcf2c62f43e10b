/** The Responses API through the `openai` package, with its stream helper, which indexes items by the numbers in the events. */
import OpenAI from 'openai';
import t from 'tap';
import { refusalOf } from './refusal.ts';
import { chatModel, stockServer } from './server.ts';

const server = await stockServer(t);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
const request = { model: chatModel, input: 'Name three colours.', max_output_tokens: 10, temperature: 0 };

t.test('an answer cut by its limit is incomplete and says why', async (t) => {
  const response = await client.responses.create({ ...request, max_output_tokens: 4 });
  t.match(response, {
    object: 'response',
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    model: chatModel,
  });
  t.equal(response.usage?.output_tokens, 4);
  t.type(response.output_text, 'string');
});

t.test('the stream helper rebuilds the same response', async (t) => {
  const whole = await client.responses.create(request);
  const stream = client.responses.stream(request);
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event as OpenAI.Responses.ResponseStreamEvent);
  t.equal((await stream.finalResponse()).output_text, whole.output_text);
  t.equal(events[0]?.type, 'response.created');
  t.ok(['response.completed', 'response.incomplete'].includes(events.at(-1)?.type ?? ''));
  t.strictSame(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  );
});

t.test('text.format holds from the first token', async (t) => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false };
  const response = await client.responses.create({
    ...request,
    max_output_tokens: 200,
    temperature: 1,
    text: { format: { type: 'json_schema', name: 'verdict', schema, strict: true } },
  });
  t.equal(response.status, 'completed');
  t.type((JSON.parse(response.output_text) as { ok: unknown }).ok, 'boolean');
});

t.test('a forced function call is an output item with arguments', async (t) => {
  const response = await client.responses.create({
    ...request,
    max_output_tokens: 300,
    tools: [
      {
        type: 'function',
        name: 'read_clock',
        strict: true,
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    ],
    tool_choice: { type: 'function', name: 'read_clock' },
  });
  t.match(
    response.output.find((item) => item.type === 'function_call'),
    { name: 'read_clock', arguments: '{}' },
  );
});

t.test('a missing input is a 400', async (t) => {
  t.match(await refusalOf(client.post('/responses', { body: { model: chatModel } })), { status: 400 });
});
