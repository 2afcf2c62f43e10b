/** Models of a provider behind our API: registered, asked, billed, and failing in every way that a provider can. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { type HttpAnswer, post, send, sendJson } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { BILLED, type Fault, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(300_000);

const KEY = 'sk-planted-0123456789abcdef';
const BACKENDS = '/api/v1/cloud/backends';

const { url } = await startServer(t, {
  models: {},
  env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SPARE_API_KEY: 'sk-spare-0000000000000000', SVC_LOG_LEVEL: 'debug' },
});
const one = await startProvider(t, openAiDialect);
const two = await startProvider(t, openAiDialect);
two.models = ['model-b', 'spare'];

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const messages = [{ role: 'user', content: 'Name three colours.' }] as const;

const timeouts = { connect_ms: 1000, first_byte_ms: 700, idle_ms: 700 };
const backend = (id: string, base: string, more: object = {}) => ({
  id,
  kind: 'openai',
  base_url: `${base}/v1`,
  timeouts,
  key: KEY,
  ...more,
});
const chat = (model: string, more: object = {}): Promise<HttpAnswer> =>
  post(`${url}/v1/chat/completions`, { model, messages, stream: true, ...more });

/** Waits until the background has listed the models. */
async function whenOffered(id: string, model: string): Promise<void> {
  for (;;) {
    const { models } = await sendJson<{ models: { id: string }[] }>(url, `${BACKENDS}/${id}`);
    if (models.some((offered) => offered.id === model)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test('a backend is registered, and its answer has no key', async (t) => {
  const prices = { 'model-a': { input: '1.5', output: '2', cache_read: '0.25', currency: 'EUR' } };
  const made = await post(
    url + BACKENDS,
    backend('one', one.origin, { headers: { 'X-Team': 'blue' }, prices, model_filter: { alias: { fast: 'model-a' } } }),
  );
  t.equal(made.status, 201, made.text);
  t.match(made.json, {
    id: 'one',
    kind: 'openai',
    base_url: `${one.origin}/v1`,
    key_present: true,
    headers: { 'x-team': 'set' },
    limits: { concurrent: 64, requests_per_minute: null },
    enabled: true,
    serving_state_reason: null,
  });
  t.notMatch(made.text, /planted|blue/);
  t.notHas(made.json, 'key');
  await whenOffered('one', 'model-a');
  t.match(one.asked[0], { path: '/v1/models', headers: { authorization: `Bearer ${KEY}`, 'x-team': 'blue' } });
  const { data } = await sendJson<{ data: { id: string; backend?: string; state: string; serving_state: string }[] }>(
    url,
    '/v1/models',
  );
  t.strictSame(
    data.map(({ id, state, backend, serving_state }) => [id, state, backend, serving_state]).sort(),
    ['fast', 'model-a', 'model-b'].map((id) => [id, 'remote', 'one', 'ok']),
  );
  t.match(await sendJson(url, `${BACKENDS}/public`), { data: [{ id: 'one', kind: 'openai', serving_state: 'ok' }] });
  t.match(await sendJson(url, `${BACKENDS}/unconfigured-keys`), { data: ['SPARE_API_KEY'] });
});

t.test('what cannot be registered is refused by its member', async (t) => {
  const refusals: [object, number, string, string | undefined][] = [
    [backend('one', one.origin), 409, 'backend_exists', 'id'],
    [backend('x', 'http://10.1.2.3'), 400, 'address_refused', 'base_url'],
    [backend('x', 'https://me:pw@api.example'), 400, 'address_refused', 'base_url'],
    [{ ...backend('x', one.origin), base_url: one.origin }, 400, 'invalid_request', 'base_url'],
    [{ ...backend('x', one.origin), api_key_env: 'SPARE_API_KEY' }, 400, 'invalid_request', 'api_key_env'],
    [{ ...backend('x', one.origin), key: undefined, api_key_env: 'PATH' }, 400, 'invalid_request', 'api_key_env'],
    [backend('x', one.origin, { headers: { Host: 'evil' } }), 400, 'invalid_request', 'headers.Host'],
    [backend('x', one.origin, { model_filter: { alias: { '../x': 'a' } } }), 400, 'invalid_request', undefined],
    [backend('x', one.origin, { colour: 'red' }), 400, 'invalid_request', 'colour'],
    [backend('X Y', one.origin), 400, 'invalid_request', 'id'],
  ];
  for (const [body, status, error, param] of refusals) {
    const answer = await post(url + BACKENDS, body);
    t.match(answer, { status, json: { error } }, answer.text);
    if (param !== undefined) t.ok(answer.text.includes(param), `${param}: ${answer.text}`);
  }
  t.match(await send(`${url}${BACKENDS}/nobody`), { status: 404, json: { error: 'backend_not_found' } });
  const moved = await send(`${url}${BACKENDS}/one`, { method: 'PATCH', body: { base_url: `${two.origin}/v1` } });
  t.match(moved, { status: 400, json: { error: 'key_required' } });
});

t.test('the unmodified client streams, and the provider hears what was asked', async (t) => {
  one.say = () => ({
    reasoning: 'Hm.',
    texts: ['Red', ', "green"', ' and blue\n'],
    calls: [
      { id: 'call_a', name: 'look', arguments: '{"q":1}' },
      { id: 'call_b', name: 'stop', arguments: '' },
    ],
    finish: 'tool_calls',
    tokens: BILLED,
  });
  const tools = ['look', 'stop'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: { type: 'object' } },
  }));
  const stream = await client.chat.completions.create({
    model: 'fast',
    messages: [...messages],
    tools,
    stream: true,
    temperature: 0.5,
    max_tokens: 50,
    stop: ['END'],
    stream_options: { include_usage: true },
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  t.strictSame([...new Set(chunks.map(({ model }) => model))], ['model-a'], 'the provider’s own name, from the first chunk on');
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  t.equal(deltas.map(({ content }) => content ?? '').join(''), 'Red, "green" and blue\n');
  const calls = deltas.flatMap(({ tool_calls: some }) => some ?? []);
  t.match(
    calls.filter(({ id }) => id),
    [
      { index: 0, function: { name: 'look' } },
      { index: 1, function: { name: 'stop' } },
    ],
  );
  const argumentsOf = (index: number) =>
    calls
      .filter((call) => call.index === index)
      .map((call) => call.function?.arguments ?? '')
      .join('');
  t.strictSame([argumentsOf(0), argumentsOf(1)], ['{"q":1}', '{}'], 'a call without arguments has the empty object');
  t.equal(chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason, 'tool_calls');
  t.match(chunks.at(-1)?.usage, { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } });
  t.match(one.chats.at(-1)?.body, {
    model: 'model-a',
    messages,
    stream: true,
    temperature: 0.5,
    max_completion_tokens: 50,
    stop: ['END'],
    tools: [{ function: { name: 'look' } }, { function: { name: 'stop' } }],
  });
  const whole = await client.chat.completions.create({ model: 'model-a', messages: [...messages], tools });
  t.match(whole, { model: 'model-a', usage: { completion_tokens: 3 }, choices: [{ finish_reason: 'tool_calls' }] });
  t.match(whole.choices[0]?.message, { content: 'Red, "green" and blue\n', reasoning_content: 'Hm.' });
});

t.test('Messages and Responses are answered by the same provider', async (t) => {
  one.say = () => ({ reasoning: 'Hm.', texts: ['Hello', '.'], tokens: BILLED });
  const message = await sendJson(url, '/v1/messages', { model: 'model-a', max_tokens: 10, messages });
  t.match(message, {
    model: 'model-a',
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Hello.' },
    ],
    usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 3 },
  });
  const response = await sendJson<{ output: object[] }>(url, '/v1/responses', { model: 'fast', input: 'Hi', store: false });
  t.match(response, { model: 'model-a', output: [{ type: 'reasoning' }, { type: 'message', content: [{ text: 'Hello.' }] }] });
});

