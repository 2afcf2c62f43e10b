import t from 'tap';
import { SchemaCheck } from '../../../../platform/schema/schema-check.ts';
import { pngHeader } from '../../../inference/media/test-support/images.ts';
import { invalid } from '../../errors.ts';
import { readMessagesRequest } from './request.ts';
import { MessagesRequest } from './schema.ts';

const check = new SchemaCheck(MessagesRequest);

function read(members: Record<string, unknown>) {
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }], ...members };
  const fault = check.findFault(body, 'the body');
  if (fault) throw invalid(fault.member, fault.sentence);
  return readMessagesRequest(body as MessagesRequest);
}

function messagesOf(members: Record<string, unknown>): unknown {
  const { prompt } = read(members).job;
  return prompt.kind === 'chat' ? (JSON.parse(String(prompt.messagesJson)) as unknown) : undefined;
}

const tools = [
  { name: 'now', input_schema: { type: 'object' } },
  { name: 'read', input_schema: { type: 'object' } },
];

t.test('system blocks and messages become chat messages', async (t) => {
  t.strictSame(
    messagesOf({
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    }),
    [
      { role: 'system', content: 'a\nb' },
      { role: 'user', content: 'Hello' },
    ],
  );
});

t.test('marks of a prompt cache stay where they are, for providers that have one', async (t) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const parts = [
    { type: 'text', text: 'a', ...mark },
    { type: 'text', text: 'b' },
  ];
  t.match(messagesOf({ system: parts }), [{ role: 'system', content: parts }]);
  t.strictSame(messagesOf({ messages: [{ role: 'user', content: parts }] }), [{ role: 'user', content: parts }]);
});

t.test('thoughts that a provider has signed or hidden come back as they were', async (t) => {
  const content = [
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'xyz' },
    { type: 'text', text: 'Yes.' },
  ];
  t.match(messagesOf({ messages: [{ role: 'assistant', content }] }), [
    {
      reasoning_content: 'hm',
      reasoning_details: [
        { type: 'thinking', text: 'hm', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
      ],
    },
  ]);
});

t.test('tool use and its result become a call and a tool message', async (t) => {
  const messages = [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'Wait.' },
        { type: 'tool_use', id: 't1', name: 'now', input: { zone: 'UTC' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '12:30' }] },
        { type: 'text', text: 'And?' },
      ],
    },
  ];
  t.strictSame(messagesOf({ messages }), [
    {
      role: 'assistant',
      content: 'Wait.',
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'now', arguments: '{"zone":"UTC"}' } }],
      reasoning_content: 'hm',
    },
    { role: 'tool', tool_call_id: 't1', content: '12:30' },
    { role: 'user', content: 'And?' },
  ]);
});

t.test('an image of base64 travels beside the messages', async (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: pngHeader(2, 3).toString('base64') };
  const { job, needsVision } = read({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
  t.ok(needsVision);
  t.match(job.media, [{ kind: 'image', width: 2, height: 3, bytes: pngHeader(2, 3) }]);
});

t.test('tool_choice: any forces some tool, tool forces that one, none forbids', async (t) => {
  t.match(read({ tools, tool_choice: { type: 'any' } }).job.prompt, { toolChoice: 'required' });
  t.match(read({ tools, tool_choice: { type: 'tool', name: 'read' } }).job.prompt, {
    toolChoice: 'required',
    toolsJson: /^\[\{"type":"function","function":\{"name":"read".*\]$/,
  });
  t.notOk(read({ tools, tool_choice: { type: 'none' } }).needsTools);
  t.match(read({ tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }).job.prompt, {
    parallelToolCalls: false,
  });
});

for (const [name, members, param] of [
  ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
  ['no messages', { messages: [] }, 'messages'],
  ['a tool of the provider', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools[0].type'],
  ['a document', { messages: [{ role: 'user', content: [{ type: 'document' }] }] }, 'messages[0].content[0].type'],
  [
    'a tool result without tool_use_id',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', content: '4' }] }] },
    'messages[0].content[0].tool_use_id',
  ],
  [
    'an image from the web',
    { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'http://x/y' } }] }] },
    'messages[0].content[0].source.url',
  ],
] as const) {
  t.test(`${name} is a 400 that names ${param}`, async (t) => {
    t.throws(() => read(members), { code: 'invalid_request', param });
  });
}

t.test('a format of the answer is followed under both of its names, and one alone', async (t) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const format = { type: 'json_schema', schema };
  t.match(JSON.parse(String(read({ output_config: { format } }).job.jsonSchema)), schema);
  t.match(JSON.parse(String(read({ output_format: format }).job.jsonSchema)), schema);
  t.equal(read({ output_config: { effort: 'low' } }).job.jsonSchema, undefined);
  // Anthropic's errors have no param: the sentence begins with the member.
  t.throws(() => read({ output_config: { format }, output_format: format }), {
    code: 'invalid_request',
    param: 'output_format',
    message: /^output_format /,
  });
  t.throws(() => read({ output_config: { format: { type: 'json_schema' } } }), {
    code: 'invalid_request',
    param: 'output_config.format',
  });
  t.throws(() => read({ output_config: { format: 'json' } }), { code: 'invalid_request' });
  t.throws(() => read({ output_config: { format }, grammar: 'root ::= "a"' }), { code: 'invalid_request' });
});
