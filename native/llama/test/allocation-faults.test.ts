/**
 * An allocation or a thread of our own code fails, wherever: the process lives, every promise is settled, and afterwards everything works
 * as before. A failure that ends the process ends this file with a signal.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type EngineOptions, type GenerationJob, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';
import { failAtPlaces, type Outcome, outcomeOf, tried } from './fault-places.ts';
import { type Faults, loadedFaults, noFaults, runUnderFaults } from './faults.ts';
import { noReferences } from './reference.ts';

const faults = loadedFaults();

if (faults) await testUnder(faults);
else t.test('under faults', { skip: noFaults() || noReferences() }, (t) => runUnderFaults(t, import.meta.filename));

function schema(name: string): string {
  return JSON.stringify({ type: 'object', properties: { [name]: { type: 'string', maxLength: 4 } }, required: [name] });
}

/** Of every kind, and new to every cache in each run. */
function jobs(run: number): Omit<GenerationJob, 'tenant'>[] {
  return [
    { prompt: { kind: 'text', text: `Once upon a time ${run} there was` }, maxTokens: 6 },
    { prompt: { kind: 'text', text: `Once upon a time ${run} there was a king` }, maxTokens: 4, n: 2 },
    {
      prompt: { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content: `Hello ${run}` }]) },
      jsonSchema: schema(`a${run}`),
      maxTokens: 12,
    },
    { prompt: { kind: 'text', text: 'a' }, grammar: `root ::= [a-z ]+ "${run}"`, maxTokens: 4, stop: ['zzz'] },
    { prompt: { kind: 'text', text: 'Once upon a time there was a queen '.repeat(8) }, maxTokens: 1 },
  ];
}

/** What is left of jobs that have ended, a sequence or a place in the queue; undefined: nothing. */
async function findRest(engine: LlamaEngine): Promise<string | undefined> {
  for (let i = 0; i < 2_000; i++) {
    const { nActive, nQueued, nQueuedTokens } = engine.stats();
    if (nActive === 0 && nQueued === 0 && nQueuedTokens === 0) return undefined;
    await wait(5);
  }
  return JSON.stringify(engine.stats());
}

/** Jobs of every kind, and one whose client goes away. */
function answer(engine: LlamaEngine, run: number): Promise<Outcome[]> {
  return Promise.all([
    ...jobs(run).map((job, i) => outcomeOf(() => complete(engine, { ...job, tenant: `tenant-${i % 2}` }))),
    outcomeOf(() => leave(engine, run)),
  ]);
}

async function leave(engine: LlamaEngine, run: number): Promise<void> {
  const ignore = () => {};
  const handler = { onContent: ignore, onFinish: ignore, onDone: ignore, onError: ignore };
  const id = engine.submit({ tenant: 'tenant-2', prompt: { kind: 'text', text: `I leave ${run}` }, maxTokens: 200 }, handler);
  await wait(5);
  engine.cancel(id);
}

/** Jobs end with an engine that is closed. */
async function closeBusy(engine: LlamaEngine, run: number): Promise<Outcome[]> {
  const isClosed = ({ code }: { code?: string }) => {
    if (code !== 'closed') throw Object.assign(new Error('not closed'), { code });
  };
  const prompt = { kind: 'text', text: `I stay ${run}` } as const;
  const running = outcomeOf(() => complete(engine, { prompt, maxTokens: 2_000 }).then(() => {}, isClosed));
  await wait(5);
  return [await outcomeOf(() => engine.close()), await running];
}

async function testUnder(faults: Faults): Promise<void> {
  const path = await randomModel({ arch: 'llama' });
  const model = await LlamaModel.load({ path });
  const folder = mkdtempSync(join(tmpdir(), 'svc-faults-'));
  t.teardown(async () => {
    await model.close();
    rmSync(folder, { recursive: true });
  });

  const saved = { kvOffloadMemoryBytes: 1 << 16, kvOffloadDiskBytes: 1 << 24, kvOffloadFolder: folder };
  const buffers: EngineOptions = { kvUnified: false, speculation: 'always', ...saved };
  const variants: [string, number, EngineOptions, LlamaModel?][] = [
    ['with a KV buffer for all', 40, { kvUnified: true, kvOffloadMemoryBytes: 1 << 20 }],
    ['with a KV buffer for each and drafts', 40, buffers],
    // Some are swapped out, and come back.
    ['with cells that run out', 40, { ...saved, nCtx: 256, kvUnified: true, kvOffloadMemoryBytes: 1 << 20 }],
    ['with a draft model', 15, { kvUnified: true, speculation: 'always' }, model],
  ];
  const engineOf = (options: EngineOptions, draft?: LlamaModel) =>
    model.createEngine({ nCtx: 2_048, nParallel: 4, nThreads: 2, ...options }, {}, draft);

  for (const [what, nPlaces, options, draft] of variants) {
    t.test(`while an engine answers, ${what}`, async (t) => {
      const engine = await engineOf(options, draft);
      const findFault = () => findRest(engine);
      await failAtPlaces(t, faults, { kind: 'allocation', nPlaces, mostHurt: 1, findFault }, (run) => answer(engine, run));
      await engine.close();
    });
  }

  for (const kind of ['allocation', 'thread'] as const) {
    t.test(`while an engine is made, answers and is closed: ${kind}`, async (t) => {
      const bursts = kind === 'thread' ? [1, 2, 1_000] : [1, 4];
      await failAtPlaces(t, faults, { kind, nPlaces: 20, bursts }, async (run) => {
        const [made, engine] = await tried(() => engineOf(buffers));
        if (!engine) return [made];
        return [made, ...(await answer(engine, run)), ...(await closeBusy(engine, run))];
      });
    });

    t.test(`while a model is loaded, used and closed: ${kind}`, async (t) => {
      const bursts = kind === 'thread' ? [1, 1_000] : [1, 4];
      await failAtPlaces(t, faults, { kind, nPlaces: 20, bursts }, async (run) => {
        const [loaded, used] = await tried(() => LlamaModel.load({ path }));
        if (!used) return [loaded];
        const messagesJson = JSON.stringify([{ role: 'user', content: `Hello ${run}` }]);
        return [
          loaded,
          await outcomeOf(() => used.tokenize(`some text ${run}`)),
          await outcomeOf(() => used.renderChat({ kind: 'chat', messagesJson })),
          await outcomeOf(() => used.close()),
        ];
      });
    });

    t.test(`while texts are embedded: ${kind}`, async (t) => {
      const bursts = kind === 'thread' ? [1, 1_000] : [1, 4];
      // Both may be in one batch, whose evaluation needs memory.
      await failAtPlaces(t, faults, { kind, nPlaces: 20, bursts, mostHurt: 2 }, async (run) => {
        const [made, embedder] = await tried(() => model.createEmbedder({ nThreads: 1 }));
        if (!embedder) return [made];
        const outcomes = await Promise.all([
          outcomeOf(() => embedder.embed([`one ${run}`, 'two', 'three'], { tenant: 'a' })),
          outcomeOf(() => embedder.embed(['four'], { tenant: 'b' })),
        ]);
        return [made, ...outcomes, await outcomeOf(() => embedder.close())];
      });
    });
  }
}