t.test('vectors and scores come from providers, and never from another model', async (t) => {
  one.models = ['model-a', 'model-b', 'text-embed', 'some-reranker'];
  await send(`${url}${BACKENDS}/one`, { method: 'PATCH', body: { weight: 2 } });
  await whenOffered('one', 'text-embed');
  const vectors = await sendJson<{ data: { embedding: number[] }[] }>(url, '/v1/cloud/embeddings', {
    model: 'text-embed',
    input: ['ab', 'abc'],
  });
  t.strictSame(
    vectors.data.map(({ embedding }) => embedding),
    [
      [2, 1, 0],
      [3, 1, 0],
    ],
  );
  t.match(await post(`${url}/v1/inference/embeddings`, { model: 'text-embed', input: 'a' }), { status: 404 });
  t.match(await post(`${url}/v1/cloud/embeddings`, { model: 'unknown', input: 'a' }), { status: 404 });
  const ranks = await sendJson(url, '/v1/rerank', { model: 'some-reranker', query: 'q', documents: ['a', 'abc'] });
  t.match(ranks, { results: [{ index: 1 }, { index: 0 }] });
});

t.test('what a provider cannot be told is refused with the member’s name', async (t) => {
  const refused = await chat('model-a', { grammar: 'root ::= "a"' });
  t.match(refused, { status: 400, json: { error: { code: 'unsupported_by_backend', param: 'grammar' } } }, refused.text);
  t.match(await post(`${url}/tokenize`, { model: 'model-a', content: 'a' }), { status: 400 });
  t.match(await chat('nobody-has-this'), { status: 404 }, 'and nothing stands in for a name');
});

