/** Embeddings and rerank scores: the same as llama.cpp gives; without flash attention, whatever is computed beside them. */
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import type { RandomModelOptions } from '../../../models/random/random-model.ts';
import { type EngineOptions, LlamaModel } from '../../../ts/server/native/llama.ts';
import { prompts } from './prompts.ts';
import { noReferences, nThreads, runReference, runUpstream } from './reference.ts';

const by = { tenant: 'test' };
/** f16 weights would do for most texts: upstream's kernels for them round by batch size, up to about this. */
const tolerance = 1e-4;
/** Flash attention keeps keys and values in half precision and sums by tiles of the batch. */
const exact = { nThreads, flashAttention: 'off' } as const;

const models: RandomModelOptions[] = [
  { arch: 'bert', type: 'f32' },
  { arch: 'bert', type: 'q8_0' },
  { arch: 'llama' },
  ...(['none', 'mean', 'cls', 'last'] as const).map((pooling) => ({ arch: 'bert', type: 'f32', pooling }) as const),
  { arch: 'qwen3', vocabulary: 'gpt-2', pooling: 'last' },
  { arch: 'gemma3', pooling: 'mean' },
  { arch: 'qwen3moe', pooling: 'last' },
];

for (const options of models) {
  t.test(
    `${options.arch} ${options.type ?? 'f16'}, pooling ${options.pooling ?? 'its own'}: vectors of llama.h, one text at a time`,
    { skip: noReferences() },
    async (t) => {
      const path = await randomModel(options);
      const expected = await runReference('embed', path, prompts);
      const model = await LlamaModel.load({ path });
      t.teardown(() => model.close());
      const embedder = await model.createEmbedder(exact);
      t.teardown(() => embedder.close());
      const { vectors } = await embedder.embed([...prompts], by);
      t.equal(vectors.length, prompts.length);
      for (const [i, vector] of vectors.entries()) t.ok(distance(vector, expected[i]) < tolerance, JSON.stringify(prompts[i]));
      const first = vectors[0] ?? new Float32Array();
      t.ok(distance(first, expected[1]) > 0.01, 'different texts have different vectors');
    },
  );
}

t.test('many callers at once get the vectors that each would get alone', async (t) => {
  const path = await randomModel({ arch: 'bert', type: 'q8_0' });
  const model = await LlamaModel.load({ path });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder(exact);
  t.teardown(() => embedder.close());
  const together = await Promise.all(prompts.map((prompt) => embedder.embed([prompt], by)));
  for (const [i, prompt] of prompts.entries()) {
    const alone = await embedder.embed([prompt], by);
    t.ok(distance(together[i]?.vectors[0] ?? new Float32Array(), alone.vectors[0]) < tolerance, JSON.stringify(prompt));
    t.equal(together[i]?.nTokens[0], alone.nTokens[0]);
  }
});

/** The program prints through a logging thread that its exit may cut off on a busy machine; then it is asked again. */
async function readVectors(args: readonly string[]): Promise<number[][]> {
  for (let attempt = 1; ; attempt++) {
    const printed = (await runUpstream('llama-embedding', args)).toString().trimEnd();
    if (printed.endsWith(']]') || attempt === 20) return JSON.parse(printed);
  }
}

t.test('vectors are those of llama.cpp’s own llama-embedding', { skip: noReferences() }, async (t) => {
  const path = await randomModel({ arch: 'bert' });
  const texts = prompts.filter((prompt) => !/[\r\n]/.test(prompt)).slice(0, 6);
  const args = [
    '-m',
    path,
    '-p',
    texts.join('\n'),
    '--embd-output-format',
    'array',
    '-c',
    '512',
    '-fa',
    'off',
    '-t',
    String(nThreads),
  ];
  const printed = await readVectors(args);
  const model = await LlamaModel.load({ path });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder(exact);
  t.teardown(() => embedder.close());
  const { vectors } = await embedder.embed(texts, by);
  for (const [i, vector] of vectors.entries()) t.ok(distance(vector, printed[i]) < tolerance, JSON.stringify(texts[i]));
});

t.test('flash attention rounds a little, alone and in company, and leaves the direction', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'bert', type: 'f32' }) });
  t.teardown(() => model.close());
  const [quick, precise] = await Promise.all([model.createEmbedder({ nThreads }), model.createEmbedder(exact)]);
  t.teardown(() => Promise.all([quick.close(), precise.close()]));
  const { vectors: expected } = await precise.embed([...prompts], by);
  const { vectors: together } = await quick.embed([...prompts], by);
  for (const [i, prompt] of prompts.entries()) {
    const { vectors } = await quick.embed([prompt], by);
    const wanted = expected[i] ?? new Float32Array();
    for (const vector of [vectors[0], together[i]]) t.ok(cosine(vector ?? [], wanted) > 0.9999, JSON.stringify(prompt));
  }
});

