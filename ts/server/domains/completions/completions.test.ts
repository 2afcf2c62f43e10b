/** The whole module and the one of the models behind their routes, with a scripted engine and no sockets. */
import t, { type Test } from 'tap';
import type { ModelInfo } from '../../native/llama-shapes.ts';
import { CpuUnsupportedError } from '../../native/load.ts';
import { NativeError } from '../../native/native-error.ts';
import type { HttpError } from '../../platform/http/errors.ts';
import type { BytesReply, Reply, Route } from '../../platform/http/route.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import type { ToolRuns } from '../edge/index.ts';
import type { CompletionSink, StoredModel } from '../inference/index.ts';
import { ScriptedBinding, scriptedUsage } from '../inference/test-support/scripted-engine.ts';
import { scriptedInspector, sourceOf, storedModel } from '../inference/test-support/stored-models.ts';
import { ScriptedStream } from './answer/test-support/scripted-stream.ts';
import { completionsForTest } from './test-support/completions-for-test.ts';
import { callRoute } from './test-support/response-node.ts';

const messages = [{ role: 'user', content: 'Hello' }];

function sayHello(sink: CompletionSink): void {
  sink.onStart(7, 2);
  sink.onContent(0, Buffer.from('Hello\\n'));
  sink.onFinish(0, 'stop', '');
  sink.onDone(scriptedUsage);
}

function setUp(
  t: Test,
  kinds: Record<string, StoredModel['kind']> = { 'tiny-chat': 'chat' },
  { supportsTools = true, callArguments = 'json' as ModelInfo['callArguments'] } = {},
) {
  const folder = t.testdir(Object.fromEntries(Object.keys(kinds).map((id) => [`${id}.gguf`, 'x'])));
  const models = Object.entries(kinds).map(
    ([id, kind]): StoredModel => ({ ...storedModel(folder, id, kind), demonstration: 'It talks nonsense.' }),
  );
  const binding = new ScriptedBinding();
  binding.info = { supportsTools, callArguments };
  binding.engine.script = sayHello;
  const metrics = new MetricsRegistry();
  const source = sourceOf(models);
  const make = async (tenants?: TenantRules) => {
    const module = await completionsForTest({
      overrides: { source, binding, inspector: scriptedInspector({ supportsTools, callArguments }) },
      settings: { default_model: models[0]?.id ?? '' },
      dataDir: folder,
      metrics,
      ...(tenants ? { tenants } : {}),
    });
    t.teardown(() => module.stop());
    return module;
  };
  return { binding, metrics, make };
}

function call(
  routes: readonly Route[],
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  params = {},
  signal = new AbortController().signal,
): Promise<Reply> {
  return callRoute(routes, method, path, body, { headers, params, signal });
}

/** A client asks for a chat and goes away when the engine has begun. */
async function leaveWhileItAnswers(t: Test, binding: ScriptedBinding, routes: readonly Route[]): Promise<void> {
  binding.engine.script = (sink) => sink.onStart(7, 0);
  const aborter = new AbortController();
  const chat = call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }, {}, {}, aborter.signal);
  while (binding.engine.jobs.length === 0) await new Promise(setImmediate);
  aborter.abort();
  await t.rejects(chat, { code: 'client_closed' });
}

const bodyOf = (reply: Reply) => JSON.parse(String((reply as BytesReply).body)) as Record<string, unknown>;

