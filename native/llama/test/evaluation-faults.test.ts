/**
 * An evaluation fails, wherever in a step: the others say what they would have said alone, and so does who comes later. Steps hold
 * prompts of several physical batches, prefixes that are shared, drafts, an image, and rows that fill gaps between sequences.
 */
import t, { type Test } from 'tap';
import { randomModel, randomProjector } from '../../../models/random/fixture.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { type EngineOptions, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Faults, loadedFaults, noFaults, runUnderFaults } from './faults.ts';
import { type Answer, fewTokens, ModelAlone, nearlyEqual, start } from './model-alone.ts';
import { noReferences } from './reference.ts';

const nPlaces = iterations(12, 60, 'SVC_TEST_FAULT_PLACES');
const faults = loadedFaults();

if (faults) await testUnder(faults);
else t.test('under faults', { skip: noFaults() || noReferences() }, (t) => runUnderFaults(t, import.meta.filename));

/** Prompts longer than a physical batch, some with a common beginning. */
function prompts(salt: number): Int32Array[] {
  return [40, 90, 150, 200].map((length, i) =>
    Int32Array.from({ length }, (_, at) => (at < 30 ? 300 + at : 1_000 + ((salt * 131 + i * 977 + at * 37) % 8_000))),
  );
}

async function testUnder(faults: Faults): Promise<void> {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  const engineAlone = await model.createEngine({ nCtx: 1_024, nParallel: 1, nThreads: 1, speculation: 'off' });
  t.teardown(() => engineAlone.close());

  const variants: [string, EngineOptions, [number, number][]][] = [
    ['a KV buffer for all', { kvUnified: true }, []],
    ['a KV buffer for each', { kvUnified: false }, []],
    ['a KV buffer for all, with drafts', { kvUnified: true, speculation: 'always' }, fewTokens],
    ['a KV buffer for each, with drafts', { kvUnified: false, speculation: 'always' }, fewTokens],
  ];
  for (const [what, options, logitBias] of variants) {
    t.test(what, async (t) => {
      const alone = new ModelAlone(engineAlone, logitBias);
      const engine = await model.createEngine({ nCtx: 6 * 512, nParallel: 6, nThreads: 1, nBatch: 256, nUbatch: 64, ...options });
      t.teardown(() => engine.close());
      faults.arm('evaluation', 1, 0);
      await round(t, engine, alone, logitBias, 0);
      const nEvaluations = faults.seen();
      t.ok(nEvaluations > 10, `${nEvaluations} evaluations`);
      for (let place = 0; place < nPlaces; place++) {
        const nth = 1 + Math.floor((place * nEvaluations) / nPlaces);
        faults.arm('evaluation', nth, 1 + (place % 2));
        await round(t, engine, alone, logitBias, 1 + place);
      }
      faults.arm('evaluation', 1, 0);
      await round(t, engine, alone, logitBias, 1_000);
    });
  }

  t.test('while every evaluation fails, requests do; then all is well', async (t) => {
    const engine = await model.createEngine({ nCtx: 2_048, nParallel: 4, nThreads: 1 });
    t.teardown(() => engine.close());
    faults.arm('evaluation', 1, Number.MAX_SAFE_INTEGER);
    const answers = await Promise.all(running(engine, [], 0));
    t.strictSame([...new Set(answers.map(({ error }) => error))], ['internal']);
    faults.arm('evaluation', 1, 0);
    await round(t, engine, new ModelAlone(engineAlone, []), [], 0);
  });
}

function running(engine: LlamaEngine, logitBias: [number, number][], salt: number): Promise<Answer>[] {
  return prompts(salt).map(
    (tokens, i) => start(engine, { tenant: `tenant-${i % 2}`, prompt: { kind: 'tokens', tokens }, logitBias }).answer,
  );
}

/** Some requests beside each other and an image; whoever has no image gets the answer that it gets alone. */
async function round(
  t: Test,
  engine: LlamaEngine,
  alone: ModelAlone,
  logitBias: [number, number][],
  salt: number,
): Promise<void> {
  const image = start(engine, { tenant: 'images', prompt: picturePrompt, media: [picture], logitBias, maxTokens: 6 }).answer;
  const answers = await Promise.all(running(engine, logitBias, salt));
  const errors = [...answers, await image].map(({ error }) => error).filter(Boolean);
  const gaps = await Promise.all(prompts(salt).map((tokens, i) => alone.largestGap(tokens, answers[i] as Answer)));
  t.ok(
    errors.length === 0 && Math.max(...gaps) < nearlyEqual,
    `${errors.join()} gaps ${gaps.map((gap) => gap.toFixed(3)).join()}`,
  );
}

const parts = [
  { type: 'text', text: 'What is this?' },
  { type: 'image_url', image_url: { url: 'data:' } },
];
const picturePrompt = { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content: parts }]) } as const;
/** A grey one. */
const picture = { kind: 'image', width: 56, height: 56, pixels: new Uint8Array(56 * 56 * 3).fill(90) } as const;
