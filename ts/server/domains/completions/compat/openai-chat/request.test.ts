import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../../../test/test-support/iterations.ts';
import { DomainError } from '../../../../platform/errors/domain-error.ts';
import { SchemaCheck } from '../../../../platform/schema/schema-check.ts';
import type { ModelCard } from '../../../inference/index.ts';
import { pngHeader } from '../../../inference/media/test-support/images.ts';
import { invalid } from '../../errors.ts';
import { requireSchemas } from '../../service.ts';
import { type ChatCall, readChatRequest } from './request.ts';
import { ChatRequest } from './schema.ts';

const check = new SchemaCheck(ChatRequest);
const hello = [{ role: 'user', content: 'Hello' }];

function read(members: Record<string, unknown>): ChatCall {
  const body = { model: 'm', messages: hello, ...members };
  const fault = check.findFault(body, 'the body');
  if (fault) throw invalid(fault.member, fault.sentence);
  return readChatRequest(body as ChatRequest);
}

function chat(members: Record<string, unknown>) {
  const { prompt } = read(members).request.job;
  if (prompt.kind !== 'chat') throw new Error('not a chat prompt');
  return {
    ...prompt,
    messages: JSON.parse(String(prompt.messagesJson)) as unknown,
    tools: JSON.parse(String(prompt.toolsJson ?? '[]')) as unknown,
  };
}

const lamp = { type: 'function', function: { name: 'set_lamp', parameters: { type: 'object', properties: {} } } };
const clock = { type: 'function', function: { name: 'read_clock' } };
const named = (call: { tools: unknown }) => (call.tools as (typeof lamp)[]).map((tool) => tool.function.name);

t.test('null is the same as absent', async (t) => {
  const names = Object.keys(ChatRequest.properties).filter((name) => name !== 'model' && name !== 'messages');
  t.ok(names.length > 30);
  t.strictSame(read(Object.fromEntries(names.map((name) => [name, null]))), read({}));
});

t.test('unknown members are accepted', async (t) => {
  t.strictSame(read({ service_tier: 'auto', anything: { at: 'all' } }), read({}));
});

t.test('the developer role is a system message', async (t) => {
  t.match(chat({ messages: [{ role: 'developer', content: 'Be brief' }, ...hello] }).messages, [
    { role: 'system' },
    { role: 'user' },
  ]);
});

t.test('text parts become one text', async (t) => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  t.match(chat({ messages: [{ role: 'user', content }] }).messages, [{ content: 'ab' }]);
});

t.test('an image travels beside the messages, in order', async (t) => {
  const url = `data:image/png;base64,${pngHeader(2, 3).toString('base64')}`;
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'What?' },
      ],
    },
  ];
  const { request } = read({ messages });
  t.ok(request.needsVision);
  const param = 'messages[0].content[0].image_url.url';
  t.strictSame(request.job.media, [{ kind: 'image', bytes: pngHeader(2, 3), param, width: 2, height: 3 }]);
  t.match(chat({ messages }).messages, [
    { content: [{ type: 'image_url', image_url: { url: 'attached:0' } }, { type: 'text' }] },
  ]);
});

t.test('a web address of an image is refused, not fetched', async (t) => {
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }];
  t.throws(() => read({ messages }), {
    code: 'invalid_request',
    param: 'messages[0].content[0].image_url.url',
    message: /data: URL/,
  });
});

t.test('an object tool_choice offers that one function and forces it', async (t) => {
  const call = chat({ tools: [lamp, clock], tool_choice: { type: 'function', function: { name: 'read_clock' } } });
  t.match(call, { toolChoice: 'required', parallelToolCalls: false });
  t.strictSame(named(call), ['read_clock']);
});

t.test('allowed_tools narrows the offer', async (t) => {
  const allowed_tools = { mode: 'auto', tools: [{ type: 'function', function: { name: 'set_lamp' } }] };
  const call = chat({ tools: [lamp, clock], tool_choice: { type: 'allowed_tools', allowed_tools } });
  t.equal(call.toolChoice, 'auto');
  t.strictSame(named(call), ['set_lamp']);
});

t.test('tools are needed unless the choice is none', async (t) => {
  t.ok(read({ tools: [lamp] }).request.needsTools);
  t.notOk(read({ tools: [lamp], tool_choice: 'none' }).request.needsTools);
  t.notOk(read({ tools: [] }).request.needsTools);
});

t.test('stop is a string or an array', async (t) => {
  t.strictSame(read({ stop: 'a' }).request.job.stop, ['a']);
  t.strictSame(read({ stop: ['a', '', 'b'] }).request.job.stop, ['a', 'b']);
});

