/** The unmodified `openai` package against a running server. */
import OpenAI from 'openai';
import t from 'tap';
import { refusalOf } from './refusal.ts';
import { chatModel, embeddingModel, stockServer } from './server.ts';

const server = await stockServer(t);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

const messages = [{ role: 'user', content: 'Name three colours.' }] as const;
/** Greedy and without an end token: the same tokens every time. */
const greedy = { model: chatModel, messages: [...messages], max_tokens: 12, temperature: 0, ignore_eos: true };

async function collect(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<OpenAI.ChatCompletionChunk[]> {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

async function complete(changes: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}): Promise<OpenAI.ChatCompletion> {
  return client.chat.completions.create({ ...greedy, ...changes, stream: false });
}

t.test('a completion names its model and counts its tokens', async (t) => {
  const answer = await complete();
  t.match(answer, {
    object: 'chat.completion',
    model: chatModel,
    choices: [{ index: 0, finish_reason: 'length', logprobs: null }],
  });
  t.match(answer.choices[0]?.message, { role: 'assistant', refusal: null });
  t.equal(answer.usage?.completion_tokens, 12);
  t.equal(answer.usage?.total_tokens, 12 + (answer.usage?.prompt_tokens ?? 0));
});

t.test('a stream says the same as the whole answer', async (t) => {
  const whole = await complete();
  const chunks = await collect(await client.chat.completions.create({ ...greedy, stream: true }));
  t.match(chunks[0]?.choices[0]?.delta, { role: 'assistant' });
  t.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), whole.choices[0]?.message.content);
  t.match(chunks.at(-1)?.choices[0], { finish_reason: 'length', delta: {} });
  t.ok(chunks.every((chunk) => chunk.model === chatModel && chunk.id === chunks[0]?.id));
  t.notOk(
    chunks.some((chunk) => chunk.usage),
    'usage comes only when asked for',
  );
});

t.test('include_usage adds one last chunk without choices', async (t) => {
  const chunks = await collect(
    await client.chat.completions.create({ ...greedy, stream: true, stream_options: { include_usage: true } }),
  );
  t.match(chunks.at(-1), { choices: [], usage: { completion_tokens: 12 } });
  t.equal(chunks.filter((chunk) => chunk.choices.length === 0).length, 1);
});

t.test('a stop string ends the answer and is not part of it', async (t) => {
  const text = (await complete()).choices[0]?.message.content ?? '';
  const stop = text.slice(Math.floor(text.length / 2), Math.floor(text.length / 2) + 3);
  const stopped = await complete({ stop: [stop, 'never said'] });
  t.equal(stopped.choices[0]?.finish_reason, 'stop');
  t.equal(stopped.choices[0]?.message.content, text.slice(0, text.indexOf(stop)));
});

t.test('a seed repeats a random answer, another seed does not', async (t) => {
  const say = async (seed: number) => (await complete({ temperature: 1, seed })).choices[0]?.message.content;
  const first = await say(7);
  t.equal(await say(7), first);
  t.not(await say(8), first);
});

t.test('n gives that many choices, and usage counts them all', async (t) => {
  const answer = await complete({ n: 3, temperature: 1, seed: 1 });
  t.strictSame(
    answer.choices.map((choice) => choice.index),
    [0, 1, 2],
  );
  t.equal(new Set(answer.choices.map((choice) => choice.message.content)).size, 3);
  t.equal(answer.usage?.completion_tokens, 36);
});

t.test('logprobs come with every token and its alternatives', async (t) => {
  const content = (await complete({ logprobs: true, top_logprobs: 3 })).choices[0]?.logprobs?.content ?? [];
  t.equal(content.length, 12);
  for (const { token, bytes, logprob, top_logprobs } of content) {
    t.ok(logprob <= 0 && logprob > -20, `${logprob} is a probable token`);
    t.equal(top_logprobs.length, 3);
    t.equal(top_logprobs[0]?.token, token, 'greedy takes the first alternative');
    t.ok((bytes?.length ?? 0) > 0);
  }
});

t.test('logprobs in a stream are those of the whole answer', async (t) => {
  const whole = await complete({ logprobs: true, top_logprobs: 1 });
  const chunks = await collect(
    await client.chat.completions.create({ ...greedy, logprobs: true, top_logprobs: 1, stream: true }),
  );
  const tokens = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []).map(({ token }) => token);
  t.strictSame(
    tokens,
    whole.choices[0]?.logprobs?.content?.map(({ token }) => token),
  );
});