t.test('before anything is said, another backend is asked', async (t) => {
  one.say = () => ({ texts: ['from', ' one'], tokens: BILLED });
  two.say = () => ({ texts: ['from', ' two'], tokens: BILLED });
  t.equal((await post(url + BACKENDS, backend('two', two.origin, { priority: 1 }))).status, 201);
  await whenOffered('two', 'model-b');
  const faults: Fault[] = [
    'silent',
    'refuse',
    'hang',
    'page',
    'broken-json',
    'error-frame',
    'huge-frame',
    'empty',
    ...[408, 425, 429, 500, 503, 529, 404].map((status) => ({ status })),
    { status: 429, headers: { 'retry-after': '1' } },
  ];
  for (const [i, fault] of faults.entries()) {
    // Each has a breaker and a pause of its own, which the next one must not meet.
    await send(`${url}${BACKENDS}/one`, { method: 'PATCH', body: { weight: 1 / (i + 2) } });
    one.script = [fault];
    const answer = await chat('model-b', { messages: [{ role: 'user', content: JSON.stringify(fault) }] });
    t.equal(answer.status, 200, JSON.stringify(fault));
    t.match(answer.text, /from.*two.*"finish_reason":"stop".*\[DONE\]/s, JSON.stringify(fault));
    t.notMatch(answer.text, /script/);
    t.equal(one.script.length, 0, 'the first was asked');
  }
});

t.test('what was said is never begun again, and never ends as if it were whole', async (t) => {
  for (const fault of ['cut', 'stall', 'no-end', 'late-error', 'drip'] as const) {
    two.script = [fault];
    const nBefore = two.chats.length;
    const { status, text } = await chat('spare');
    t.equal(status, 200);
    t.match(text, /"from"/, fault);
    t.match(text, /provider_stream_cut/, fault);
    t.notMatch(text, /\[DONE\]|"finish_reason":"stop"/, fault);
    t.equal(two.chats.length, nBefore + 1, fault);
    two.script = [fault];
    t.match(await chat('spare', { stream: false }), { status: 502, json: { error: { code: 'provider_stream_cut' } } }, fault);
  }
});

t.test('refusals go to the client in our shape, with the provider’s sentence and without its key', async (t) => {
  const message = `No: ${KEY} is wrong <b>here</b>`;
  const expected: [number, number, string][] = [
    [400, 400, 'provider_refused'],
    [422, 400, 'provider_refused'],
    [404, 404, 'model_not_found'],
  ];
  for (const [from, to, code] of expected) {
    two.script = [{ status: from, message }];
    const answer = await chat('spare');
    t.match(answer, { status: to, json: { error: { code } } }, answer.text);
    t.match(answer.text, /is wrong/);
    t.notMatch(answer.text, /planted|<b>/);
  }
  two.script = [{ status: 400, message: 'This model’s maximum context length is 10 tokens.' }];
  t.match(await chat('spare'), { status: 400, json: { error: { code: 'context_length_exceeded' } } });
  two.script = [{ status: 400, message: 'cannot resolve $ref #/invalid_api_key' }];
  t.match(await chat('spare'), { status: 400, json: { error: { code: 'provider_refused' } } });
  t.match(await chat('spare'), { status: 200 }, 'words of a caller that it repeats take it from nobody');
  two.script = [{ status: 429, headers: { 'retry-after': '60' } }];
  const limited = await chat('spare');
  t.match(limited, { status: 429, json: { error: { code: 'provider_rate_limited' } } }, limited.text);
  t.ok(Number(limited.headers.get('retry-after')) > 50);
});

