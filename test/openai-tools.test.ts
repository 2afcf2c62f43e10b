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

/** Begins a call in the random model's format. */
const callToken = await tokenOf('<');

async function tokenOf(piece: string): Promise<number> {
  const response = await fetch(`${server.url}/tokenize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: `x<tool_call>`, with_pieces: true }),
  });
  const { tokens } = (await response.json()) as { tokens: { id: number; piece: string }[] };
  return tokens.find((token) => token.piece.startsWith(piece))?.id ?? 0;
}

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

const unresolved: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'dim_light', parameters: { type: 'object', properties: { room: { $ref: '#/$defs/room' } } } },
};

t.test('a strict tool whose schema is not followed is refused, with the place and its name', async (t) => {
  const tools = [clock, { ...unresolved, function: { ...unresolved.function, strict: true } }];
  const refusal = await refusalOf(client.chat.completions.create({ ...request, tools }));
  t.match(refusal, { status: 400, code: 'schema_not_supported' });
  t.match((refusal.error as { error: unknown }).error, {
    param: 'tools[1].function.parameters',
    pointer: '#/properties/room',
    keyword: '$ref',
    tool: 'dim_light',
    accepted: String,
  });
});

t.test('any other costs what is not followed, which a header names', async (t) => {
  const asked = client.chat.completions.create({ ...request, max_tokens: 8, tools: [clock, unresolved] });
  const { response } = await asked.withResponse();
  t.equal(response.headers.get('x-svc-schema-ignored'), 'tools[1].function.parameters#/properties/room/$ref');
});

const impossible: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'bend_light', parameters: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } },
};

t.test('a tool that cannot be compiled costs its own constraint, and is refused by name where it must be called', async (t) => {
  const asked = { ...request, tools: [light, impossible], max_tokens: 8 };
  const { response } = await client.chat.completions.create(asked).withResponse();
  t.equal(response.headers.get('x-svc-schema-ignored'), 'tools[1].function.parameters');
  const forced = await refusalOf(client.chat.completions.create({ ...asked, tool_choice: 'required' }));
  t.match(forced, { status: 400, code: 'invalid_grammar', error: { message: /tool bend_light/ } });
  const other = await client.chat.completions.create({
    ...request,
    tools: [light, impossible],
    tool_choice: { type: 'function', function: { name: 'set_light' } },
  });
  checkLight(t, other.choices[0]?.message.tool_calls?.[0]);
});

t.test('schemas that are true or false, and references with escapes, are served', async (t) => {
  const odd = [
    { type: 'object', properties: { any: true, none: false } },
    { type: 'object', properties: { list: { type: 'array', items: false } }, required: ['list'] },
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x~1y' }, b: { $ref: '#/$defs/x%20y' } },
      $defs: { 'x/y': {}, 'x y': {} },
    },
  ];
  const tools = odd.map((parameters, i) => ({
    type: 'function' as const,
    function: { name: `odd_${i}`, strict: true, parameters },
  }));
  const anything = { type: 'function', function: { name: 'anything', parameters: true } } as never;
  const answer = await client.chat.completions.create({
    ...request,
    tools: [...tools, light, anything],
    tool_choice: { type: 'function', function: { name: 'odd_1' } },
  });
  const call = answer.choices[0]?.message.tool_calls?.[0];
  t.match(call, { function: { name: 'odd_1', arguments: /^\{\s*"list"\s*:\s*\[\s*\]\s*\}$/ } });
});

const format = { type: 'json_schema', json_schema: { name: 'lamp', strict: true, schema } } as const;
const seeds = Array.from({ length: 12 }, (_, i) => i + 1);

function checkLamp(t: Test, text: string | null | undefined): void {
  const value = JSON.parse(text ?? '') as Record<string, unknown>;
  t.ok(value['colour'] === 'red' || value['colour'] === 'green', text ?? 'no text');
  t.type(value['bright'], 'boolean');
}

t.test('with a format and a tool that must be called, the tool is called', async (t) => {
  const named = { type: 'function', function: { name: 'set_light' } } as const;
  for (const tool_choice of ['required', named] as const) {
    const answer = await client.chat.completions.create({ ...request, tools: [light], tool_choice, response_format: format });
    t.equal(answer.choices[0]?.finish_reason, 'tool_calls');
    checkLight(t, answer.choices[0]?.message.tool_calls?.[0]);
  }
});

t.test('with a format and tools that may be called, the answer is a call or a text of that format', async (t) => {
  const kinds = new Set<string>();
  for (const seed of seeds) {
    // Half of the answers are led to a call: a random model hardly begins one.
    const logit_bias = seed % 2 === 0 ? { [callToken]: 100 } : {};
    const asked = { ...request, seed, logit_bias, tools: [light], response_format: format };
    const { finish_reason, message } = (await client.chat.completions.create(asked)).choices[0] ?? {};
    const final = await client.chat.completions.stream({ ...asked, stream: true }).finalChatCompletion();
    t.equal(final.choices[0]?.message.content || null, message?.content ?? null, 'a stream says the same');
    kinds.add(String(finish_reason));
    if (message?.tool_calls) checkLight(t, message.tool_calls[0]);
    else checkLamp(t, message?.content);
  }
  t.strictSame([...kinds].sort(), ['stop', 'tool_calls']);
});

t.test('calls beside a format come in parallel where that is allowed', async (t) => {
  let most = 0;
  for (const seed of seeds) {
    const answer = await client.chat.completions.create({
      ...request,
      seed,
      logit_bias: { [callToken]: 100 },
      parallel_tool_calls: true,
      tools: [light],
      response_format: format,
    });
    most = Math.max(most, answer.choices[0]?.message.tool_calls?.length ?? 0);
  }
  t.ok(most > 1, `${most} calls`);
});

t.test('so it is in Responses', async (t) => {
  const { function: tool } = light;
  const tools = [{ type: 'function' as const, name: tool.name, parameters: tool.parameters ?? {}, strict: true }];
  const text = { format: { type: 'json_schema', name: 'lamp', schema } } as const;
  const asked = { model: chatModel, input: 'Light, please.', max_output_tokens: 400, store: false, tools, text };
  const forced = await client.responses.create({ ...asked, tool_choice: 'required' });
  t.match(forced.output[0], { type: 'function_call', name: 'set_light' });
  const free = await client.responses.create({ ...asked, temperature: 0 });
  if (free.output[0]?.type !== 'function_call') checkLamp(t, free.output_text);
});

const message = { model: chatModel, max_tokens: 400, messages: [{ role: 'user', content: 'Light, please.' }] };

async function post(
  members: object,
): Promise<{ status: number; body: { content: { type: string; text?: string }[]; stop_reason?: string; error?: unknown } }> {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...message, ...members }),
  });
  return { status: response.status, body: (await response.json()) as never };
}

t.test('and in Messages, whose formats are followed or refused', async (t) => {
  const tools = [{ name: 'set_light', input_schema: light.function.parameters }];
  const output_config = { format: { type: 'json_schema', schema } };
  const forced = await post({ tools, tool_choice: { type: 'any' }, output_config });
  t.match(forced.body.content[0], { type: 'tool_use', name: 'set_light' });
  const free = await post({ output_config });
  checkLamp(t, free.body.content[0]?.text);
  const refused = await post({
    output_config: { format: { type: 'json_schema', schema: { type: 'array', uniqueItems: true } } },
  });
  t.equal(refused.status, 400);
  t.match(JSON.stringify(refused.body), /uniqueItems at #/);
});

t.test('a stop string is sought in the content, and not in a call', async (t) => {
  const asked = { ...request, tools: [light], tool_choice: 'required' as const };
  for (const stop of ['kitchen', 'hall', '{', 'tool_call', 'room', '"']) {
    const answer = await client.chat.completions.create({ ...asked, stop: [stop] });
    t.equal(answer.choices[0]?.finish_reason, 'tool_calls');
    checkLight(t, answer.choices[0]?.message.tool_calls?.[0]);
  }
});

t.test('a stop string ends content beside tools where it stands, streamed or not', async (t) => {
  const asked = { ...request, max_tokens: 40, temperature: 0, tools: [light] };
  const whole = (await client.chat.completions.create(asked)).choices[0]?.message.content ?? '';
  const stop = whole.slice(Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 3);
  const stopped = (await client.chat.completions.create({ ...asked, stop: [stop] })).choices[0];
  t.equal(stopped?.message.content, whole.slice(0, whole.indexOf(stop)));
  t.equal(stopped?.finish_reason, 'stop');
  const streamed = await client.chat.completions.stream({ ...asked, stop: [stop], stream: true }).finalChatCompletion();
  t.equal(streamed.choices[0]?.message.content, stopped?.message.content);
});

t.test('what a limit cuts within a call is no call', async (t) => {
  for (const max_tokens of [4, 8, 12, 16, 24]) {
    const answer = await client.chat.completions.create({ ...request, max_tokens, tools: [light], tool_choice: 'required' });
    const { finish_reason, message } = answer.choices[0] ?? {};
    for (const call of message?.tool_calls ?? []) checkLight(t, call);
    if (finish_reason === 'length') t.match(message, { tool_calls: undefined, content: '' });
    const response = await client.responses.create({
      model: request.model,
      input: 'Light the hall.',
      max_output_tokens: max_tokens,
      tools: [{ type: 'function', name: 'set_light', parameters: light.function.parameters ?? {}, strict: false }],
      tool_choice: 'required',
    });
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (response.status === 'incomplete') t.strictSame(calls, []);
    else t.match(calls, [{ name: 'set_light', arguments: /^\{.*\}$/ }]);
    const messages = await post({
      max_tokens,
      tools: [{ name: 'set_light', input_schema: light.function.parameters }],
      tool_choice: { type: 'any' },
    });
    const uses = messages.body.content.filter(({ type }) => type === 'tool_use');
    if (messages.body.stop_reason === 'max_tokens') t.strictSame(uses, []);
    else t.match(uses, [{ name: 'set_light', input: { room: String } }]);
  }
});

t.test('patterns that cannot be read leave no line outside the log', async (t) => {
  const secret = 'a-secret-word';
  const tools = [
    {
      type: 'function' as const,
      function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string', pattern: `^(?!${secret})b$` } } } },
    },
  ];
  await client.chat.completions.create({ ...request, max_tokens: 4, tools });
  t.notMatch(server.log, new RegExp(`${secret}|WARNING`));
});
