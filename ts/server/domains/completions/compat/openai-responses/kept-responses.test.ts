/** Responses that are kept, through the routes, with a scripted engine and a real database. */
import t from 'tap';
import { scriptedUsage } from '../../../inference/test-support/scripted-engine.ts';
import { type Members, type ResponseNode, sayHello, startResponseNode } from '../../test-support/response-node.ts';
import { maxKeptLength } from './kept-items.ts';

const one = '/v1/responses/{id}';
const items = '/v1/responses/{id}/input_items';

async function create(node: ResponseNode, body: Members = {}, tenant = 'default'): Promise<Members & { id: string }> {
  return (await node.json('POST', '/v1/responses', { model: 'm', input: 'Hi', ...body }, { tenant })) as Members & { id: string };
}

/** Returns the prompt of the engine's last job. */
function promptOf({ binding }: ResponseNode): unknown {
  const prompt = binding.engine.jobs.at(-1)?.job.prompt;
  return prompt?.kind === 'chat' ? JSON.parse(String(prompt.messagesJson)) : undefined;
}

t.test('an answer is kept by default and read again as it was', async (t) => {
  const node = await startResponseNode(t);
  const created = await create(node, { metadata: { a: '1' } });
  t.match(created, { store: true, status: 'completed', previous_response_id: null, metadata: { a: '1' } });
  t.strictSame(await node.json('GET', one, undefined, { params: { id: created.id } }), created);
});

t.test('a streamed answer is kept as its last event has it', async (t) => {
  const node = await startResponseNode(t);
  const stream = await node.follow('POST', '/v1/responses', { model: 'm', input: 'Hi', stream: true });
  while (!stream.isEnded) await new Promise(setImmediate);
  const last = stream.text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '';
  const { type, response } = JSON.parse(last) as { type: string; response: Members };
  t.equal(type, 'response.completed');
  t.strictSame(await node.json('GET', one, undefined, { params: { id: response['id'] } }), response);
});

t.test('store: false keeps nothing', async (t) => {
  const node = await startResponseNode(t);
  const { id, store } = await create(node, { store: false });
  t.equal(store, false);
  await t.rejects(node.call('GET', one, undefined, { params: { id } }), { status: 404, code: 'response_not_found' });
});

t.test('an answer that continues another one begins with its items and not with its instructions', async (t) => {
  const node = await startResponseNode(t);
  const first = await create(node, { instructions: 'Be brief' });
  const second = await create(node, { previous_response_id: first.id, input: 'And?' });
  t.equal(second['previous_response_id'], first.id);
  const third = await create(node, { previous_response_id: second.id, input: 'So?', instructions: 'Be kind', store: false });
  t.equal(third['store'], false);
  t.match(promptOf(node), [
    { role: 'system', content: 'Be kind' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'So?' },
  ]);
});

t.test('the result of a call may come with the next response', async (t) => {
  const node = await startResponseNode(t);
  node.binding.engine.script = (sink) => {
    sink.onStart(7, 2);
    sink.onToolCall(0, 0, 'call_1', 'now');
    sink.onFinish(0, 'tool_calls', '');
    sink.onDone(scriptedUsage);
  };
  const tools = [{ type: 'function', name: 'now' }];
  const { id } = await create(node, { tools });
  node.binding.engine.script = sayHello;
  const input = [{ type: 'function_call_output', call_id: 'call_1', output: '12:30' }];
  await create(node, { previous_response_id: id, tools, input });
  t.match(promptOf(node), [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '12:30' },
  ]);
});

t.test('what cannot be continued is refused as OpenAI does', async (t) => {
  const node = await startResponseNode(t);
  const refusal = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' };
  const foreign = await create(node, {}, 'other');
  for (const id of [foreign.id, 'resp_000000000000000000000000', 'nonsense', '\0', "' or 1=1"])
    await t.rejects(create(node, { previous_response_id: id }), refusal, JSON.stringify(id));
  const first = await create(node);
  const middle = await create(node, { previous_response_id: first.id });
  const last = await create(node, { previous_response_id: middle.id });
  await node.call('DELETE', one, undefined, { params: { id: middle.id } });
  await t.rejects(create(node, { previous_response_id: last.id }), { ...refusal, message: new RegExp(middle.id) });
  t.match(await node.json('GET', one, undefined, { params: { id: last.id } }), { id: last.id }, 'it can still be read');
});

