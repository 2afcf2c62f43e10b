/**
 * Speculative decoding changes what a step costs and nothing of what is answered: with the same seed, the tokens are those of
 * plain decoding.
 *
 * A verified row stands in a batch of another size than alone, and floats differ with that (see "Where batches differ" in
 * native/llama/kv/README.md). So greedy answers may part where two tokens were nearly equal, and drawn ones where the draw fell within a
 * hair of the border between two tokens.
 */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import type { RandomModelOptions } from '../../../models/random/random-model.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { type EngineOptions, type GenerationJob, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Completion, complete } from './completion.ts';
import { fewTokens, ModelAlone, nearlyEqual, start } from './model-alone.ts';
import { prompts } from './prompts.ts';
import { nThreads } from './reference.ts';

type Job = Omit<GenerationJob, 'tenant'>;

async function withEngines<T>(
  t: { teardown(work: () => unknown): void },
  model: RandomModelOptions,
  options: EngineOptions,
  work: (engine: LlamaEngine) => Promise<T>,
): Promise<{ plain: T; speculative: T; drafted: number; accepted: number }> {
  const loaded = await LlamaModel.load({ path: await randomModel(model) });
  t.teardown(() => loaded.close());
  const engine = (speculation: 'off' | 'always') =>
    loaded.createEngine({ nCtx: 2_048, nParallel: 1, nThreads, ...options, speculation });
  const off = await engine('off');
  const plain = await work(off);
  await off.close();
  const on = await engine('always');
  const speculative = await work(on);
  const { draftedTokensTotal: drafted, acceptedTokensTotal: accepted } = on.stats();
  await on.close();
  return { plain, speculative, drafted, accepted };
}

function sameAnswers(a: Completion[], b: Completion[]): number {
  return a.filter(({ tokens }, i) => tokens.join() === b[i]?.tokens.join()).length / a.length;
}

const models: RandomModelOptions[] = [
  { arch: 'llama' },
  { arch: 'qwen3', vocabulary: 'gpt-2', type: 'q8_0' },
  { arch: 'gemma2' },
  { arch: 'gpt2' },
];

for (const shape of models) {
  for (const kvUnified of [true, false]) {
    t.test(
      `${shape.arch}, ${kvUnified ? 'one buffer' : 'per-sequence KV'}: greedy answers are those of the model alone`,
      async (t) => {
        const model = await LlamaModel.load({ path: await randomModel(shape) });
        t.teardown(() => model.close());
        const engineAlone = await model.createEngine({ nCtx: 2_048, nParallel: 1, nThreads, speculation: 'off' });
        t.teardown(() => engineAlone.close());
        const alone = new ModelAlone(engineAlone, fewTokens);
        const engine = await model.createEngine({ nCtx: 2_048, nParallel: 4, nThreads, kvUnified, speculation: 'always' });
        t.teardown(() => engine.close());
        const gaps = prompts.map(async (text) => {
          const tokens = await model.tokenize(text);
          const job = { tenant: 'test', prompt: { kind: 'tokens', tokens } as const, logitBias: fewTokens };
          return alone.largestGap(tokens, await start(engine, job).answer);
        });
        const worst = Math.max(...(await Promise.all(gaps)));
        t.ok(worst < nearlyEqual, `tokens differ only where they were nearly equal (largest gap ${worst.toFixed(4)})`);
        const { draftedTokensTotal: drafted, acceptedTokensTotal: accepted } = engine.stats();
        t.ok(drafted > 0 && accepted > 0 && accepted < drafted, `${accepted} of ${drafted} drafted tokens were right`);
      },
    );
  }
}

const nSeeds = iterations(100, 300);

