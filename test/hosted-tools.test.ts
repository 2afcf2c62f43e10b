/**
 * Tools of the node in the words of OpenAI's Responses and Anthropic's Messages, through their unmodified packages: web search, MCP servers that are
 * registered here, and the approval of a call by the next request.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import { openForeign } from '../ts/server/domains/edge/test-support/foreign-server.ts';
import { send, sendJson } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { BILLED, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(240_000);

interface Body {
  messages: {
    role: string;
    content?: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  }[];
  tools?: { function: { name: string } }[];
  tool_choice?: string;
}
type Response = OpenAI.Responses.Response;
type Tool = OpenAI.Responses.Tool;
type Item = OpenAI.Responses.ResponseInputItem;

const said: string[] = [];
const foreign = await openForeign(t, [
  {
    name: 'note',
    schema: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }) => said.push(String(text)) && `noted ${text}`,
  },
  { name: 'look', schema: { type: 'object' }, run: () => 'a lamp' },
]);
const asked: string[] = [];
const searx = createServer((request, response) => {
  asked.push(request.url ?? '');
  const results = [{ title: 'Hours', url: 'https://arkona.example/hours', content: 'Open from ten to six.' }];
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
});
searx.listen(0, '127.0.0.1');
await once(searx, 'listening');
t.teardown(() => searx.close());

const hosts = 'http://127.0.0.1';
const { url } = await startServer(t, {
  models: {},
  env: { SVC_CLOUD_ALLOWED_HOSTS: hosts, SVC_TOOLS_ALLOWED_HOSTS: hosts, SVC_MCP_ALLOWED_HOSTS: hosts },
});
const model = await startProvider(t, openAiDialect);
model.models = ['actor'];
const root = { username: 'root', password: 'a lighthouse keeper' };
const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', root);
const headers = { authorization: `Bearer ${token}` };
const api = (path: string, method = 'GET', body?: unknown) => send(url + path, { method, headers, body });
await api('/api/v1/cloud/backends', 'POST', { id: 'one', kind: 'openai', base_url: `${model.origin}/v1`, key: 'sk-test' });
while (!(await api('/v1/models')).text.includes('"actor"')) await new Promise((resolve) => setTimeout(resolve, 20));
await api('/api/v1/tools/search', 'PUT', {
  provider: 'searxng',
  url: `http://127.0.0.1:${(searx.address() as AddressInfo).port}`,
});
const { json: added } = await api('/api/v1/tools/mcp-servers', 'POST', {
  label: 'desk',
  url: foreign.url,
  auth: { type: 'none' },
});
await api('/api/v1/tools/mcp-servers/desk/approve', 'POST', { hash: added?.['hash'] });
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, authToken: token, maxRetries: 0 });

const call = (name: string, args: object, id = `call_${name}`) => ({ id, name, arguments: JSON.stringify(args) });
const says = (...texts: string[]) => ({ texts, tokens: BILLED });
const calls = (...list: ReturnType<typeof call>[]) => ({ texts: [], calls: list, finish: 'tool_calls' as const, tokens: BILLED });
const resultIn = ({ messages }: Body) => messages.findLast(({ role }) => role === 'tool')?.content;
/** Calls the tool first, and says what came of it. */
const once_ = (name: string, args: object) => (body: Body) => {
  const result = resultIn(body);
  return result === undefined ? calls(call(name, args)) : says(`I was told: ${result}`);
};

const desk = { type: 'mcp', server_label: 'desk', server_url: foreign.url } as const;
const SEARCH: Tool = { type: 'web_search' };
const ask = (tools: Tool[], more: object = {}): Promise<Response> =>
  openai.responses.create({ model: 'actor', input: 'Note that the lamp is lit.', tools, ...more }) as Promise<Response>;
const typesOf = ({ output }: Response) => output.map(({ type }) => type);
const requestIn = ({ output }: Response) => {
  const found = output.find((item) => item.type === 'mcp_approval_request');
  if (found?.type !== 'mcp_approval_request') throw new Error(`nothing is asked: ${JSON.stringify(output)}`);
  return found;
};
const answering = (id: string, approve: boolean, more: object = {}): Item => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve,
  ...more,
});
const refusalOf = async (work: Promise<unknown>): Promise<{ status?: number; message?: string; param?: string }> =>
  await work.then(
    () => ({ status: 200 }),
    (error: { status?: number; message?: string; param?: string }) => error,
  );
