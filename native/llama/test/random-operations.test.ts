/**
 * Random submits, cancels, pauses and tenants under KV pressure, while other models come and go and worker threads are ended: every
 * answer must be the one that the prompt gets alone. SVC_TEST_OPERATIONS sets how many operations; with drafts, half as many.
 * SVC_TEST_MINUTES sets for how long instead.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { SeededRandom } from '../../../models/random/seeded-random.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { rounds } from '../../../test/test-support/rounds.ts';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';
import { type EngineOptions, LlamaModel } from '../../../ts/server/native/llama.ts';
import { crashWorkers, switchModels } from './coming-and-going.ts';
import { type Ending, fewTokens, ModelAlone, nearlyEqual, start } from './model-alone.ts';

const nOperations = iterations(120, 400, 'SVC_TEST_OPERATIONS');

/** Prompts that share prefixes of several lengths, as chats with a common system prompt do. */
function makePrompts(random: SeededRandom): Int32Array[] {
  const token = () => 300 + random.integer(5_000);
  const shared = Array.from({ length: 390 }, token);
  return Array.from({ length: 24 }, (_, i) => {
    const own = Array.from({ length: 5 + random.integer(60) }, token);
    return Int32Array.from([1, ...shared.slice(0, [0, 50, 200, 390][i % 4]), ...own]);
  });
}

/** Most answers end by their length alone. */
const endings: Ending[] = [
  { stop: ['s', 'ing'] },
  { jsonSchema: '{"type": "array", "items": {"enum": ["red", "green", "blue"]}, "minItems": 3, "maxItems": 6}' },
];

/** States that are evicted are saved, in less memory than all of them need. */
const offloadBytes = 1_000_000;

interface Variant {
  title: string;
  share: number;
  logitBias: [number, number][];
  /** Saved states go to disk too. */
  disk?: boolean;
  options: EngineOptions;
}

/** Cells for 8 sequences of up to 480 tokens. */
const unifiedKv = { nCtx: 2_048, kvUnified: true };
const perSequenceKv = { nCtx: 8 * 512, kvUnified: false };

const variants: Variant[] = [
  {
    title: 'one buffer for all: prefixes are evicted and generations preempted all the time',
    share: 1,
    logitBias: [],
    options: unifiedKv,
  },
  {
    title: 'a buffer for each: prefixes are copied, rows fill the gaps between running sequences, and saved states go to disk',
    share: 1,
    logitBias: [],
    disk: true,
    options: perSequenceKv,
  },
  {
    title: 'one buffer for all, with drafts',
    share: 0.5,
    logitBias: fewTokens,
    options: { ...unifiedKv, speculation: 'always' },
  },
  {
    title: 'a buffer for each, with drafts',
    share: 0.5,
    logitBias: fewTokens,
    options: { ...perSequenceKv, speculation: 'always' },
  },
];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Of the process without the heap of JS, when everything of a variant is closed, MiB. */
const levels: number[] = [];

const shares = variants.reduce((sum, { share }) => sum + share, 0);

for (const variant of variants) {
  const count = Math.ceil(nOperations * variant.share);
  t.test(`${count} random operations leave every answer as it is alone (${variant.title})`, async (t) => {
    t.teardown(() => {
      collectGarbage();
      const { rss, heapTotal } = process.memoryUsage();
      levels.push((rss - heapTotal) / 2 ** 20);
    });
    await operate(t, count, variant);
  });
}

const skip = isSanitized() ? 'a sanitizer keeps freed memory' : false;
t.test('memory returns to its level', { skip }, async (t) => {
  // Allocators reach it when each layout of the KV cache was there once.
  const [first, later] = [levels.slice(0, 2), levels.slice(2)];
  t.ok(Math.max(...later) - Math.max(...first) < 80, `${levels.map((level) => level.toFixed(0)).join(', ')} MiB`);
});

async function operate(t: Test, count: number, { share, logitBias, disk, options }: Variant): Promise<void> {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 }) });
  t.teardown(() => model.close());
  const random = new SeededRandom(7);
  const prompts = makePrompts(random);
  const engineAlone = await model.createEngine({ nCtx: 2_048, nParallel: 1, speculation: 'off' });
  t.teardown(() => engineAlone.close());
  const alone = new ModelAlone(engineAlone, logitBias);
  let isOver = false;
  const [switched, crashed] = [switchModels(t, () => isOver), crashWorkers(() => isOver)];
  const diskOffload = disk ? { kvOffloadDiskBytes: 64 * offloadBytes, kvOffloadFolder: t.testdir() } : {};
  const engine = await model.createEngine({ nParallel: 8, kvOffloadMemoryBytes: offloadBytes, ...diskOffload, ...options });
  t.teardown(() => engine.close());
  const checks: Promise<void>[] = [];
  let worst = 0;
  let nDone = 0;
  for (const operation of rounds(count, share / shares)) {
    nDone = operation + 1;
    const which = random.integer(prompts.length);
    const tokens = prompts[which] as Int32Array;
    const ending = random.chance(0.3) ? (endings[random.integer(endings.length)] as Ending) : {};
    const running = start(engine, {
      tenant: `tenant-${random.integer(3)}`,
      prompt: { kind: 'tokens', tokens },
      logitBias,
      ...ending,
      n: random.chance(0.15) ? 2 : 1,
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
        worst = Math.max(worst, await alone.largestGap(tokens, answer, ending));
      }),
    );
    while (engine.stats().nQueued > 40) await Promise.race(checks.slice(-20));
  }
  await Promise.all(checks);
  isOver = true;
  t.comment(`${nDone} operations, ${await switched} models came and went, ${await crashed} worker threads were ended`);
  t.ok(checks.length > nDone / 2, 'most jobs ran to their end');
  t.ok(worst < nearlyEqual, `tokens differ only where they were nearly equal (largest gap ${worst.toFixed(4)})`);
  while (engine.stats().nActive > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const { nQueued, nQueuedTokens, kvCellsUsed, draftedTokensTotal, acceptedTokensTotal, ...tier } = engine.stats();
  t.ok(tier.offloadHitsTotal > 0 && tier.offloadMemoryBytes <= offloadBytes, 'saved states were brought back');
  if (disk) t.ok(tier.offloadDiskBytes > 0, 'some of them lie on disk');
  t.strictSame({ nQueued, nQueuedTokens }, { nQueued: 0, nQueuedTokens: 0 }, 'nobody is left');
  t.ok(kvCellsUsed <= (options.nCtx ?? 0), 'what is left in the cache fits');
  if (options.speculation)
    t.ok(acceptedTokensTotal > nDone, `${acceptedTokensTotal} of ${draftedTokensTotal} drafted tokens were right`);
}