t.test(`each of ${nSeeds} seeds draws what it draws without speculation`, async (t) => {
  const job = (seed: number): Job => ({
    prompt: { kind: 'text', text: 'one two one two one' },
    maxTokens: 24,
    logitBias: fewTokens,
    sampling: { temperature: 1, topK: 0, topP: 1, minP: 0, seed },
  });
  const { plain, speculative, drafted, accepted } = await withEngines(t, { arch: 'llama' }, {}, async (engine) => {
    const answers: Completion[] = [];
    for (let seed = 1; seed <= nSeeds; seed++) answers.push(await complete(engine, job(seed)));
    return answers;
  });
  t.ok(drafted > (10 / 3) * nSeeds && accepted > nSeeds, `${accepted} of ${drafted} drafted tokens were right`);
  t.ok(
    new Set(plain.map(({ tokens }) => tokens.join())).size > 0.96 * nSeeds,
    'seeds differ in what they draw, or this says little',
  );
  const same = sameAnswers(plain, speculative);
  t.ok(same >= 0.98, `${(100 * same).toFixed(1)} % of ${nSeeds} answers of 24 tokens are the same, token for token`);
});

const features: Record<string, Partial<Job>> = {
  'max_tokens inside a draft': { maxTokens: 7 },
  'the end of the context': { sampling: { temperature: 0, ignoreEos: true } },
  'several choices': { n: 3, maxTokens: 20, sampling: { temperature: 1, seed: 5 } },
  penalties: {
    maxTokens: 40,
    sampling: { temperature: 0.8, seed: 1, repeatPenalty: 1.3, presencePenalty: 0.5, dryMultiplier: 0.8 },
  },
  mirostat: { maxTokens: 40, sampling: { temperature: 0.8, seed: 1, mirostat: 2 } },
  'a grammar': { maxTokens: 40, logitBias: [], grammar: 'root ::= ("ab" | "abc" | "xy ")+' },
  'a schema': { maxTokens: 60, logitBias: [], jsonSchema: '{"type":"array","items":{"enum":["red","green"]},"minItems":6}' },
};

for (const [name, more] of Object.entries(features)) {
  t.test(`${name}: as without speculation`, async (t) => {
    const job: Job = { prompt: { kind: 'text', text: 'a b a b a b a' }, logitBias: fewTokens, ...more };
    const { plain, speculative, drafted } = await withEngines(t, { arch: 'llama' }, { nCtx: 256, nParallel: 4 }, (engine) =>
      complete(engine, job),
    );
    t.ok(drafted > 0, 'something was drafted');
    // Several choices arrive in turns that depend on the pace.
    t.strictSame(speculative.tokens.toSorted(), plain.tokens.toSorted());
    t.equal(speculative.finish, plain.finish);
    t.equal(speculative.usage.nCompletionTokens, plain.usage.nCompletionTokens);
  });
}

t.test('a stop string inside a draft ends the answer where it would end without', async (t) => {
  const prompt = { kind: 'text', text: 'a b a b a b a' } as const;
  const { plain, speculative } = await withEngines(t, { arch: 'llama' }, {}, async (engine) => {
    const whole = await complete(engine, { prompt, logitBias: fewTokens, maxTokens: 64 });
    const stop = whole.text.slice(40, 46);
    return { whole, stopped: await complete(engine, { prompt, logitBias: fewTokens, maxTokens: 64, stop: [stop] }) };
  });
  t.equal(speculative.stopped.finish, 'stop');
  t.ok(speculative.whole.text.startsWith(speculative.stopped.text));
  t.equal(speculative.stopped.text, plain.stopped.text);
  t.equal(speculative.stopped.usage.nCompletionTokens, plain.stopped.usage.nCompletionTokens);
});