t.test('a backend whose key is refused is left out until it is rechecked', async (t) => {
  await send(`${url}${BACKENDS}/two`, { method: 'PATCH', body: { weight: 3 } });
  for (const [status, to, code] of [
    [401, 502, 'provider_rejected'],
    [402, 402, 'provider_payment_required'],
  ] as const) {
    two.script = [{ status, message: 'Not you' }];
    t.match(await chat('spare'), { status: to, json: { error: { code } } });
    const nAsked = two.chats.length;
    t.match(await chat('spare'), { status: to, json: { error: { code } } }, 'refused at once');
    t.equal(two.chats.length, nAsked, 'and nothing was sent');
    t.match(await sendJson(url, `${BACKENDS}/two`), {
      serving_state: 'backend_unhealthy',
      serving_state_reason: { code: 'provider_rejected', status, detail: 'Not you' },
    });
    const rechecked = await post(`${url}${BACKENDS}/two/recheck`, undefined);
    t.match(rechecked, { status: 200, json: { serving_state: 'ok', recheck: { cost_micros: null } } }, rechecked.text);
    t.equal(two.chats.length, nAsked + 1, 'one request');
    t.match(two.chats.at(-1)?.body, { max_completion_tokens: 1 });
    t.match(await chat('spare'), { status: 200 });
  }
});

t.test('a limit that an answer reports as used up is waited for', async (t) => {
  two.fields = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '600ms' };
  t.match(await chat('spare'), { status: 200 });
  two.fields = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2m' };
  const asked = performance.now();
  t.match(await chat('spare'), { status: 200 }, 'a short while is waited');
  t.ok(performance.now() - asked > 500);
  const nAsked = two.chats.length;
  t.match(await chat('spare'), { status: 429, json: { error: { code: 'provider_rate_limited' } } }, 'a long one is not');
  t.equal(two.chats.length, nAsked, 'and nothing was sent');
  two.fields = {};
  await send(`${url}${BACKENDS}/two`, { method: 'PATCH', body: { weight: 4 } });
});

t.test('a client that goes away ends the provider’s work', async (t) => {
  two.script = ['stall'];
  const nBefore = two.nAborted;
  const gone = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'spare', messages, stream: true }),
    signal: gone.signal,
  });
  await response.body?.getReader().read();
  gone.abort();
  while (two.nAborted === nBefore) await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(two.nAborted, nBefore + 1);
});

t.test('a route asks its targets in their order, and a disabled backend answers at once', async (t) => {
  const routes = `${url}/api/v1/cloud/routes/best`;
  const route = {
    targets: [
      { backend: 'one', model: 'model-a' },
      { backend: 'two', model: 'spare', priority: 5 },
    ],
    strategy: 'priority',
  };
  t.match(await send(routes, { method: 'PUT', body: { ...route, colour: 1 } }), { status: 400 });
  t.match(await send(routes, { method: 'PUT', body: { targets: [{ backend: 'nobody', model: 'a' }] } }), { status: 400 });
  t.match(await send(routes, { method: 'PUT', body: route }), { status: 200, json: { id: 'best', hedge_ms: null } });
  t.match((await chat('best')).text, /"model":"model-a".*from.*one/s);
  await send(`${url}${BACKENDS}/one`, { method: 'PATCH', body: { enabled: false } });
  t.match((await chat('best')).text, /"model":"spare".*from.*two/s);
  t.match(await chat('model-a'), { status: 503, json: { error: { code: 'model_not_ready' } } });
  t.match(await send(routes, { method: 'PUT', body: { ...route, hedge_ms: 50 } }), { status: 200 });
  await send(`${url}${BACKENDS}/one`, { method: 'PATCH', body: { enabled: true } });
  one.script = ['hang'];
  t.match((await chat('best')).text, /"model":"spare".*from.*two/s, 'the second is faster than one that says nothing');
  t.match(await send(routes, { method: 'DELETE' }), { status: 204 });
  t.match(await send(routes), { status: 404, json: { error: 'route_not_found' } });
});