async function eventsOf(stream: AsyncIterable<unknown>): Promise<{ type: string; [name: string]: unknown }[]> {
  const events: { type: string }[] = [];
  for await (const event of stream) events.push(event as { type: string });
  return events;
}

t.test('a call of an MCP server is asked about, runs once where it is approved, and is told as it ended', async (t) => {
  model.say = once_('mcp_desk_note', { text: 'lit' });
  const first = await ask([desk]);
  t.strictSame(typesOf(first), ['mcp_list_tools', 'mcp_approval_request']);
  t.match(first.output, [
    {
      server_label: 'desk',
      tools: [{ name: 'look' }, { name: 'note', input_schema: { properties: { text: { type: 'string' } } } }],
    },
    { server_label: 'desk', name: 'note', arguments: '{"text":"lit"}' },
  ]);
  t.equal(first.status, 'completed');
  t.strictSame(said, []);
  const { id } = requestIn(first);
  const more = { previous_response_id: first.id, input: [answering(id, true)] };
  const second = await ask([desk], more);
  t.strictSame(said, ['lit']);
  t.strictSame(typesOf(second), ['mcp_call', 'message'], 'the list is known already');
  t.match(second.output[0], { approval_request_id: id, name: 'note', output: 'noted lit', error: null, status: 'completed' });
  t.match(second.output_text, /I was told: .*is data from elsewhere.*noted lit/);
  await ask([desk], more);
  t.strictSame(said, ['lit'], 'a decision that is sent again makes no second call');
  model.say = (body: Body) => says(`${body.messages.filter(({ role }) => role === 'tool').length} result`);
  const third = await ask([desk], { previous_response_id: second.id, input: 'And now?' });
  t.equal(third.output_text, '1 result');
  t.strictSame(said, ['lit'], 'what goes on behind it, neither');
});

t.test('a denied call is not made, and the model reads why; without a decision it is told so', async (t) => {
  said.length = 0;
  model.say = once_('mcp_desk_note', { text: 'dark' });
  const first = await ask([desk]);
  const { id } = requestIn(first);
  model.say = (body: Body) => says(String(resultIn(body)));
  const denied = await ask([desk], { previous_response_id: first.id, input: [answering(id, false, { reason: 'not now' })] });
  t.match(denied.output_text, /The person denied the call: not now/);
  t.match((await api('/api/v1/security/approvals?state=denied')).text, /"reason":"not now"/);
  const late = await ask([desk], { previous_response_id: first.id, input: [answering(id, true)] });
  t.match(late.output[0], { type: 'mcp_call', status: 'failed', output: null }, 'a decision is one');
  const left = await ask([desk], { previous_response_id: first.id, input: 'Never mind.' });
  t.match(left.output_text, /Nobody has decided/);
  t.strictSame(said, []);
});

t.test('without stored responses the items are sent back; changed arguments are not what was approved', async (t) => {
  said.length = 0;
  model.say = once_('mcp_desk_note', { text: 'kept' });
  const first = await ask([desk], { store: false });
  const { id } = requestIn(first);
  const items = first.output as Item[];
  const question = { role: 'user', content: 'Note that the lamp is lit.' } as const;
  const forged = items.map((item) => (item.type === 'mcp_approval_request' ? { ...item, arguments: '{"text":"forged"}' } : item));
  const changed = await ask([desk], { store: false, input: [question, ...forged, answering(id, true)] });
  t.match(changed.output[0], { type: 'mcp_call', status: 'failed', error: /of another call/ });
  t.strictSame(said, []);
  const second = await ask([desk], { store: false, input: [question, ...items, answering(id, true)] });
  t.match(second.output[0], { type: 'mcp_call', output: 'noted kept' });
  t.strictSame(said, ['kept']);
});