t.test('log probabilities of accepted tokens are those of the model', async (t) => {
  const { plain, speculative, accepted } = await withEngines(t, { arch: 'llama' }, {}, async (engine) => {
    const logprobs: number[] = [];
    await new Promise<void>((resolve, reject) => {
      engine.submit(
        {
          tenant: 'test',
          prompt: { kind: 'text', text: 'a b a b' },
          logitBias: fewTokens,
          maxTokens: 48,
          sampling: { temperature: 0 },
          topLogprobs: 2,
        },
        {
          onContent() {},
          onFinish() {},
          onLogprobs: (_choice, tokens) => logprobs.push(...tokens.map(({ logprob }) => logprob)),
          onDone: () => resolve(),
          onError: reject,
        },
      );
    });
    return logprobs;
  });
  t.ok(accepted > 0, 'drafts were accepted');
  t.equal(speculative.length, plain.length);
  const worst = Math.max(...speculative.map((value, i) => Math.abs(value - (plain[i] ?? 0))));
  t.ok(worst < 0.02, `they differ by ${worst.toExponential(1)} at most`);
});

t.test('a job decides for itself', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 1_024, nParallel: 1, nThreads, speculation: 'always' });
  t.teardown(() => engine.close());
  const job: Job = { prompt: { kind: 'text', text: 'a b a b a b' }, logitBias: fewTokens, maxTokens: 48 };
  const usage = async (more: Partial<Job>) => (await complete(engine, { ...job, ...more })).usage;
  const free = await usage({});
  t.ok(free.nDraftedTokens > 48 && free.nAcceptedTokens > 0);
  t.equal((await usage({ draftSource: 'none' })).nDraftedTokens, 0, 'no drafts at all');
  t.equal((await usage({ draftSource: 'model' })).nDraftedTokens, 0, 'drafts of a model that is not there');
  t.equal((await usage({ nDraftMax: 0 })).nDraftedTokens, 0);
  const { nDraftedTokens } = await usage({ nDraftMax: 1 });
  t.ok(nDraftedTokens > 0 && nDraftedTokens < 48, 'one in a step at most');
});

t.test('a draft model', async (t) => {
  const target = await LlamaModel.load({ path: await randomModel({ arch: 'llama', seed: 1 }) });
  t.teardown(() => target.close());
  const job: Job = { prompt: { kind: 'text', text: 'Once upon a time' }, maxTokens: 40 };
  const answer = async (draft?: LlamaModel, more: Partial<Job> = {}) => {
    const engine = await target.createEngine({ nCtx: 2_048, nParallel: 4, nThreads, speculation: 'always' }, undefined, draft);
    const answers = await Promise.all(
      [1, 2, 3].map((i) => complete(engine, { ...job, ...more, prompt: { kind: 'text', text: `${i} upon a time` } })),
    );
    await engine.close();
    return answers;
  };
  const tokens = (answers: Completion[]) => answers.map((one) => one.tokens);
  const alone = await answer();
  t.equal(alone[0]?.usage.nDraftedTokens, 0, 'a random model does not repeat itself');

  const twin = await LlamaModel.load({ path: await randomModel({ arch: 'llama', seed: 1 }) });
  t.teardown(() => twin.close());
  const drafted = await answer(twin);
  t.strictSame(tokens(drafted), tokens(alone), 'its own twin drafts for it and the answers stay');
  for (const { usage } of drafted) t.ok(usage.nAcceptedTokens > 10, `${usage.nAcceptedTokens} of ${usage.nDraftedTokens}`);

  const stranger = await LlamaModel.load({ path: await randomModel({ arch: 'llama', seed: 2 }) });
  t.teardown(() => stranger.close());
  t.strictSame(tokens(await answer(stranger)), tokens(alone), 'so they do with a draft model that is always wrong');
  t.equal((await answer(twin, { draftSource: 'ngram' }))[0]?.usage.nDraftedTokens, 0, 'a job may do without it');

  const foreign = await LlamaModel.load({ path: await randomModel({ arch: 'gpt2' }) });
  t.teardown(() => foreign.close());
  await t.rejects(
    target.createEngine({ nCtx: 256 }, undefined, foreign),
    { code: 'draft_model_incompatible' },
    'another vocabulary is refused',
  );
});