t.test('max_completion_tokens wins over max_tokens', async (t) => {
  t.equal(read({ max_tokens: 5 }).request.job.maxTokens, 5);
  t.equal(read({ max_tokens: 5, max_completion_tokens: 6 }).request.job.maxTokens, 6);
});

t.test('log probabilities come by either name', async (t) => {
  t.equal(read({ logprobs: true }).request.job.topLogprobs, 0);
  t.equal(read({ logprobs: true, top_logprobs: 4 }).request.job.topLogprobs, 4);
  t.equal(read({ n_probs: 3 }).request.job.topLogprobs, 3);
  t.equal(read({}).request.job.topLogprobs, undefined);
});

t.test('logit_bias in both forms', async (t) => {
  t.strictSame(read({ logit_bias: { 12: -100 } }).request.job.logitBias, [[12, -100]]);
  t.strictSame(
    read({
      logit_bias: [
        [12, 5],
        [13, false],
      ],
    }).request.job.logitBias,
    [
      [12, 5],
      [13, -1e9],
    ],
  );
});

t.test('too many biases are refused before each is read', async (t) => {
  const words = Object.fromEntries(Array.from({ length: 4_097 }, (_, i) => [`word ${i}`, 1]));
  t.throws(() => read({ logit_bias: words }), { message: /at most 4096 tokens/ });
});

t.test('seeds of 64 bits keep their low 32; negative ones are random', async (t) => {
  t.equal(read({ seed: 2 ** 32 + 7 }).request.job.sampling?.seed, 7);
  t.equal(read({ seed: -1 }).request.job.sampling?.seed, undefined);
});

t.test('response formats become schemas', async (t) => {
  const schema = { type: 'object' };
  t.equal(read({ response_format: { type: 'json_object' } }).request.job.jsonSchema, '{"type":"object"}');
  t.equal(
    read({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }).request.job.jsonSchema,
    JSON.stringify(schema),
  );
  t.equal(read({ response_format: { type: 'text' } }).request.job.jsonSchema, undefined);
});

const broken = { type: 'string', pattern: '(' };
for (const [param, members] of [
  ['response_format.schema', { response_format: { type: 'json_schema', json_schema: { schema: broken } } }],
  ['response_format.schema', { response_format: { type: 'json_object', schema: broken } }],
  ['json_schema', { json_schema: broken }],
  [
    'tools[0].function.parameters',
    {
      tools: [{ type: 'function', function: { name: 'a', parameters: { properties: { b: broken } } } }],
      tool_choice: 'required',
    },
  ],
] as const) {
  t.test(`a pattern that is no regular expression in ${param} is a 400 that says so`, async (t) => {
    t.throws(() => requireSchemas(read(members).request, {} as ModelCard), {
      code: 'invalid_grammar',
      param,
      message: /pattern at #.* is no regular expression/,
    });
  });
}

t.test('the older role function needs no tool_call_id', async (t) => {
  t.match(chat({ messages: [...hello, { role: 'function', name: 'a', content: '4' }] }).messages, [
    {},
    { role: 'tool', name: 'a' },
  ]);
});

const refused: [string, Record<string, unknown>, string][] = [
  ['empty messages', { messages: [] }, 'messages'],
  ['no model', { model: undefined }, 'model'],
  ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
  ['a role from the prototype', { messages: [{ role: 'constructor', content: '' }] }, 'messages[0].role'],
  ['a user message without content', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
  ['max_tokens 0', { max_tokens: 0 }, 'max_tokens'],
  ['max_tokens beyond 2^53', { max_tokens: 1e300 }, 'max_tokens'],
  ['an infinite temperature', { temperature: Number.POSITIVE_INFINITY }, 'temperature'],
  ['a temperature in words', { temperature: 'hot' }, 'temperature'],
  ['n of 129', { n: 129 }, 'n'],
  ['top_logprobs of 21', { logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
  ['top_logprobs without logprobs', { top_logprobs: 2 }, 'top_logprobs'],
  ['a biased word', { logit_bias: { word: 1 } }, 'logit_bias'],
  ['a choice among no tools', { tool_choice: 'required' }, 'tool_choice'],
  ['a choice of an unknown tool', { tools: [lamp], tool_choice: { type: 'function', function: { name: 'x' } } }, 'tool_choice'],
  ['one tool twice', { tools: [lamp, lamp] }, 'tools'],
  ['a hosted tool', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  ['a tool message without tool_call_id', { messages: [...hello, { role: 'tool', content: '4' }] }, 'messages[1].tool_call_id'],
  [
    'arguments that are no JSON',
    { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'a', arguments: '{' } }] }] },
    'messages[0].tool_calls[0].function.arguments',
  ],
  ['two formats', { grammar: 'root ::= "a"', response_format: { type: 'json_object' } }, 'response_format'],
  ['an unknown format', { response_format: { type: 'xml' } }, 'response_format.type'],
  ['include_usage in words', { stream_options: { include_usage: 'yes' } }, 'stream_options.include_usage'],
];