t.test(
  'policy and client both may ask: what the tenant allows runs at once only where the client wants that as well',
  async (t) => {
    said.length = 0;
    const policy = { rules: [{ tools: ['mcp.desk.*'], decision: 'allow' }], timeout_seconds: 5, taint_exempt: [] };
    await api('/api/v1/tools/policies', 'PUT', policy);
    model.say = once_('mcp_desk_note', { text: 'free' });
    t.match(typesOf(await ask([desk])), ['mcp_list_tools', 'mcp_approval_request'], 'always is the default of that API');
    const free = await ask([{ ...desk, require_approval: 'never' }]);
    t.strictSame(typesOf(free), ['mcp_list_tools', 'mcp_call', 'message']);
    const lists = await ask([
      { ...desk, require_approval: { always: { tool_names: ['look'] }, never: { tool_names: ['note'] } } },
    ]);
    t.match(typesOf(lists), ['mcp_list_tools', 'mcp_call', 'message']);
    t.strictSame(said, ['free', 'free']);
    const only = await ask([{ ...desk, allowed_tools: ['look'], require_approval: 'never' }]);
    t.match(only.output[0], { tools: [{ name: 'look' }] });
    t.equal((only.output[0] as { tools: unknown[] }).tools.length, 1);
    await api('/api/v1/tools/policies', 'PUT', { ...policy, rules: [{ tools: ['mcp.*'], decision: 'ask' }] });
    const asking = await ask([{ ...desk, require_approval: 'never' }]);
    t.match(typesOf(asking), ['mcp_list_tools', 'mcp_approval_request'], 'no client loosens the policy');
    await api('/api/v1/tools/policies', 'PUT', { ...policy, rules: [] });
  },
);

t.test('a stream has the events of lists, calls, requests and searches', async (t) => {
  model.say = once_('mcp_desk_look', {});
  const policy = { rules: [{ tools: ['mcp.desk.look'], decision: 'allow' }], timeout_seconds: 5, taint_exempt: [] };
  await api('/api/v1/tools/policies', 'PUT', policy);
  const open = (tools: Tool[], input = 'Look, please.') =>
    openai.responses.create({ model: 'actor', input, tools, stream: true, include: ['web_search_call.action.sources'] });
  const events = await eventsOf(await open([{ ...desk, require_approval: 'never' }]));
  t.strictSame(
    events.map(({ type }) => type).filter((type) => /mcp|added|done$/.test(type)),
    [
      'response.output_item.added',
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ],
  );
  t.strictSame(
    events.map(({ sequence_number: n }) => n),
    events.map((_, n) => n),
  );
  t.match(events.at(-1), { type: 'response.completed', response: { output: [{}, { type: 'mcp_call', output: 'a lamp' }, {}] } });
  const asks = await eventsOf(await open([desk]));
  t.match(asks.at(-1), { response: { output: [{ type: 'mcp_list_tools' }, { type: 'mcp_approval_request', name: 'look' }] } });
  model.say = (body: Body) =>
    resultIn(body) === undefined
      ? calls(call('web_search', { query: 'Arkona' }))
      : says('See https://arkona.example/hours', ' for more.');
  const searched = await eventsOf(await open([SEARCH], 'When is Arkona open?'));
  t.match(
    searched.map(({ type }) => type).filter((type) => /web_search|annotation/.test(type)),
    [
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_text.annotation.added',
    ],
  );
  const { response } = searched.at(-1) as unknown as { response: Response };
  t.match(response.output, [
    {
      type: 'web_search_call',
      status: 'completed',
      action: { query: 'Arkona', sources: [{ url: 'https://arkona.example/hours' }] },
    },
    { type: 'message', content: [{ annotations: [{ type: 'url_citation', title: 'Hours', start_index: 4, end_index: 32 }] }] },
  ]);
  const stored = await openai.responses.retrieve(response.id);
  t.strictSame(stored.output, response.output);
});

