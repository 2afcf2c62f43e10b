/**
 * Random submits, cancels, pauses and tenants under KV pressure: every answer must be the one that the prompt gets alone.
 *
 * Batches differ in company, and floats with them, so greedy choices between near-equal tokens may flip (see "Where batches
 * differ" in ARCHITECTURE.md): at the first difference, both tokens must be within a hair of each other.
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

function start(engine: LlamaEngine, job: Omit<GenerationJob, 'maxTokens' | 'sampling' | 'topLogprobs'>): Running {
  const tokens: TokenLogprob[] = [];
  let id = 0;
  const answer = new Promise<Answer>((resolve) => {
    id = engine.submit(
      { ...job, maxTokens: nTokens, sampling: { temperature: 0, ignoreEos: true }, topLogprobs: 5 },
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

async function answerAlone(model: LlamaModel, prompts: Int32Array[], logitBias: [number, number][]): Promise<Answer[]> {
  const engine = await model.createEngine({ nCtx: 2_048, nParallel: 1, speculation: 'off' });
  const answers: Answer[] = [];
  for (const tokens of prompts) {
    const prompt = { kind: 'tokens', tokens } as const;
    answers.push(await start(engine, { tenant: 'alone', prompt, logitBias, cachePrompt: false }).answer);
  }
  await engine.close();
  return answers;
}

/** How far apart the two tokens were where the answers part, in natural-log units; 0 when they agree. */
function gapAtFirstDifference(answer: Answer, alone: Answer): number {
  const at = answer.tokens.findIndex((token, i) => token.token !== alone.tokens[i]?.token);
  if (at === -1) return answer.tokens.length === alone.tokens.length ? 0 : Number.POSITIVE_INFINITY;
  const [chosen, expected] = [answer.tokens[at], alone.tokens[at]];
  return chosen && expected ? Math.abs(chosen.logprob - expected.logprob) : Number.POSITIVE_INFINITY;
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
  const alone = await answerAlone(model, prompts, logitBias);
  const engine = await model.createEngine({ nParallel: 8, kvTierMemoryBytes: tierBytes, ...options });
  t.teardown(() => engine.close());
  const checks: Promise<void>[] = [];
  let worst = 0;
  for (let operation = 0; operation < count; operation++) {
    const which = random.integer(prompts.length);
    const prompt = { kind: 'tokens', tokens: prompts[which] as Int32Array } as const;
    const running = start(engine, {
      tenant: `tenant-${random.integer(3)}`,
      prompt,
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
      setTimeout(() => engine.resume(running.id), random.integer(30));
    }
    checks.push(
      running.answer.then((answer) => {
        if (answer.error) t.fail(`prompt ${which} failed with ${answer.error}`);
        worst = Math.max(worst, gapAtFirstDifference(answer, alone[which] as Answer));
      }),
    );
    while (engine.stats().nQueued > 40) await Promise.race(checks.slice(-20));
  }
  await Promise.all(checks);
  t.ok(checks.length > count / 2, 'most jobs ran to their end');
  t.ok(worst < nearlyEqual, `tokens differ only where they were nearly equal (largest gap ${worst.toFixed(4)})`);
  const { nActive, nQueued, kvCellsUsed, tierHitsTotal, tierMemoryBytes, draftedTokensTotal, acceptedTokensTotal } =
    engine.stats();
  t.ok(tierHitsTotal > 0 && tierMemoryBytes <= tierBytes, 'saved states were brought back');
  t.ok(nActive <= 8 && nQueued <= 40 && kvCellsUsed <= (options.nCtx ?? 0), 'nothing is left over that was not there');
  if (options.speculation)
    t.ok(acceptedTokensTotal > count, `${acceptedTokensTotal} of ${draftedTokensTotal} drafted tokens were right`);
}
