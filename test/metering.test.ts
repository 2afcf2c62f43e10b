/** What callers use is counted to the token, and quotas refuse as OpenAI's clients expect it. */
import OpenAI from 'openai';
import t from 'tap';
import { post } from './http.ts';
import { chatModel, embeddingModel, startFullServer, startServer } from './server.ts';
import { makeTenantKeys, rootToken } from './tenant-keys.ts';

interface UsageLine {
  id: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  seconds: number;
}

async function ask(url: string, method: string, path: string, token: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function usageOf(url: string, token: string, query: string): Promise<UsageLine[]> {
  return (await ask(url, 'GET', `/api/v1/metering/usage?${query}`, token))['data'] as UsageLine[];
}

t.setTimeout(120_000);

t.test('streams, whole answers and embeddings are metered as their answers say', async (t) => {
  const server = await startFullServer(t);
  const { acme } = await makeTenantKeys(server.url, { acme: {} });
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: acme, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Tell me something about lighthouses.' }];
  let [prompt, completion] = [0, 0];
  const count = (usage: { prompt_tokens: number; completion_tokens: number } | null | undefined) => {
    prompt += usage?.prompt_tokens ?? 0;
    completion += usage?.completion_tokens ?? 0;
  };
  const stream = await client.chat.completions.create({
    model: chatModel,
    messages,
    max_tokens: 300,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) count(chunk.usage);
  count((await client.chat.completions.create({ model: chatModel, messages, max_tokens: 20, n: 2 })).usage);
  t.ok(completion > 20, `${completion} tokens were answered`);
  const [chat] = await usageOf(server.url, acme, 'by=model');
  t.match(chat, { id: chatModel, requests: 2, prompt_tokens: prompt, completion_tokens: completion });
  t.ok((chat?.seconds ?? 0) > 0);
  const embeddings = await client.embeddings.create({ model: embeddingModel, input: ['one', 'two'] });
  const byModel = await usageOf(server.url, acme, 'by=model');
  const found = byModel.find(({ id }) => id === embeddingModel);
  t.match(found, { requests: 1, prompt_tokens: embeddings.usage.prompt_tokens, completion_tokens: 0 });
  t.equal((await usageOf(server.url, acme, 'by=key')).length, 1);
});

t.test('a quota answers 429 with what is exceeded, and every answer says what is left', async (t) => {
  const server = await startServer(t);
  const { acme } = await makeTenantKeys(server.url, { acme: {} });
  const root = await rootToken(server.url);
  await ask(server.url, 'PUT', '/api/v1/metering/quotas', root, {
    tenant: 'acme',
    requests_per_minute: 2,
    tokens_per_minute: 100_000,
  });
  const body = { model: chatModel, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] };
  const chat = (members: object = {}) =>
    post(`${server.url}/v1/chat/completions`, { ...body, ...members }, { authorization: `Bearer ${acme}` });
  const first = await chat();
  t.equal(first.status, 200);
  t.equal(first.headers.get('x-ratelimit-limit-requests'), '2');
  t.equal(first.headers.get('x-ratelimit-remaining-requests'), '1');
  t.match(first.headers.get('x-ratelimit-reset-requests'), /^(1m0s|\d+s)$/);
  t.equal(first.headers.get('x-ratelimit-limit-tokens'), '100000');
  const streamed = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${acme}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  t.equal(streamed.headers.get('x-ratelimit-remaining-requests'), '0', 'a stream has the fields in its head');
  await streamed.text();
  const refused = await chat();
  t.equal(refused.status, 429);
  t.match(refused.json, {
    error: {
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
      exceeded: { quota: 'requests_per_minute', of: 'tenant', id: 'acme', limit: 2, used: 2 },
    },
  });
  const retryAfter = Number(refused.headers.get('retry-after'));
  t.ok(retryAfter >= 1 && retryAfter <= 60, `retry after ${retryAfter} s`);
  t.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0');
  const models = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${acme}` } });
  t.equal(models.status, 200, 'what uses no model is not limited');
});

t.test('a stream without max_tokens ends when the quota does, and says why', async (t) => {
  const server = await startServer(t, { env: { SVC_INFERENCE_CTX: '8192' } });
  const { acme } = await makeTenantKeys(server.url, { acme: { tokensPerMinute: 500 } });
  const ask = async (): Promise<{ text: string; status: number }> => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: chatModel,
        stream: true,
        ignore_eos: true,
        messages: [{ role: 'user', content: 'Go on.' }],
      }),
    });
    return { text: await response.text(), status: response.status };
  };
  const answers = await Promise.all([ask(), ask(), ask(), ask()]);
  const told = answers.filter(({ text, status }) => status === 429 || text.includes('rate_limit_exceeded'));
  t.ok(told.length >= 2, `${told.length} of 4 hear of the quota`);
});

t.test('200 streams at once use at most one request more than the quota', async (t) => {
  const server = await startServer(t);
  const limit = 2000;
  const { acme, free } = await makeTenantKeys(server.url, { acme: { tokensPerMinute: limit }, free: {} });
  const ask = async (key: string): Promise<{ status: number; tokens: number }> => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: chatModel,
        max_tokens: 16,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: 'Hello, tell me something.' }],
      }),
    });
    const text = await response.text();
    return { status: response.status, tokens: Number(/"total_tokens":(\d+)/.exec(text)?.[1] ?? 0) };
  };
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(acme)));
  const total = answers.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(...answers.map(({ tokens }) => tokens));
  const nAnswered = answers.filter(({ status }) => status === 200).length;
  t.comment(`${nAnswered} of 200 are answered, with ${total} tokens of ${limit}`);
  t.ok(nAnswered > 0 && total <= limit + most, `${total} tokens of ${limit}`);
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  t.equal((await ask(free)).status, 200);
});