t.test('an operator chooses another pooling than the file has: that of a file that says so', async (t) => {
  const path = await randomModel({ arch: 'bert', type: 'f32', pooling: 'none' });
  const vectors = new Map<string, Float32Array>();
  for (const pooling of ['mean', 'cls', 'last'] as const) {
    const chosen = await embedOne(t, path, { pooling });
    const own = await embedOne(t, await randomModel({ arch: 'bert', type: 'f32', pooling }), {});
    t.ok(distance(chosen, own) < tolerance, pooling);
    vectors.set(pooling, chosen);
  }
  const [mean = new Float32Array(), cls, last] = vectors.values();
  t.ok(distance(mean, cls) > 0.01 && distance(mean, last) > 0.01, 'they differ');
  t.ok(distance(mean, await embedOne(t, path, {})) < tolerance, 'a file that says none is averaged');
});

async function embedOne(t: Test, path: string, options: EngineOptions): Promise<Float32Array> {
  const model = await LlamaModel.load({ path });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder({ ...exact, ...options });
  t.teardown(() => embedder.close());
  const { vectors } = await embedder.embed(['Once upon a time'], by);
  return vectors[0] ?? new Float32Array();
}

t.test('rerank scores are those of llama.h and keep their order', { skip: noReferences() }, async (t) => {
  const path = await randomModel({ arch: 'reranker', type: 'q8_0' });
  const query = 'where do llamas live';
  const documents = prompts.filter((prompt) => prompt.length < 200);
  const expected = await runReference(
    'rank',
    path,
    documents.map((document) => `${query}\x01${document}`),
  );
  const model = await LlamaModel.load({ path });
  t.teardown(() => model.close());
  t.equal(model.info.pooling, 'rank');
  const embedder = await model.createEmbedder(exact);
  t.teardown(() => embedder.close());
  const { scores } = await embedder.rank(query, documents, by);
  const differences = [...scores].map((score, i) => Math.abs(score - (expected[i]?.[0] ?? Number.NaN)));
  t.ok(Math.max(...differences) < tolerance, `largest difference ${Math.max(...differences)}`);
  t.ok(Math.max(...scores) - Math.min(...scores) > 0.1, 'documents are told apart');
});

t.test('a text longer than the model takes is refused by its number', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'bert' }) });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder({ nThreads });
  t.teardown(() => embedder.close());
  await t.rejects(embedder.embed(['short', 'word '.repeat(2_000)], by), { code: 'context_length_exceeded', message: /input 1/ });
  const message = /input 1 has at least \d+ tokens.*maximum context length/;
  await t.rejects(embedder.embed(['short', 'word '.repeat(1_000_000)], by), { code: 'context_length_exceeded', message });
  await t.rejects(embedder.rank('query', ['document'], by), { code: 'unsupported', message: /cannot rerank/ });
});

t.test('a text that may be cut is embedded as its first tokens with the one that closes it, also megabytes of it', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'bert', type: 'f32' }) });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder(exact);
  t.teardown(() => embedder.close());
  const { nCtxPerJob } = embedder.limits;
  const text = 'Once upon a time a llama lived on a hill, and '.repeat(400);
  const tokens = await model.tokenize(text, { addSpecial: true });
  const first = tokens.slice(0, nCtxPerJob);
  first[nCtxPerJob - 1] = tokens.at(-1) ?? 0;
  const inputs = ['short', text, text.repeat(300), tokens];
  const { vectors, nTokens, truncated } = await embedder.embed(inputs, { ...by, truncate: true });
  t.strictSame(truncated, [1, 2, 3]);
  t.strictSame(nTokens.slice(1), [nCtxPerJob, nCtxPerJob, nCtxPerJob]);
  const expected = await embedder.embed([first, tokens.slice(0, nCtxPerJob)], by);
  t.strictSame(expected.truncated, []);
  for (const [i, like] of [
    [1, 0],
    [2, 0],
    [3, 1],
  ] as const)
    t.ok(distance(vectors[i] ?? new Float32Array(), expected.vectors[like] ?? new Float32Array()) < tolerance, `input ${i}`);
});

t.test('tenants take turns, whoever asked for more', async (t) => {
  const { embedder } = await openBert(t);
  const order: string[] = [];
  const flood = embedder.embed(many(3_000), { tenant: 'flood' }).then(() => order.push('flood'));
  const quiet = embedder.embed(many(3), { tenant: 'quiet' }).then(() => order.push('quiet'));
  await Promise.all([flood, quiet]);
  t.strictSame(order, ['quiet', 'flood']);
});

t.test('a text is tokenised when its tenant’s turn has come, not before', async (t) => {
  const { embedder } = await openBert(t);
  const order: string[] = [];
  // The last text is too long: the refusal tells when the tokenizer has come to it.
  const flood = [...Array(40).fill('word '.repeat(300)), 'unaffordable '.repeat(500)];
  const refused = t.rejects(embedder.embed(flood, { tenant: 'flood' }), {
    code: 'context_length_exceeded',
    message: /input 40 has \d+ tokens.*maximum context length/,
  });
  const settled = refused.then(() => order.push('flood'));
  const quiet = embedder.embed(['word'], { tenant: 'quiet' }).then(() => order.push('quiet'));
  await Promise.all([settled, quiet]);
  t.strictSame(order, ['quiet', 'flood']);
  const { nQueued, nQueuedTokens } = embedder.stats();
  t.strictSame({ nQueued, nQueuedTokens }, { nQueued: 0, nQueuedTokens: 0 });
});