t.test('logit_bias forces a token', async (t) => {
  const response = await fetch(`${server.url}/tokenize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: chatModel, content: ' blue', add_special: false }),
  });
  const { tokens } = (await response.json()) as { tokens: number[] };
  const answer = await complete({ logit_bias: { [String(tokens.at(-1))]: 100 }, max_tokens: 3 });
  t.match(answer.choices[0]?.message.content, /^(\s*(blue|ue)){3}$/);
});

t.test('a client that hangs up frees its slot', async (t) => {
  const stream = await client.chat.completions.create({ ...greedy, max_tokens: 3_000, stream: true });
  for await (const _ of stream) break;
  for (let active = 1; active > 0; ) active = await readActiveJobs();
  t.pass('no job is active');
});

async function readActiveJobs(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const lines = [...metrics.matchAll(/^svc_\w*active\w*\{[^}]*\} (\d+)$/gm)];
  if (lines.length === 0) throw new Error(`/metrics names no active jobs:\n${metrics}`);
  return lines.reduce((sum, [, value]) => sum + Number(value), 0);
}

t.test('embeddings are unit vectors, the same in base64 and as floats', async (t) => {
  const input = ['first text', 'a second, longer text'];
  const base64 = await client.embeddings.create({ model: embeddingModel, input });
  const floats = await client.embeddings.create({ model: embeddingModel, input, encoding_format: 'float' });
  t.strictSame(
    base64.data.map(({ index }) => index),
    [0, 1],
  );
  for (const [index, { embedding }] of base64.data.entries()) {
    t.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-4);
    t.ok(embedding.every((value, at) => Math.abs(value - (floats.data[index]?.embedding[at] ?? Number.NaN)) < 1e-4));
  }
  t.ok(base64.usage.prompt_tokens > 4);
});

t.test("a text's embedding does not depend on what is embedded beside it", async (t) => {
  const embed = async (input: string[]) =>
    (await client.embeddings.create({ model: embeddingModel, input, encoding_format: 'float' })).data;
  const alone = (await embed(['first text']))[0]?.embedding ?? [];
  const beside = (await embed(['something else entirely', 'first text']))[1]?.embedding ?? [];
  t.equal(alone.length, beside.length);
  t.ok(alone.every((value, at) => Math.abs(value - (beside[at] ?? Number.NaN)) < 1e-3));
});

t.test('dimensions shortens an embedding and keeps its length at one', async (t) => {
  const [short] = (await client.embeddings.create({ model: embeddingModel, input: 'a text', dimensions: 16 })).data;
  t.equal(short?.embedding.length, 16);
  t.ok(Math.abs(Math.hypot(...(short?.embedding ?? [])) - 1) < 1e-4);
});

t.test('the model list says what each model can do; there is no path for one model', async (t) => {
  const { data } = await client.models.list();
  t.ok(data.some(({ id }) => id === chatModel));
  t.match(await refusalOf(client.models.retrieve(chatModel)), { status: 404, error: { message: /GET \/v1\/models lists all/ } });
});

t.test('an unserved path is 404 not_found', async (t) => {
  t.match(await refusalOf(client.completions.create({ model: chatModel, prompt: 'x' })), {
    status: 404,
    code: 'not_found',
    error: { message: /No handler is registered for POST \/v1\/completions\..*POST \/v1\/chat\/completions/ },
  });
});

t.test('functions are refused by name, and no member that decides the answer is dropped', async (t) => {
  const functions = [{ name: 'now', parameters: {} }];
  const refusal = await refusalOf(complete({ functions, function_call: { name: 'now' } }));
  t.match(refusal, { status: 400, code: 'unsupported_member', error: { param: 'functions' } });
});

t.test('an empty message list is a BadRequestError with a string code', async (t) => {
  const { error, code } = await refusalOf(complete({ messages: [] }));
  t.ok(error instanceof OpenAI.BadRequestError);
  t.type(code, 'string');
});

t.test('a prompt beyond the context is context_length_exceeded', async (t) => {
  const content = 'word '.repeat(40_000);
  t.match(await refusalOf(complete({ messages: [{ role: 'user', content }] })), {
    status: 400,
    code: 'context_length_exceeded',
    error: { message: /This model's maximum context length is \d+ tokens/ },
  });
});