t.test('a chat is answered whole, by another model when the one asked for is not there', async (t) => {
  const { routes } = await setUp(t).make();
  const reply = await call(routes, 'POST', '/v1/chat/completions', { model: 'gpt\n4', messages });
  t.strictSame(reply.kind === 'bytes' && reply.headers, {
    'content-type': 'application/json',
    'x-svc-edge-tools': 'passthrough',
    'x-svc-model-substituted': 'gpt%0A4 -> tiny-chat',
  });
  t.match(bodyOf(reply), {
    model: 'tiny-chat',
    choices: [{ message: { role: 'assistant', content: 'Hello\n', refusal: null }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  });
});

t.test('a chat is streamed', async (t) => {
  const { routes, tools } = await setUp(t).make();
  tools.switch({ runs: { offered: async () => [], isTainted: async () => false } as unknown as ToolRuns });
  const reply = await call(
    routes,
    'POST',
    '/v1/chat/completions',
    { model: 'tiny-chat', messages, stream: true },
    { 'x-svc-edge-tools': '1' },
  );
  if (reply.kind !== 'events') return t.fail('no stream');
  t.strictSame(reply.headers, { 'x-svc-edge-tools': 'on' });
  const stream = new ScriptedStream();
  reply.start(stream);
  t.match(stream.text, /"role":"assistant".*"content":"Hello\\n".*"finish_reason":"stop".*data: \[DONE\]\n\n$/s);
});

t.test('tools of the node are refused while the module that runs them is off', async (t) => {
  const { routes } = await setUp(t).make();
  const body = { model: 'tiny-chat', messages };
  const refused = call(routes, 'POST', '/v1/chat/completions', body, { 'x-svc-edge-tools': '1' });
  await t.rejects(refused, { code: 'tools_unavailable' });
  const narrowed = call(routes, 'POST', '/v1/chat/completions', { ...body, edge_tools: ['knowledge.search'] });
  await t.rejects(narrowed, { code: 'invalid_request', param: 'edge_tools' });
});

t.test('calls come with content null and their arguments as text', async (t) => {
  const { binding, make } = setUp(t);
  binding.engine.script = (sink) => {
    sink.onToolCall(0, 0, 'call_1', 'now');
    sink.onFinish(0, 'tool_calls', '');
    sink.onDone(scriptedUsage);
  };
  const tools = [{ type: 'function', function: { name: 'now' } }];
  const reply = await call((await make()).routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages, tools });
  const call1 = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } };
  t.match(bodyOf(reply), { choices: [{ message: { content: null, tool_calls: [call1] }, finish_reason: 'tool_calls' }] });
});

const clock = { name: 'now', description: 'Tells the time.' };
/** Each API's request with a tool, and the same where it must be called. */
const toolRequests = [
  ['/v1/chat/completions', { messages, tools: [{ type: 'function', function: clock }] }, { tool_choice: 'required' }],
  ['/v1/responses', { input: 'Hello', store: false, tools: [{ type: 'function', ...clock }] }, { tool_choice: 'required' }],
  [
    '/v1/messages',
    { messages, max_tokens: 9, tools: [{ ...clock, input_schema: { type: 'object' } }] },
    { tool_choice: { type: 'any' } },
  ],
] as const;
const headersOf = (reply: Reply) => ('headers' in reply ? reply.headers : {}) ?? {};

t.test('a model that cannot call tools answers in text without them, and refuses where one must be called', async (t) => {
  const { binding, make } = setUp(t, { 'tiny-chat': 'chat' }, { supportsTools: false });
  const { routes } = await make();
  for (const [path, body, forced] of toolRequests) {
    for (const stream of [false, true]) {
      const reply = await call(routes, 'POST', path, { model: 'tiny-chat', ...body, stream });
      t.match(headersOf(reply), { 'x-svc-tools-ignored': 'unsupported' }, path);
      const { prompt, toolSchemas } = binding.engine.jobs.at(-1)?.job ?? {};
      t.equal(prompt?.kind === 'chat' ? prompt.toolsJson : 'none', undefined);
      t.equal(toolSchemas, undefined);
    }
    await t.rejects(call(routes, 'POST', path, { model: 'tiny-chat', ...body, ...forced }), {
      status: 422,
      code: 'model_cannot_tool_call',
      extra: { supported_models: [] },
    });
  }
  const [, , [, { max_tokens: _, ...counted }]] = toolRequests;
  const count = await call(routes, 'POST', '/v1/messages/count_tokens', { model: 'tiny-chat', ...counted });
  t.match(headersOf(count), { 'x-svc-tools-ignored': 'unsupported' });
  t.strictSame(bodyOf(count), { input_tokens: JSON.stringify(messages).length }, 'what is left out is not counted');
});

t.test('tools that do not fit into the context beside the messages are left out, unless one must be called', async (t) => {
  const { binding, make } = setUp(t);
  const { routes } = await make();
  const long = { name: 'now', description: 'x'.repeat(8_192) };
  const tools = [{ type: 'function', function: long }];
  const body = { model: 'tiny-chat', messages, tools };
  const toolsOf = () => {
    const { prompt } = binding.engine.jobs.at(-1)?.job ?? {};
    return prompt?.kind === 'chat' ? prompt.toolsJson : undefined;
  };
  const reply = await call(routes, 'POST', '/v1/chat/completions', body);
  t.match(headersOf(reply), { 'x-svc-tools-ignored': 'too_long' });
  t.equal(toolsOf(), undefined);
  const forced = await call(routes, 'POST', '/v1/chat/completions', { ...body, tool_choice: 'required' });
  t.notOk('x-svc-tools-ignored' in headersOf(forced));
  t.not(toolsOf(), undefined);
  const fitting = { type: 'function', function: { ...long, description: 'x'.repeat(7_000) } };
  t.notOk('x-svc-tools-ignored' in headersOf(await call(routes, 'POST', '/v1/chat/completions', { ...body, tools: [fitting] })));
  t.not(toolsOf(), undefined);
});

