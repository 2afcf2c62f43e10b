/**
 * Random submits, cancels, pauses and tenants under KV pressure, while another model comes and goes: every answer must be the one that
 * the prompt gets alone. SVC_TEST_OPERATIONS sets how many operations (400).
 *
 * Batches differ in company, and floats with them, so greedy choices between near-equal tokens may flip (see "Where batches
 * differ" in ARCHITECTURE.md). Where an answer parts from the one alone, its token must be within a hair of the best for the model alone,
 * and what follows is held against what the model alone says from there on.
 */
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { SeededRandom } from '../../../models/random/seeded-random.ts';
import {
  type EngineOptions,
  type GenerationJob,
  type LlamaEngine,
  LlamaModel,
  type TokenLogprob,
} from '../../../ts/server/native/llama.ts';

const nOperations = Number(process.env.SVC_TEST_OPERATIONS ?? 400);
const nTokens = 24;
/** Natural-log units; measured gaps at flips stay below 0.02 on random weights. */
const nearlyEqual = 0.05;
/** Among a few tokens the model has to repeat itself, so that drafts are accepted. */
const fewTokens: [number, number][] = [310, 320, 330, 340, 350, 360].map((token) => [token, 200]);

interface Answer {
  tokens: TokenLogprob[];
  error: string | undefined;
}

interface Running {
  id: number;
  answer: Promise<Answer>;
}

function start(engine: LlamaEngine, job: Omit<GenerationJob, 'sampling' | 'topLogprobs'>): Running {
  const tokens: TokenLogprob[] = [];
  let id = 0;
  const answer = new Promise<Answer>((resolve) => {
    id = engine.submit(
      { maxTokens: nTokens, ...job, sampling: { temperature: 0, ignoreEos: true }, topLogprobs: 5 },
      {
        onContent() {},
        onFinish() {},
        onLogprobs: (_choice, more) => tokens.push(...more),
        onDone: () => resolve({ tokens, error: undefined }),
        onError: (error) => resolve({ tokens, error: error.code }),
      },
    );
  });
  return { id, answer };
}

/** Prompts that share prefixes of several lengths, as chats with a common system prompt do. */
function makePrompts(random: SeededRandom): Int32Array[] {
  const token = () => 300 + random.integer(5_000);
  const shared = Array.from({ length: 390 }, token);
  return Array.from({ length: 24 }, (_, i) => {
    const own = Array.from({ length: 5 + random.integer(60) }, token);
    return Int32Array.from([1, ...shared.slice(0, [0, 50, 200, 390][i % 4]), ...own]);
  });
}

/** The model with nothing beside a job. */
class Alone {
  readonly #engine: LlamaEngine;
  readonly #logitBias: [number, number][];
  readonly #answers = new Map<string, Promise<Answer>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: LlamaEngine, logitBias: [number, number][]) {
    this.#engine = engine;
    this.#logitBias = logitBias;
  }

  /** Largest gap, in natural-log units, between a token of the answer and the best in its place; infinite for a token that is far off. */
  async largestGap(prompt: Int32Array, { tokens }: Answer): Promise<number> {
    let worst = 0;
    let from = 0;
    while (from < nTokens) {
      const said = tokens.slice(from);
      const alone = await this.#answer(
        Int32Array.from([...prompt, ...tokens.slice(0, from).map(({ token }) => token)]),
        nTokens - from,
      );
      const at = alone.tokens.findIndex(({ token }, i) => token !== said[i]?.token);
      if (at === -1) break;
      worst = Math.max(worst, gap(said[at], alone.tokens[at]));
      from += at + 1;
    }
    return worst;
  }

  #answer(tokens: Int32Array, maxTokens: number): Promise<Answer> {
    const key = tokens.join();
    let answer = this.#answers.get(key);
    if (!answer) {
      const job = { tenant: 'alone', prompt: { kind: 'tokens', tokens } as const, maxTokens, cachePrompt: false };
      answer = this.#last.then(() => start(this.#engine, { ...job, logitBias: this.#logitBias }).answer);
      this.#answers.set(key, answer);
      this.#last = answer;
    }
    return answer;
  }
}

/** A biased token may be far from the likeliest: then its own probability has to do. */
function gap(said: TokenLogprob | undefined, best: TokenLogprob | undefined): number {
  if (!said || !best) return Number.POSITIVE_INFINITY;
  const foretold = best.top.find(({ token }) => token === said.token);
  const isBiased = !best.top.some(({ token }) => token === best.token);
  if (!foretold && !isBiased) return Number.POSITIVE_INFINITY;
  return Math.abs(best.logprob - (foretold ?? said).logprob);
}

