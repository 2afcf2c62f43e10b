/** Options of sampling and of contexts choose the tokens that llama.cpp chooses with them. */
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import {
  type EngineOptions,
  type GenerationHandler,
  LlamaModel,
  type LoadOptions,
  type Sampling,
} from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';
import { noReferences, nThreads, runReferenceOptions } from './reference.ts';

const nTokens = 24;
const prompt = [1, 400, 500, 600, 400, 500, 600, 400, 500, 600, 400, 500];
const seed = 7;

interface Case {
  sampling?: Sampling;
  engine?: EngineOptions;
  /** By the names of options_reference.cpp. */
  reference: Record<string, string | number>;
}

const loose = { temperature: 1.5, topK: 0, topP: 1, minP: 0 };
const looseReference = { temperature: 1.5, top_k: 0, top_p: 1, min_p: 0 };

const samplingCases: Record<string, Case> = {
  defaults: { reference: {} },
  'top_n_sigma before top_k': {
    sampling: { temperature: 2, topNSigma: 1.5 },
    reference: { temperature: 2, top_n_sigma: 1.5 },
  },
  'a smaller top_n_sigma': { sampling: { ...loose, topNSigma: 0.7 }, reference: { ...looseReference, top_n_sigma: 0.7 } },
  min_keep: {
    sampling: { temperature: 2, topP: 0.01, minKeep: 12 },
    reference: { temperature: 2, top_p: 0.01, min_keep: 12 },
  },
  dynatemp: {
    sampling: { dynatempRange: 0.7, dynatempExponent: 1.3 },
    reference: { dynatemp_range: 0.7, dynatemp_exponent: 1.3 },
  },
  'an order of its own': {
    sampling: { temperature: 3, topP: 0.5, topK: 5, samplers: ['temperature', 'top_p', 'top_k'] },
    reference: { temperature: 3, top_p: 0.5, top_k: 5, samplers: 'temperature,top_p,top_k' },
  },
  'no samplers': { sampling: { temperature: 0, samplers: [] }, reference: { temperature: 0, samplers: '' } },
  'DRY with all its parameters': {
    sampling: {
      ...loose,
      dryMultiplier: 3,
      dryBase: 2,
      dryAllowedLength: 1,
      dryPenaltyLastN: 40,
      drySequenceBreakers: ['x', 'yz'],
    },
    reference: {
      ...looseReference,
      dry_multiplier: 3,
      dry_base: 2,
      dry_allowed_length: 1,
      dry_penalty_last_n: 40,
      dry_sequence_breakers: 'x,yz',
    },
  },
  'DRY without looking back': {
    sampling: { dryMultiplier: 3, dryPenaltyLastN: 0 },
    reference: { dry_multiplier: 3, dry_penalty_last_n: 0 },
  },
  XTC: {
    sampling: { temperature: 1.5, xtcProbability: 0.8, xtcThreshold: 0.05 },
    reference: { temperature: 1.5, xtc_probability: 0.8, xtc_threshold: 0.05 },
  },
  'XTC without temperature': {
    sampling: { temperature: 0, xtcProbability: 0.8, xtcThreshold: 0.05 },
    reference: { temperature: 0, xtc_probability: 0.8, xtc_threshold: 0.05 },
  },
  'adaptive-p': {
    sampling: { adaptiveTarget: 0.3, adaptiveDecay: 0.7, samplers: ['min_p', 'adaptive_p'] },
    reference: { adaptive_target: 0.3, adaptive_decay: 0.7, samplers: 'min_p,adaptive_p' },
  },
  'repeat penalty': {
    sampling: { repeatPenalty: 1.5, repeatLastN: 4, frequencyPenalty: 0.5 },
    reference: { repeat_penalty: 1.5, repeat_last_n: 4, frequency_penalty: 0.5 },
  },
};

const contextCases: Record<string, Case> = {
  rope_freq_scale: { engine: { ropeFreqScale: 0.25 }, reference: { rope_freq_scale: 0.25 } },
  rope_freq_base: { engine: { ropeFreqBase: 500 }, reference: { rope_freq_base: 500 } },
  'linear scaling': {
    engine: { ropeScaling: 'linear', ropeFreqScale: 0.5 },
    reference: { rope_scaling: 'linear', rope_freq_scale: 0.5 },
  },
  YaRN: {
    engine: {
      ropeScaling: 'yarn',
      ropeFreqScale: 0.25,
      yarnOrigCtx: 128,
      yarnExtFactor: 0.8,
      yarnAttnFactor: 1.2,
      yarnBetaFast: 16,
      yarnBetaSlow: 2,
    },
    reference: {
      rope_scaling: 'yarn',
      rope_freq_scale: 0.25,
      yarn_orig_ctx: 128,
      yarn_ext_factor: 0.8,
      yarn_attn_factor: 1.2,
      yarn_beta_fast: 16,
      yarn_beta_slow: 2,
    },
  },
};