t.test('a full queue is a 429 that says when to retry, for SDKs in milliseconds', async (t) => {
  const { binding, make } = setUp(t);
  binding.engine.refusal = new NativeError({ code: 'queue_full', text: 'busy', details: { retryAfterMs: 1200 } });
  await t.rejects(call((await make()).routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }), {
    status: 429,
    code: 'queue_full',
    headers: { 'retry-after': '2', 'retry-after-ms': '1200' },
  });
});

t.test('a refused job gives its hold on the model back', async (t) => {
  const { binding, make } = setUp(t);
  const { routes } = await make();
  binding.engine.refusal = new NativeError({ code: 'queue_full', text: 'busy' });
  await t.rejects(call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }));
  const detail = await call(routes, 'GET', '/api/v1/inference/models/{id}', undefined, {}, { id: 'tiny-chat' });
  t.match(bodyOf(detail), { state: 'loaded', requests: 0, pinned: true, engine: { n_ctx: 8_192 } });
});

t.test('X-Request-Timeout reaches the engine, and nonsense in it is a 400', async (t) => {
  const { binding, make } = setUp(t);
  const { routes } = await make();
  await call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }, { 'x-request-timeout': '2.5' });
  const { timeoutMs = 0 } = binding.engine.jobs[0]?.job ?? {};
  t.ok(timeoutMs > 1000 && timeoutMs <= 2500, `${timeoutMs} ms`);
  const refused = call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }, { 'x-request-timeout': '1e9' });
  await t.rejects(refused, { status: 400, code: 'invalid_request', param: 'X-Request-Timeout' });
});

t.test('service_tier is a priority, for tenants that may use priority', async (t) => {
  const prioritiesOf = async (tenants?: TenantRules) => {
    const { binding, make } = setUp(t);
    const { routes } = await make(tenants);
    for (const tier of ['flex', 'priority', 'auto']) {
      const body = { model: 'tiny-chat', service_tier: tier };
      await call(routes, 'POST', '/v1/chat/completions', { ...body, messages });
      await call(routes, 'POST', '/v1/responses', { ...body, input: 'Hello', store: false });
      await call(routes, 'POST', '/v1/messages', { ...body, messages, max_tokens: 9 });
    }
    return binding.engine.jobs.map(({ job }) => job.priority);
  };
  const byDefault = [undefined, undefined, undefined];
  t.strictSame(await prioritiesOf(), [-1, -1, -1, 1, 1, 1, ...byDefault]);
  const rules = { exists: async () => true, tokensPerMinute: () => undefined, allowsPriority: () => false };
  t.strictSame(await prioritiesOf(rules), [-1, -1, -1, 0, 0, 0, ...byDefault]);
});

t.test('an unknown adapter is a 400', async (t) => {
  const { routes } = await setUp(t).make();
  const body = { model: 'tiny-chat', messages, lora: [{ id: 0, scale: 1 }] };
  await t.rejects(call(routes, 'POST', '/v1/chat/completions', body), { status: 400, code: 'invalid_request', param: 'lora' });
});

t.test('embeddings: floats, base64 and fewer dimensions of length 1', async (t) => {
  const { routes } = await setUp(t, { 'bge-m3-q8_0': 'embedding' }).make();
  const embed = async (members: object) =>
    bodyOf(await call(routes, 'POST', '/v1/embeddings', { model: 'bge-m3', input: ['a', 'b'], ...members }));
  t.match(await embed({}), {
    model: 'bge-m3-q8_0',
    data: [{ index: 0, embedding: [3, 4, 0] }, { index: 1 }],
    usage: { prompt_tokens: 4 },
  });
  const bytes = Buffer.from(new Float32Array([3, 4, 0]).buffer).toString('base64');
  t.match(await embed({ encoding_format: 'base64' }), { data: [{ embedding: bytes }] });
  const { data } = (await embed({ dimensions: 2 })) as { data: { embedding: number[] }[] };
  t.strictSame(
    data[0]?.embedding.map((value) => value.toFixed(6)),
    ['0.600000', '0.800000'],
  );
  await t.rejects(embed({ dimensions: 4 }), { status: 400, code: 'invalid_request', param: 'dimensions' });
  await t.rejects(embed({ input: [[1, -1]] }), { status: 400, code: 'invalid_request', param: 'input[0][1]' });
});