/** Loads and closes another model until told to stop; each time it answers the same. Returns how often. */
async function switchModels(t: Test, isOver: () => boolean): Promise<number> {
  const path = await randomModel({ arch: 'qwen3', shape: 'tiny', seed: 2 });
  const prompt = { kind: 'tokens', tokens: Int32Array.from([1, 400, 500, 600]) } as const;
  let first: Answer | undefined;
  let nTimes = 0;
  for (; nTimes === 0 || !isOver(); nTimes++) {
    const model = await LlamaModel.load({ path });
    const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads: 1 });
    const answer = await start(engine, { tenant: 'other', prompt }).answer;
    first ??= answer;
    if (answer.tokens.map(({ token }) => token).join() !== first.tokens.map(({ token }) => token).join())
      t.fail('another answer');
    // The second one is closed in the middle of its work.
    const cut = start(engine, { tenant: 'other', prompt }).answer;
    await Promise.all([engine.close(), model.close(), cut]);
  }
  return nTimes;
}

/** States that give way are saved, in less memory than all of them need. */
const tierBytes = 1_000_000;

interface Variant {
  title: string;
  share: number;
  logitBias: [number, number][];
  options: EngineOptions;
}

/** Cells for 8 sequences of up to 480 tokens. */
const oneBuffer = { nCtx: 2_048, kvUnified: true };
const aBufferEach = { nCtx: 8 * 512, kvUnified: false };

const variants: Variant[] = [
  {
    title: 'one buffer for all: prefixes are evicted and generations preempted all the time',
    share: 1,
    logitBias: [],
    options: oneBuffer,
  },
  {
    title: 'a buffer for each: prefixes are copied, and rows fill the gaps between running sequences',
    share: 1,
    logitBias: [],
    options: aBufferEach,
  },
  {
    title: 'one buffer for all, with drafts',
    share: 0.5,
    logitBias: fewTokens,
    options: { ...oneBuffer, speculation: 'always' },
  },
  {
    title: 'a buffer for each, with drafts',
    share: 0.5,
    logitBias: fewTokens,
    options: { ...aBufferEach, speculation: 'always' },
  },
];

for (const variant of variants) {
  const count = Math.ceil(nOperations * variant.share);
  t.test(`${count} random operations leave every answer as it is alone (${variant.title})`, (t) => operate(t, count, variant));
}

async function operate(t: Test, count: number, { logitBias, options }: Variant): Promise<void> {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 }) });
  t.teardown(() => model.close());
  const random = new SeededRandom(7);
  const prompts = makePrompts(random);
  const engineAlone = await model.createEngine({ nCtx: 2_048, nParallel: 1, speculation: 'off' });
  t.teardown(() => engineAlone.close());
  const alone = new Alone(engineAlone, logitBias);
  let isOver = false;
  const switched = switchModels(t, () => isOver);
  const engine = await model.createEngine({ nParallel: 8, kvTierMemoryBytes: tierBytes, ...options });
  t.teardown(() => engine.close());
  const checks: Promise<void>[] = [];
  let worst = 0;
  for (let operation = 0; operation < count; operation++) {
    const which = random.integer(prompts.length);
    const tokens = prompts[which] as Int32Array;
    const running = start(engine, {
      tenant: `tenant-${random.integer(3)}`,
      prompt: { kind: 'tokens', tokens },
      logitBias,
      cachePrompt: random.chance(0.8),
    });
    const fate = random.next();
    if (fate < 0.3) {
      setTimeout(() => engine.cancel(running.id), random.integer(20));
      continue;
    }
    if (fate < 0.45) {
      engine.pause(running.id);
      // Some do not read for so long that others are let past them.
      setTimeout(() => engine.resume(running.id), random.chance(0.05) ? 1_500 : random.integer(30));
    }
    checks.push(
      running.answer.then(async (answer) => {
        if (answer.error) t.fail(`prompt ${which} failed with ${answer.error}`);
        worst = Math.max(worst, await alone.largestGap(tokens, answer));
      }),
    );
    while (engine.stats().nQueued > 40) await Promise.race(checks.slice(-20));
  }
  await Promise.all(checks);
  isOver = true;
  t.ok((await switched) > 0, 'another model came and went');
  t.ok(checks.length > count / 2, 'most jobs ran to their end');
  t.ok(worst < nearlyEqual, `tokens differ only where they were nearly equal (largest gap ${worst.toFixed(4)})`);
  while (engine.stats().nActive > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const { nQueued, nQueuedTokens, kvCellsUsed, tierHitsTotal, tierMemoryBytes, draftedTokensTotal, acceptedTokensTotal } =
    engine.stats();
  t.ok(tierHitsTotal > 0 && tierMemoryBytes <= tierBytes, 'saved states were brought back');
  t.strictSame({ nQueued, nQueuedTokens }, { nQueued: 0, nQueuedTokens: 0 }, 'nobody is left');
  t.ok(kvCellsUsed <= (options.nCtx ?? 0), 'what is left in the cache fits');
  if (options.speculation)
    t.ok(acceptedTokensTotal > count, `${acceptedTokensTotal} of ${draftedTokensTotal} drafted tokens were right`);
}