t.test('a response is deleted once, and by its tenant alone', async (t) => {
  const node = await startResponseNode(t);
  const { id } = await create(node);
  const notFound = { status: 404, code: 'response_not_found' };
  for (const [method, path] of [
    ['GET', one],
    ['DELETE', one],
    ['GET', items],
    ['POST', `${one}/cancel`],
  ] as const)
    await t.rejects(node.call(method, path, undefined, { params: { id }, tenant: 'other' }), notFound, `${method} ${path}`);
  t.strictSame(await node.json('DELETE', one, undefined, { params: { id } }), { id, object: 'response', deleted: true });
  await t.rejects(node.call('DELETE', one, undefined, { params: { id } }), notFound);
  await t.rejects(node.call('GET', items, undefined, { params: { id: 'x\0' } }), notFound);
});

t.test('input items come newest first, in pages, with those of the responses before', async (t) => {
  const node = await startResponseNode(t);
  const first = await create(node);
  const input = [
    { role: 'user', content: 'a', id: 'mine' },
    { role: 'user', content: [{ type: 'input_text', text: 'b' }] },
  ];
  const { id } = await create(node, { previous_response_id: first.id, input });
  const list = (query: Members) => node.json('GET', items, undefined, { params: { id }, query });
  const textsOf = ({ data }: Members) => (data as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text);
  const all = await list({});
  t.strictSame(textsOf(all), ['b', 'a', 'Hello', 'Hi']);
  t.match(all, { object: 'list', has_more: false });
  const page = await list({ order: 'asc', limit: 3 });
  t.match(page, { has_more: true, last_id: 'mine' });
  t.strictSame(textsOf(await list({ order: 'asc', after: 'mine' })), ['b']);
  t.match(await list({ after: (all['data'] as { id: string }[])[3]?.id }), { data: [], first_id: null, has_more: false });
  await t.rejects(list({ after: 'none' }), { status: 400, code: 'invalid_request', param: 'after' });
});

t.test('a server that keeps nothing says so', async (t) => {
  const node = await startResponseNode(t, { settings: { 'inference.responses_keep_days': 0 } });
  const { id, store } = await create(node, { store: true });
  t.equal(store, false);
  await t.rejects(create(node, { previous_response_id: id }), { status: 400, message: /responses_keep_days is 0/ });
  await t.rejects(create(node, { background: true }), { status: 400, code: 'invalid_request', param: 'background' });
});

t.test('an input that is too large is answered and not kept, unless the client insists', async (t) => {
  const node = await startResponseNode(t);
  const input = 'x'.repeat(maxKeptLength + 1);
  t.match(await create(node, { input }), { store: false });
  await t.rejects(create(node, { input, store: true }), { status: 400, code: 'invalid_request', param: 'store' });
});

t.test('while the database is out of order, nothing is said to be kept', async (t) => {
  const node = await startResponseNode(t);
  await node.storage.close();
  const refusal = { status: 503, code: 'storage_unavailable' };
  await t.rejects(create(node), refusal);
  await t.rejects(create(node, { background: true }), refusal);
  t.match(await create(node, { store: false }), { status: 'completed' });
  const stream = await node.follow('POST', '/v1/responses', { model: 'm', input: 'Hi', stream: true });
  while (!stream.isEnded) await new Promise(setImmediate);
  t.match(stream.text, /event: response.output_text.delta/);
  t.match(stream.text, /event: response.failed\ndata: .*"code":"storage_unavailable"/);
  t.notMatch(stream.text, /event: response.completed/);
});