t.test('ranking sorts, cuts and repeats documents on demand', async (t) => {
  const { routes } = await setUp(t, { ranker: 'rerank' }).make();
  const body = { model: 'ranker', query: 'q', documents: ['ccc', { text: 'a' }, 'bb'], top_n: 2, return_documents: true };
  t.match(bodyOf(await call(routes, 'POST', '/v1/rerank', body)), {
    results: [
      { index: 1, relevance_score: -1, document: { text: 'a' } },
      { index: 2, relevance_score: -2 },
    ],
    usage: { prompt_tokens: 12, total_tokens: 12 },
  });
});

t.test('tokens go there and back', async (t) => {
  const { routes } = await setUp(t).make();
  t.strictSame(bodyOf(await call(routes, 'POST', '/tokenize', { content: 'abc' })), { tokens: [0, 1, 2] });
  const pieces = bodyOf(await call(routes, 'POST', '/tokenize', { content: 'ab', with_pieces: true }));
  t.strictSame(pieces, {
    tokens: [
      { id: 0, piece: '<0>' },
      { id: 1, piece: '<1>' },
    ],
  });
  t.strictSame(bodyOf(await call(routes, 'POST', '/detokenize', { tokens: [4, 5] })), { content: '<4><5>' });
});

t.test('the list marks the default model, and no other', async (t) => {
  const { routes } = await setUp(t, { 'z-chat': 'chat', 'a-chat': 'chat' }).make();
  const { data } = bodyOf(await call(routes, 'GET', '/v1/models')) as { data: { id: string; default?: boolean }[] };
  t.strictSame(Object.fromEntries(data.map(({ id, default: isDefault }) => [id, isDefault])), {
    'z-chat': true,
    'a-chat': undefined,
  });
});

t.test('the list says what each model can do and that it talks nonsense', async (t) => {
  const { routes } = await setUp(t, { 'tiny-chat': 'chat', emb: 'embedding' }).make();
  t.match(bodyOf(await call(routes, 'GET', '/v1/models')), {
    object: 'list',
    data: [
      {
        id: 'tiny-chat',
        object: 'model',
        created: 5,
        owned_by: 'local',
        capabilities: ['chat', 'tools'],
        context_length: 8_192,
        trained_context_length: 512,
        note: 'It talks nonsense.',
      },
      { id: 'emb', capabilities: ['embeddings'] },
    ],
  });
});

t.test('the list of models says which are kept in memory', async (t) => {
  const { make } = setUp(t);
  const { routes } = await make();
  const pinned = async () => {
    const { models } = bodyOf(await call(routes, 'GET', '/api/v1/models')) as { models: { id: string; pinned: boolean }[] };
    return models.find(({ id }) => id === 'tiny-chat')?.pinned;
  };
  t.equal(await pinned(), true, 'the default model is');
  await call(routes, 'PUT', '/api/v1/inference/models/{id}/pin', { pinned: false }, {}, { id: 'tiny-chat' });
  t.equal(await pinned(), false);
});

t.test('a model is loaded and unloaded on demand', async (t) => {
  const { binding, make } = setUp(t);
  const { routes } = await make();
  const act = (action: string) =>
    call(routes, 'POST', `/api/v1/inference/models/{id}/${action}`, undefined, {}, { id: 'tiny-chat' });
  t.match(bodyOf(await act('load')), { state: 'loaded' });
  t.match(bodyOf(await act('unload')), { state: 'unloaded' });
  t.equal(binding.closed.length, 1);
  const missing = call(routes, 'POST', '/api/v1/inference/models/{id}/load', undefined, {}, { id: 'x' });
  await t.rejects(missing, { status: 404, code: 'model_not_found' });
});

t.test('the metrics time tokens and count them by model', async (t) => {
  const { binding, metrics, make } = setUp(t);
  const { routes } = await make();
  await call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages });
  binding.engine.refusal = new NativeError({ code: 'queue_full', text: 'busy' });
  await t.rejects(call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }));
  const text = metrics.expose();
  t.match(text, 'svc_inference_requests_total{model="tiny-chat",operation="chat",outcome="queue_full"} 1');
  t.match(text, 'svc_inference_tokens_total{model="tiny-chat",kind="completion"} 3');
  t.match(text, 'svc_inference_requests_total{model="tiny-chat",operation="chat",outcome="ok"} 1');
  t.match(text, /svc_inference_kv_cells\{model="tiny-chat"\} 512/);
});