t.test('the ledger has what the provider billed, to the millionth', async (t) => {
  const lines = async () => (await sendJson<{ data: Record<string, unknown>[] }>(url, '/api/v1/metering/usage?by=backend')).data;
  const before = (await lines()).find(({ id }) => id === 'one') as { prompt_tokens: number; cost_micros: number };
  const nBilled = one.billed.length;
  for (let i = 0; i < 5; i++) await chat('model-a', { messages: [{ role: 'user', content: `${i}` }] });
  const billed = one.billed.slice(nBilled);
  t.equal(billed.length, 5);
  const after = (await lines()).find(({ id }) => id === 'one') as typeof before;
  t.equal(after.prompt_tokens - before.prompt_tokens, 60);
  // 8 tokens at 1.5, 4 of the cache at 0.25 and 3 at 2.
  t.equal(after.cost_micros - before.cost_micros, 5 * 19);
  t.match(after, { currency: 'EUR', backend: 'one' });
  t.match(
    (await lines()).find(({ id }) => id === 'two'),
    { cost_micros: null, currency: null, estimated: true },
    'without a price nobody knows',
  );
});

t.test('prices are listed with their source, and replaced', async (t) => {
  const prices = `${url}/api/v1/cloud/prices`;
  t.match(await send(prices, { method: 'PUT', body: { prices: { spare: { input: 'much', currency: 'USD' } } } }), {
    status: 400,
  });
  t.match(await send(prices, { method: 'PUT', body: { prices: {}, more: 1 } }), { status: 400 });
  const { json } = await send(prices, {
    method: 'PUT',
    body: { prices: { spare: { input: '1', output: '1', currency: 'USD' } } },
  });
  const data = json?.['data'] as { model: string; origin: string; source?: string; date?: string }[];
  t.match(
    data.find(({ model }) => model === 'spare'),
    { origin: 'own', input: '1' },
  );
  t.ok(data.filter(({ origin }) => origin === 'list').every(({ source, date }) => source && date));
});

t.test('the command line says what is there, and takes a key from a file', async (t) => {
  const svc = (...args: string[]) => runCli([...args, '--url', url]);
  t.match((await svc('backend', 'list')).stdout, /^ID +KIND +STATE[\s\S]*one +openai +ok[\s\S]*two +openai/);
  t.match((await svc('backend', 'show', 'one')).stdout, /fast \(model-a\)/);
  t.match((await svc('models', 'list')).stdout, /^NAME .* WHERE +STATE[\s\S]*model-b +chat +- +- +one +ok/);
  const file = join(t.testdir(), 'key');
  writeFileSync(file, `${KEY}\n`);
  const added = await svc(
    'backend',
    'add',
    'three',
    '--address',
    `${one.origin}/v1`,
    '--key-file',
    file,
    '--model',
    'model-*',
    '--alias',
    'third=model-a',
  );
  t.match(added, { code: 0, stdout: /three is registered/ }, added.stderr);
  t.notMatch(added.stdout, /planted/);
  t.match(await svc('backend', 'recheck', 'three'), { code: 0, stdout: /of unknown price/ });
  t.equal((await chat('third')).status, 200);
  t.match(await svc('backend', 'disable', 'three'), { code: 0 });
  t.match((await svc('backend', 'list')).stdout, /three +openai +disabled/);
  t.match(await svc('route', 'set', 'cli', '--target', 'one:model-a', '--target', 'two:spare'), {
    code: 0,
    stdout: /one:model-a two:spare/,
  });
  t.match((await svc('route', 'list')).stdout, /cli +priority/);
  t.match(await svc('route', 'rm', 'cli'), { code: 0 });
  t.match(await svc('backend', 'rm', 'three'), { code: 0 });
  t.match((await svc('usage', '--by', 'backend')).stdout, /one .* EUR/);
});

t.test('a moved backend takes no key along, and a deleted one is gone', async (t) => {
  const moved = await send(`${url}${BACKENDS}/two`, { method: 'PATCH', body: { base_url: `${one.origin}/v1`, key: null } });
  t.match(moved, { status: 200, json: { key_present: false } }, moved.text);
  const nBefore = one.asked.length;
  await chat('model-b');
  t.notOk(
    one.asked.slice(nBefore).some(({ headers }) => headers['authorization']?.includes(KEY) && headers['x-team'] === undefined),
  );
  for (const id of ['one', 'two']) t.equal((await send(`${url}${BACKENDS}/${id}`, { method: 'DELETE' })).status, 204);
  t.match(await sendJson(url, BACKENDS), { data: [] });
  t.match(await chat('model-a'), { status: 404 });
});