async function answer(
  t: Test,
  { sampling, engine: options = {} }: Pick<Case, 'sampling' | 'engine'>,
  load: Partial<LoadOptions> = {},
) {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }), ...load });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nParallel: 1, nThreads, nCtx: 512, ...options });
  t.teardown(() => engine.close());
  const job = { prompt: { kind: 'tokens', tokens: Int32Array.from(prompt) } as const, maxTokens: nTokens };
  return (await complete(engine, { ...job, sampling: { seed, ...sampling } })).tokens;
}

/** An answer ends at a token that ends generation; the reference goes on. */
async function compare(t: Test, cases: Record<string, Case>): Promise<void> {
  const references = Object.values(cases).map(({ reference }) => ({ seed, ...reference }));
  const expected = await runReferenceOptions(await randomModel({ arch: 'llama' }), prompt, nTokens, references);
  let nCompared = 0;
  for (const [i, [name, each]] of Object.entries(cases).entries()) {
    const tokens = await answer(t, each);
    t.strictSame(tokens, expected[i]?.slice(0, tokens.length), name);
    nCompared += tokens.length;
  }
  t.ok(nCompared > (nTokens * expected.length) / 2, 'few answers end early');
  const distinct = new Set(expected.map((tokens) => tokens.join(' ')));
  t.ok(distinct.size > expected.length / 2, 'options change what is chosen, or the comparison says little');
}

t.test('sampling', { skip: noReferences() }, (t) => compare(t, samplingCases));
t.test('positions', { skip: noReferences() }, (t) => compare(t, { ...contextCases, greedy: { reference: {} } }));

const silent: GenerationHandler = { onContent() {}, onFinish() {}, onDone() {}, onError() {} };
const greedy: Sampling = { temperature: 0 };

t.test('how weights are read changes no token', async (t) => {
  const expected = await answer(t, { sampling: greedy });
  const ways: Partial<LoadOptions>[] = [
    { mmap: false },
    { directIo: true },
    { checkTensors: true },
    { devices: ['none'] },
    { cpuMoe: true, nCpuMoe: 2 },
    { overrideTensor: [String.raw`blk\.0\.ffn_.*=CPU`] },
    { overrideKv: ['tokenizer.ggml.add_bos_token=bool:false'] },
  ];
  for (const load of ways) t.strictSame(await answer(t, { sampling: greedy }, load), expected, JSON.stringify(load));
  for (const engine of [{ kvOnDevice: false }, { opOffload: false }])
    t.strictSame(await answer(t, { sampling: greedy, engine }), expected, JSON.stringify(engine));
});

t.test('override_kv replaces what the file says', async (t) => {
  const path = await randomModel({ arch: 'llama' });
  const model = await LlamaModel.load({ path, overrideKv: ['llama.context_length=int:96'] });
  t.teardown(() => model.close());
  t.equal(model.info.nCtxTrain, 96);
});

t.test('what cannot be is refused, and says why', async (t) => {
  const path = await randomModel({ arch: 'llama' });
  const refused: [Partial<LoadOptions>, RegExp][] = [
    [{ devices: ['NOPE0'] }, /'devices' names NOPE0; there are: /],
    [{ overrideTensor: ['x=NOPE'] }, /names the buffer NOPE; there are: .*CPU/],
    ...['(', 'a)', '*', 'a**', '(?=a)', '[z-a]', '[', '[]', 'a{2}', '\\', '\\q', '^*', 'a b'].map(
      (pattern): [Partial<LoadOptions>, RegExp] => [{ overrideTensor: [`${pattern}=CPU`] }, /no regular expression/],
    ),
    [{ overrideTensor: ['nothing'] }, /PATTERN=BUFFER/],
    [{ overrideKv: ['a=int:x'] }, /no number/],
    [{ overrideKv: ['a=int:99999999999999999999'] }, /no number, or none that fits/],
    [{ overrideKv: ['a=list:1'] }, /int, float, bool and str/],
    [{ overrideKv: ['a'] }, /KEY=TYPE:VALUE/],
    [{ overrideKv: [`${'k'.repeat(128)}=int:1`] }, /more than 127 bytes/],
    [{ directIo: true, mlock: true }, /exclude each other/],
    [{ tensorSplit: [-1] }, /tensorSplit/],
    [{ overrideKv: ['a\0b=int:1'] }, /NUL/],
  ];
  for (const [load, message] of refused)
    await t.rejects(LlamaModel.load({ path, ...load }), { code: 'invalid_argument', message }, JSON.stringify(load));
});

t.test('a list of samplers names each once, and those that there are', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny' }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads });
  t.teardown(() => engine.close());
  const refusal = (sampling: object) =>
    t.throws(() => engine.submit({ tenant: 'test', prompt: { kind: 'text', text: 'a' }, sampling }, silent), {
      code: 'invalid_argument',
    });
  refusal({ samplers: ['top_k', 'top_k'] });
  refusal({ samplers: ['infill'] });
  refusal({ samplers: 'top_k' });
  refusal({ drySequenceBreakers: [''] });
  refusal({ drySequenceBreakers: ['x'.repeat(300)] });
  refusal({ dryBase: 0.5 });
  refusal({ adaptiveDecay: 1 });
});