t.test('the metrics count what failed, embeddings and clients that left included', async (t) => {
  const { binding, metrics, make } = setUp(t, { 'tiny-chat': 'chat', emb: 'embedding' });
  const { routes } = await make();
  await leaveWhileItAnswers(t, binding, routes);
  binding.embedder = {
    ...binding.embedder,
    embed: () => Promise.reject(new NativeError({ code: 'queue_full', text: 'busy' })),
    rank: () => Promise.reject(new NativeError({ code: 'queue_full', text: 'busy' })),
  };
  await t.rejects(call(routes, 'POST', '/v1/embeddings', { model: 'emb', input: 'a' }), { status: 429, code: 'queue_full' });
  const text = metrics.expose();
  t.match(text, 'svc_inference_requests_total{model="tiny-chat",operation="chat",outcome="client_closed"} 1');
  t.match(text, 'svc_inference_requests_total{model="emb",operation="embeddings",outcome="queue_full"} 1');
});

t.test('texts that nobody waits for are embedded in turns of their own', async (t) => {
  const { binding, make } = setUp(t, { emb: 'embedding' });
  const turns: string[] = [];
  const { embed } = binding.embedder;
  binding.embedder = {
    ...binding.embedder,
    embed: (inputs, options) => {
      turns.push(options.tenant);
      return embed(inputs, options);
    },
  };
  const { service } = await make();
  const model = await service.resolve({ ability: 'embeddings', model: 'emb' }, { kind: 'work' });
  const options = { tenant: 'red', signal: new AbortController().signal };
  await service.embed(model, ['a'], options);
  await service.embed(model, ['a'], { ...options, isBackground: true });
  t.strictSame(turns, ['red', 'red\nbackground']);
});

t.test('a client that leaves while its answer is made frees the model', async (t) => {
  const { binding, make } = setUp(t);
  const { routes } = await make();
  await leaveWhileItAnswers(t, binding, routes);
  t.match(binding.engine.calls, ['cancel 1']);
  const detail = await call(routes, 'GET', '/api/v1/inference/models/{id}', undefined, {}, { id: 'tiny-chat' });
  t.match(bodyOf(detail), { requests: 0 });
});

t.test('on a processor without AVX2 the node lives and local models are a 503 with the reason', async (t) => {
  const { binding, make } = setUp(t);
  binding.unavailableReason = new CpuUnsupportedError('cpu_lacks_avx2', ['avx2']);
  const inference = await make();
  t.equal(inference.ready(), undefined);
  t.match(await inference.health(), {
    state: { local_models: 'cpu_lacks_avx2', reason: /AVX2/ },
    reasons: [{ code: 'cpu_lacks_avx2' }],
  });
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'tiny-chat', messages }],
    ['/v1/embeddings', { model: 'x', input: 'a' }],
    ['/tokenize', { content: 'a' }],
  ] as const) {
    await t.rejects(call(inference.routes, 'POST', path, body), { status: 503, code: 'cpu_lacks_avx2' });
  }
  t.match(bodyOf(await call(inference.routes, 'GET', '/v1/models')), { data: [{ id: 'tiny-chat' }] });
});

t.test('what is no known failure keeps its text from the client', async (t) => {
  const { binding, make } = setUp(t);
  binding.gate = Promise.reject(new Error('/secret/path'));
  binding.gate.catch(() => {});
  const { routes } = await make();
  const error = await call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages }).catch(
    (caught: HttpError) => caught,
  );
  t.match(error, { status: 500, code: 'internal' });
  t.notMatch((error as HttpError).message, /secret/);
});

t.test('what a model does not follow of a tool by how it writes calls is refused with strict, and named without', async (t) => {
  const either = { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'integer' }] };
  const tool = (strict: boolean) => {
    const parameters = { type: 'object', properties: { either }, required: ['either'] };
    return { type: 'function', function: { name: 'set', strict, parameters } };
  };
  const ignored = {
    json: undefined,
    tagged: 'tools[0].function.parameters#/properties/either/anyOf',
    free: 'tools[0].function.parameters#/properties',
  };
  for (const callArguments of ['json', 'tagged', 'free'] as const) {
    const { routes } = await setUp(t, undefined, { callArguments }).make();
    const ask = (strict: boolean) =>
      call(routes, 'POST', '/v1/chat/completions', { model: 'tiny-chat', messages, tools: [tool(strict)] });
    const reply = await ask(false);
    t.equal(reply.kind === 'bytes' && reply.headers?.['x-svc-schema-ignored'], ignored[callArguments], callArguments);
    if (ignored[callArguments] === undefined) t.equal((await ask(true)).kind, 'bytes');
    else await t.rejects(ask(true), { code: 'schema_not_supported', message: /tool set.* the model writes arguments/ });
  }
});
