/** Tools and structured answers through the `openai` package. The model is random: what holds, holds by grammar and not by luck. */
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { refusalOf } from './refusal.ts';
import { chatModel, startServer } from './server.ts';

const server = await startServer(t);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

const light: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'set_light',
    description: 'Switches a lamp',
    parameters: {
      type: 'object',
      properties: { room: { type: 'string', enum: ['kitchen', 'hall'] }, on: { type: 'boolean' } },
      required: ['room', 'on'],
      additionalProperties: false,
    },
  },
};
const clock: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'read_clock', parameters: { type: 'object', properties: {}, additionalProperties: false } },
};

const request = {
  model: chatModel,
  messages: [{ role: 'user' as const, content: 'Light in the hall, please.' }],
  max_tokens: 400,
  temperature: 1,
  seed: 3,
  parallel_tool_calls: false,
};

function checkLight(t: Test, call: OpenAI.ChatCompletionMessageToolCall | undefined): void {
  if (call?.type !== 'function') return void t.fail('no function call');
  t.equal(call.function.name, 'set_light');
  const { room, on, ...rest } = JSON.parse(call.function.arguments) as Record<string, unknown>;
  t.ok(room === 'kitchen' || room === 'hall');
  t.type(on, 'boolean');
  t.strictSame(rest, {});
}

t.test('object-form tool_choice forces that one function, with arguments that fit its schema', async (t) => {
  const answer = await client.chat.completions.create({
    ...request,
    tools: [light, clock],
    tool_choice: { type: 'function', function: { name: 'set_light' } },
  });
  const [choice] = answer.choices;
  t.equal(choice?.finish_reason, 'tool_calls');
  t.equal(choice?.message.content, null);
  checkLight(t, choice?.message.tool_calls?.[0]);
});

t.test('a streamed call arrives whole, named once and indexed', async (t) => {
  const stream = client.chat.completions.stream({
    ...request,
    tools: [light, clock],
    tool_choice: { type: 'function', function: { name: 'set_light' } },
  });
  const deltas: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall[] = [];
  stream.on('chunk', (chunk) => deltas.push(...(chunk.choices[0]?.delta.tool_calls ?? [])));
  const final = await stream.finalChatCompletion();
  checkLight(t, final.choices[0]?.message.tool_calls?.[0]);
  t.ok(deltas.every((delta) => delta.index === 0));
  t.equal(deltas.filter((delta) => delta.id !== undefined && delta.function?.name !== undefined).length, 1);
});

t.test('required calls some function and says nothing before it', async (t) => {
  const answer = await client.chat.completions.create({ ...request, tools: [clock], tool_choice: 'required' });
  const call = answer.choices[0]?.message.tool_calls?.[0];
  t.match(call, { type: 'function', function: { name: 'read_clock', arguments: '{}' } });
  t.notOk(answer.choices[0]?.message.content);
});

t.test('none calls no function', async (t) => {
  const answer = await client.chat.completions.create({ ...request, max_tokens: 16, tools: [light], tool_choice: 'none' });
  t.equal(answer.choices[0]?.message.tool_calls, undefined);
});

t.test('the answer to a call goes back to the model', async (t) => {
  const answer = await client.chat.completions.create({
    ...request,
    max_tokens: 4,
    tools: [clock],
    messages: [
      ...request.messages,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_clock', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '12:30' },
    ],
  });
  t.ok((answer.usage?.completion_tokens ?? 0) > 0);
});

const schema = {
  type: 'object',
  properties: { colour: { type: 'string', enum: ['red', 'green'] }, bright: { type: 'boolean' } },
  required: ['colour', 'bright'],
  additionalProperties: false,
};

t.test('a json_schema answer fits its schema', async (t) => {
  const answer = await client.chat.completions.create({
    ...request,
    response_format: { type: 'json_schema', json_schema: { name: 'lamp', strict: true, schema } },
  });
  t.equal(answer.choices[0]?.finish_reason, 'stop');
  const value = JSON.parse(answer.choices[0]?.message.content ?? '') as Record<string, unknown>;
  t.strictSame(Object.keys(value).sort(), ['bright', 'colour']);
  t.ok(value['colour'] === 'red' || value['colour'] === 'green');
});

t.test('a json_object answer is JSON, and an object, whatever the seed', async (t) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const answer = await client.chat.completions.create({ ...request, seed, response_format: { type: 'json_object' } });
    const { finish_reason, message } = answer.choices[0] ?? {};
    if (finish_reason === 'length') t.match(message?.content, /^\s*\{/, 'a cut answer begins as an object');
    else t.type(JSON.parse(message?.content ?? ''), 'object');
  }
});

t.test('a schema that cannot be compiled is a 400', async (t) => {
  const broken = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'nonsense' } } } as const;
  t.match(await refusalOf(client.chat.completions.create({ ...request, response_format: broken })), { status: 400 });
});

const node = {
  type: 'object',
  properties: { colour: { enum: ['red', 'green'] }, next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
  required: ['colour', 'next'],
  additionalProperties: false,
};

function colours(value: unknown): string[] {
  const { colour, next } = value as { colour: string; next: unknown };
  return next === null ? [colour] : [colour, ...colours(next)];
}

t.test('a schema may refer to itself as a whole', async (t) => {
  const format = { type: 'json_schema', json_schema: { name: 'list', strict: true, schema: node } } as const;
  let longest = 0;
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const answer = await client.chat.completions.create({ ...request, seed, response_format: format });
    const { finish_reason, message } = answer.choices[0] ?? {};
    if (finish_reason === 'stop') longest = Math.max(longest, colours(JSON.parse(message?.content ?? '')).length);
  }
  t.ok(longest > 1, `${longest} links`);
});

t.test('so may the parameters of a tool', async (t) => {
  const tools = [{ type: 'function' as const, function: { name: 'paint', parameters: node } }];
  const answer = await client.chat.completions.create({ ...request, tools, tool_choice: 'required' });
  const call = answer.choices[0]?.message.tool_calls?.[0];
  if (call?.type !== 'function') return void t.fail('no function call');
  t.ok(colours(JSON.parse(call.function.arguments)).every((colour) => colour === 'red' || colour === 'green'));
});

t.test('references that only lead to each other are refused, and the server goes on', async (t) => {
  const schema = { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } } as const;
  t.match(await refusalOf(client.chat.completions.create({ ...request, response_format: format })), {
    status: 400,
    code: 'invalid_grammar',
    error: { message: /leads to itself and to nothing else/ },
  });
  t.ok(server.running);
});

t.test('parameters that no answer can follow are refused, with the place', async (t) => {
  const parameters = { type: 'object', properties: { room: { $ref: '#/$defs/room' } } };
  const tools = [{ type: 'function' as const, function: { name: 'set_light', parameters } }];
  const refusal = await refusalOf(client.chat.completions.create({ ...request, tools }));
  t.match(refusal, { status: 400, code: 'invalid_grammar', error: { message: /parameters of a tool.*#\/properties\/room/ } });
});