t.test('what was searched stays text of others in what goes on behind it', async (t) => {
  const policy = { rules: [{ tools: ['mcp.desk.*'], decision: 'allow' }], timeout_seconds: 5, taint_exempt: [] };
  await api('/api/v1/tools/policies', 'PUT', policy);
  model.say = once_('web_search', { query: 'Arkona' });
  const first = await ask([SEARCH]);
  model.say = once_('mcp_desk_note', { text: 'told by a page' });
  const free = { ...desk, require_approval: 'never' } as const;
  t.strictSame(typesOf(await ask([free], { previous_response_id: first.id, input: 'Go on.' })).slice(-1), [
    'mcp_approval_request',
  ]);
});

t.test('tool_choice and max_tool_calls are followed', async (t) => {
  const choices: unknown[] = [];
  model.say = ({ tool_choice: choice, tools = [] }: Body) => {
    choices.push([choice ?? 'auto', tools.map(({ function: { name } }) => name)]);
    return choices.length === 1 ? calls(call('web_search', { query: 'x' })) : says('done');
  };
  await ask([SEARCH, desk], { tool_choice: { type: 'web_search' } });
  t.strictSame(choices, [
    ['required', ['web_search']],
    ['auto', ['web_search']],
  ]);
  choices.length = 0;
  model.say = ({ tool_choice: choice }: Body) => {
    choices.push(choice ?? 'auto');
    return choice === 'none' ? says('enough') : calls(call('web_search', { query: `x${choices.length}` }, `c${choices.length}`));
  };
  const few = await ask([SEARCH], { max_tool_calls: 2 });
  t.equal(few.output.filter(({ type }) => type === 'web_search_call').length, 2);
  choices.length = 0;
  model.say = ({ tools = [] }: Body) => says(`${tools.length} tools`);
  t.equal((await ask([SEARCH, desk], { tool_choice: 'none' })).output_text, '0 tools');
});

t.test('what cannot be followed is refused by its name', async (t) => {
  model.say = () => says('hello');
  const param = async (tools: object[], more: object = {}) => {
    const { status, param: name } = await refusalOf(ask(tools as Tool[], more));
    return [status, name];
  };
  t.strictSame(await param([{ ...desk, server_label: 'nobody' }]), [400, 'tools[0].server_label']);
  t.strictSame(await param([{ ...desk, server_url: 'https://elsewhere.example/mcp' }]), [400, 'tools[0].server_url']);
  t.strictSame(await param([{ ...desk, headers: { authorization: 'x' } }]), [400, 'tools[0].headers']);
  t.strictSame(await param([{ ...desk, connector_id: 'connector_gmail' }]), [400, 'tools[0].connector_id']);
  t.strictSame(await param([{ ...desk, allowed_tools: { read_only: true } }]), [400, 'tools[0].allowed_tools.read_only']);
  t.strictSame(await param([{ ...desk, novelty: 1 }]), [400, 'tools[0].novelty']);
  t.strictSame(await param([desk, desk]), [400, 'tools[1]']);
  t.strictSame(await param([{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }]), [400, 'tools[0].filters']);
  t.strictSame(await param([{ type: 'web_search', search_context_size: 'high' }]), [400, 'tools[0].search_context_size']);
  t.strictSame(await param([{ type: 'code_interpreter', container: { type: 'auto' } }]), [400, 'tools[0].type']);
  t.strictSame(await param([SEARCH], { background: true }), [400, 'background']);
  t.strictSame(await param([SEARCH], { input: [answering('mcpr_x', true)] }), [400, 'input[0].approval_request_id']);
  t.strictSame(await param([], { input: [answering('mcpr_x', true)] }), [400, 'input']);
  t.strictSame(await param([SEARCH], { tool_choice: { type: 'mcp', server_label: 'desk' } }), [400, 'tool_choice.server_label']);
});

t.test('a credential that decides nothing approves no call', async (t) => {
  await api('/api/v1/tools/policies', 'PUT', { rules: [], timeout_seconds: 5, taint_exempt: [] });
  said.length = 0;
  const made = await api('/api/v1/identity/capabilities', 'POST', { scopes: ['chat:use', 'tools:use'], expires_in_seconds: 600 });
  const agent = new OpenAI({ baseURL: `${url}/v1`, apiKey: String(made.json?.['token']), maxRetries: 0 });
  model.say = once_('mcp_desk_note', { text: 'by itself' });
  const first = (await agent.responses.create({ model: 'actor', input: 'Note it.', tools: [desk] })) as Response;
  const { id } = requestIn(first);
  const second = agent.responses.create({
    model: 'actor',
    previous_response_id: first.id,
    input: [answering(id, true)],
    tools: [desk],
  });
  t.match(await refusalOf(second), { status: 403 });
  t.strictSame(said, []);
});