for (const [name, members, param] of refused) {
  t.test(`${name} is a 400 that names ${param}`, async (t) => {
    t.throws(() => read(members), { code: 'invalid_request', param });
  });
}

t.test('whatever JSON comes, the answer is a job or a 400', async () => {
  const members = fc.dictionary(fc.constantFrom(...Object.keys(ChatRequest.properties)), fc.jsonValue());
  fc.assert(fc.property(members, isJobOrRefusal), { numRuns: iterations(300, 5_000) });
});

t.test('whatever messages come, the answer is a job or a 400', async () => {
  const part = fc.dictionary(
    fc.constantFrom('type', 'text', 'image_url', 'refusal'),
    fc.oneof(fc.constantFrom('text', 'image_url'), fc.jsonValue()),
  );
  const role = fc.constantFrom('system', 'user', 'assistant', 'tool', 'x');
  const call = fc.record({
    id: fc.jsonValue(),
    function: fc.oneof(fc.jsonValue(), fc.record({ name: fc.string(), arguments: fc.jsonValue() })),
  });
  const message = fc.record({
    role,
    content: fc.oneof(fc.jsonValue(), fc.array(part)),
    tool_calls: fc.oneof(fc.jsonValue(), fc.array(call)),
  });
  fc.assert(
    fc.property(fc.array(message, { minLength: 1 }), (messages) => isJobOrRefusal({ messages })),
    { numRuns: iterations(300, 5_000) },
  );
});

function isJobOrRefusal(members: Record<string, unknown>): boolean {
  try {
    return typeof read(members).request.job === 'object';
  } catch (error) {
    return error instanceof DomainError && error.code === 'invalid_request' && error.message !== '';
  }
}

t.test('speculative decoding goes by the names of llama.cpp', async (t) => {
  t.match(read({ 'speculative.n_max': 0 }).request.job, { nDraftMax: 0 });
  t.match(read({ 'speculative.type': 'ngram-simple' }).request.job, { draftSource: 'ngram' });
  t.match(read({ 'speculative.type': 'none' }).request.job, { draftSource: 'none' });
  t.throws(() => read({ 'speculative.n_max': 65 }), { code: 'invalid_request', param: 'speculative.n_max' });
  t.throws(() => read({ 'speculative.type': 'eagle3' }), { code: 'invalid_request', param: 'speculative.type' });
});

t.test('an effort other than none reaches the template, unless the request sets its variable', async (t) => {
  const kwargs = (more: object) => {
    const { prompt } = read({ reasoning_effort: 'low', ...more }).request.job;
    return prompt.kind === 'chat' ? JSON.parse(String(prompt.templateKwargsJson)) : undefined;
  };
  t.strictSame(kwargs({}), { reasoning_effort: 'low' });
  t.strictSame(kwargs({ chat_template_kwargs: { reasoning_effort: 'high' } }), { reasoning_effort: 'high' });
});

t.test('a call in the older form of an earlier answer is a call, and its sounds are refused', async (t) => {
  const said = (message: object) => read({ messages: [...hello, { role: 'assistant', content: 'Wait.', ...message }] });
  const { prompt } = said({ function_call: { name: 'now', arguments: '{}' } }).request.job;
  const [, answer] = prompt.kind === 'chat' ? JSON.parse(String(prompt.messagesJson)) : [];
  t.match(answer, { content: 'Wait.', tool_calls: [{ type: 'function', function: { name: 'now', arguments: '{}' } }] });
  t.throws(() => said({ audio: { id: 'audio_1' } }), { code: 'invalid_request', param: 'messages[1].audio' });
});

t.test('the older form of tools is refused by name, and not passed over', async (t) => {
  t.throws(() => read({ functions: [{ name: 'now' }] }), { code: 'invalid_request', param: 'functions' });
  t.throws(() => read({ function_call: { name: 'now' } }), { code: 'invalid_request', param: 'function_call' });
  read({ functions: [], function_call: 'none' });
});
