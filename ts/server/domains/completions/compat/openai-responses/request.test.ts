import t from 'tap';
import { SchemaCheck } from '../../../../platform/schema/schema-check.ts';
import { invalid } from '../../errors.ts';
import { readResponsesRequest } from './request.ts';
import { ResponsesRequest } from './schema.ts';

const check = new SchemaCheck(ResponsesRequest);

function read(members: Record<string, unknown>, earlier: Record<string, unknown>[] = []) {
  const body = { model: 'm', input: 'Hello', ...members };
  const fault = check.findFault(body, 'the body');
  if (fault) throw invalid(fault.member, fault.sentence);
  return readResponsesRequest(body as ResponsesRequest, earlier);
}

function messagesOf(members: Record<string, unknown>, earlier: Record<string, unknown>[] = []): unknown {
  const { prompt } = read(members, earlier).job;
  return prompt.kind === 'chat' ? (JSON.parse(String(prompt.messagesJson)) as unknown) : undefined;
}

t.test('instructions come before a text input', async (t) => {
  t.strictSame(messagesOf({ instructions: 'Be brief' }), [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Hello' },
  ]);
});

t.test('what is continued comes between the instructions and the input, and a call may be answered across both', async (t) => {
  const earlier = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Time?' }] },
    { type: 'function_call', call_id: 'c1', name: 'now', arguments: '{}' },
  ];
  const input = [{ type: 'function_call_output', call_id: 'c1', output: '12:30' }];
  t.match(messagesOf({ instructions: 'Be brief', input }, earlier), [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Time?' },
    { role: 'assistant', tool_calls: [{ id: 'c1' }] },
    { role: 'tool', tool_call_id: 'c1', content: '12:30' },
  ]);
});

t.test('a turn of reasoning, calls and their results is one assistant message and its tool messages', async (t) => {
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Time?' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'look' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Wait.', annotations: [] }] },
    { type: 'function_call', call_id: 'c1', name: 'now', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'now', arguments: '{"zone":"UTC"}' },
    { type: 'function_call_output', call_id: 'c1', output: '12:30' },
    { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '11:30' }] },
  ];
  t.match(messagesOf({ input }), [
    { role: 'user', content: 'Time?' },
    { role: 'assistant', content: 'Wait.', reasoning_content: 'look', tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c1', content: '12:30' },
    { role: 'tool', tool_call_id: 'c2', content: '11:30' },
  ]);
});

t.test('text.format holds a schema of its own', async (t) => {
  const format = { type: 'json_schema', name: 'x', schema: { type: 'object' } };
  t.equal(read({ text: { format } }).job.jsonSchema, '{"type":"object"}');
});

t.test('a named function is forced', async (t) => {
  const tools = [
    { type: 'function', name: 'a', parameters: { type: 'object' } },
    { type: 'function', name: 'b' },
  ];
  t.match(read({ tools, tool_choice: { type: 'function', name: 'b' } }).job.prompt, {
    toolChoice: 'required',
    toolsJson: /^\[\{"type":"function","function":\{"name":"b"/,
  });
});

t.test('a conversation and truncation are refused, since they are not served', async (t) => {
  const faultOf = (more: object) => check.findFault({ model: 'm', input: 'Hi', ...more }, 'the request body');
  t.match(faultOf({ conversation: 'conv_1' }), { member: 'conversation', isUnsupported: true });
  t.match(faultOf({ truncation: 'auto' }), { member: 'truncation', isUnsupported: true });
  t.match(faultOf({ text: { verbosity: 'low' } }), { member: 'text.verbosity', isUnsupported: true });
  t.equal(faultOf({ truncation: 'disabled', conversation: null, reasoning: { summary: 'auto' } }), undefined);
});

t.test('the output of a function call needs its call_id', async (t) => {
  const input = [{ type: 'function_call_output', output: '4' }];
  t.throws(() => read({ input }), { code: 'invalid_request', param: 'input[0].call_id' });
});

t.test('null is the same as absent', async (t) => {
  const names = Object.keys(ResponsesRequest.properties).filter((name) => name !== 'model' && name !== 'input');
  t.strictSame(read(Object.fromEntries(names.map((name) => [name, null]))), read({}));
});