const message = (more: object): Anthropic.MessageCreateParamsNonStreaming => ({
  model: 'actor',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'When is Arkona open?' }],
  ...more,
});
const WEB: Anthropic.WebSearchTool20250305 = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };

t.test(
  'Messages: web search has the blocks of that API, whole and in a stream, and comes back in the next request',
  async (t) => {
    model.say = once_('web_search', { query: 'Arkona' });
    const answer = await anthropic.messages.create(message({ tools: [WEB] }));
    t.match(answer.content, [
      { type: 'server_tool_use', name: 'web_search', input: { query: 'Arkona' } },
      {
        type: 'web_search_tool_result',
        content: [{ type: 'web_search_result', url: 'https://arkona.example/hours', title: 'Hours' }],
      },
      { type: 'text', text: /Open from ten to six/ },
    ]);
    t.match(answer.usage.server_tool_use, { web_search_requests: 1 });
    const stream = anthropic.messages.stream(message({ tools: [WEB] }));
    const final = await stream.finalMessage();
    t.strictSame(
      final.content.map(({ type }) => type),
      ['server_tool_use', 'web_search_tool_result', 'text'],
    );
    t.match(final.content[0], { input: { query: 'Arkona' } });
    model.say = (body: Body) => says(JSON.stringify(body.messages.filter(({ role }) => role !== 'user')));
    const next = await anthropic.messages.create(
      message({
        messages: [
          { role: 'user', content: 'When is Arkona open?' },
          { role: 'assistant', content: answer.content },
          { role: 'user', content: 'Thanks.' },
        ],
      }),
    );
    const [block] = next.content;
    const earlier = JSON.parse(block?.type === 'text' ? block.text : '[]') as Body['messages'];
    t.match(earlier, [
      { role: 'assistant', tool_calls: [{ function: { name: 'web_search', arguments: '{"query":"Arkona"}' } }] },
      { role: 'tool', content: /is data from elsewhere.*Open from ten to six/ },
      { role: 'assistant' },
    ]);
  },
);

t.test('Messages: the header lets other tools run, by the rules of chats; what cannot be followed is refused', async (t) => {
  const policy = { rules: [{ tools: ['mcp.desk.look'], decision: 'allow' }], timeout_seconds: 5, taint_exempt: [] };
  await api('/api/v1/tools/policies', 'PUT', policy);
  const withHeader = { headers: { 'x-svc-edge-tools': '1' } };
  model.say = once_('mcp_desk_look', {});
  const answer = await anthropic.messages.create(message({ edge_tools: ['mcp.desk.look'] }), withHeader);
  t.match(answer.content, [
    { type: 'mcp_tool_use', server_name: 'desk', name: 'look' },
    { type: 'mcp_tool_result', is_error: false, content: [{ text: 'a lamp' }] },
    { type: 'text' },
  ]);
  said.length = 0;
  model.say = once_('mcp_desk_note', { text: 'unasked' });
  const denied = await anthropic.messages.stream(message({ edge_tools: ['mcp.desk.note'] }), withHeader).finalMessage();
  t.match(denied.content[1], { type: 'mcp_tool_result', is_error: true, content: [{ text: /nobody decided within 5 s/ }] });
  t.strictSame(said, []);
  const refused = async (body: object) => String((await refusalOf(anthropic.messages.create(message(body)))).message);
  t.match(await refused({ edge_tools: ['web.search'] }), /X-Svc-Edge-Tools/);
  t.match(await refused({ tools: [{ ...WEB, allowed_domains: ['a.example'] }] }), /allowed_domains cannot be followed/);
  t.match(
    await refused({ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }),
    /must be custom or web_search_20250305/,
  );
  await api('/api/v1/tools/search', 'DELETE');
  t.match(await refused({ tools: [WEB] }), /web search, which you cannot use/);
});