t.test('a tenant whose texts are all refused takes turns like others', async (t) => {
  const { embedder } = await openBert(t);
  const tooLong = 'unaffordable '.repeat(500);
  const order: string[] = [];
  // All of them come while these are computed.
  const before = embedder.embed(Array(3).fill('word '.repeat(400)), { tenant: 'before' });
  const floods = Array.from({ length: 20 }, async () => {
    await t.rejects(embedder.embed([tooLong], { tenant: 'flood' }), { code: 'context_length_exceeded' });
    order.push('flood');
  });
  const quiet = embedder.embed(['word'], { tenant: 'quiet' }).then(() => order.push('quiet'));
  await Promise.all([before, ...floods, quiet]);
  t.ok(order.indexOf('quiet') < 15, `${order.indexOf('quiet')} refusals came first`);
});

t.test('one text after another counts like many at once', async (t) => {
  const { embedder } = await openBert(t);
  // A batch has room for one of them; one is computed while the other waits.
  const text = 'word '.repeat(400);
  let isOver = false;
  let nOthers = 0;
  const others = [1, 2].map(async () => {
    for (; !isOver; nOthers++) await embedder.embed([text], { tenant: 'one by one' });
  });
  await embedder.embed(Array(30).fill(text), { tenant: 'many' });
  isOver = true;
  await Promise.all(others);
  t.ok(nOthers > 15 && nOthers < 60, `${nOthers} of the other tenant beside 30`);
});

t.test('what nobody waits for is not computed, nor what is too late', async (t) => {
  const { embedder } = await openBert(t);
  const client = new AbortController();
  const left = t.rejects(embedder.embed(many(20_000), { ...by, signal: client.signal }), { name: 'AbortError' });
  const late = t.rejects(embedder.embed(many(20_000), { ...by, timeoutMs: 50 }), { code: 'deadline_exceeded' });
  const startedAt = performance.now();
  client.abort();
  await Promise.all([left, late]);
  t.equal((await embedder.embed(['next'], by)).vectors.length, 1);
  t.comment(`${Math.round(performance.now() - startedAt)} ms`);
});

t.test(
  'an embedder that nobody has any more ends, once its last promise is settled',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const model = await LlamaModel.load({ path: await randomModel({ arch: 'bert' }) });
    t.teardown(() => model.close());
    const nThreadsNow = () => readdirSync('/proc/self/task').length;
    const openAndForget = async () => (await model.createEmbedder({ nThreads: 1, nCtx: 64 })).embed(['word'], by);
    await openAndForget();
    await collect();
    const before = nThreadsNow();
    const answers = await Promise.all(Array.from({ length: 12 }, openAndForget));
    t.equal(answers.length, 12);
    for (let round = 0; round < 50 && nThreadsNow() > before + 2; round++) await collect();
    t.ok(nThreadsNow() <= before + 2, `${nThreadsNow()} threads, ${before} before`);
  },
);

t.test('requests are bounded, not the texts of one', async (t) => {
  const { embedder } = await openBert(t, { maxQueuedJobs: 2 });
  const all = [1, 2, 3].map(() => embedder.embed(many(200), by));
  const outcomes = await Promise.allSettled(all);
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
  const refused = outcomes[2] as PromiseRejectedResult;
  t.match(refused.reason, { code: 'queue_full', details: { retryAfterMs: Number } });
  t.equal((await embedder.embed(many(200), by)).vectors.length, 200, 'nothing is left in the count');
  const { nQueued, nQueuedTokens, tokenMs, requestsPerSecond } = embedder.stats();
  t.strictSame({ nQueued, nQueuedTokens }, { nQueued: 0, nQueuedTokens: 0 });
  t.ok(tokenMs > 0 && requestsPerSecond > 0, 'what it believes is told');
});

/** Collects what nobody holds, and lets finalizers run. */
async function collect(): Promise<void> {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  await new Promise((resolve) => setImmediate(resolve));
}

async function openBert(t: Test, options: EngineOptions = {}) {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'bert' }) });
  t.teardown(() => model.close());
  const embedder = await model.createEmbedder({ nThreads, ...options });
  t.teardown(() => embedder.close());
  return { model, embedder };
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `text ${i}`);

/** Largest difference of two vectors; infinite when they cannot be compared. */
function distance(found: Float32Array, expected: ArrayLike<number> | undefined): number {
  if (found.length === 0 || found.length !== expected?.length) return Number.POSITIVE_INFINITY;
  return Math.max(...found.map((value, i) => Math.abs(value - (expected[i] ?? Number.NaN))));
}

function cosine(found: ArrayLike<number>, expected: Float32Array): number {
  return expected.reduce((sum, value, i) => sum + value * (found[i] ?? Number.NaN), 0);
}
