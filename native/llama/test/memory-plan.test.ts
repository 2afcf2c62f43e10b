/** What a model takes is foretold from a dry run, and given back when it closes. */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';
import { type EngineOptions, LlamaModel, type MemoryUse } from '../../../ts/server/native/llama.ts';

/** Small batches, because buffers of large ones are not touched before they are used. */
const options: EngineOptions = { nCtx: 524_288, nParallel: 4, nThreads: 1, nBatch: 64, nUbatch: 32 };

function near(actual: number, expected: number, share: number): boolean {
  return Math.abs(actual - expected) <= share * actual;
}

/** Bytes of this process in main memory; undefined where the system does not tell. */
function residentBytes(): number | undefined {
  if (!existsSync('/proc/self/statm')) return undefined;
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4096;
}

async function plan(path: string): Promise<{ weights: MemoryUse; extras: MemoryUse; engine?: MemoryUse; embedder?: MemoryUse }> {
  const model = await LlamaModel.load({ path, dryRun: true });
  const memory = await model.planMemory(options, { path });
  await t.rejects(model.createEngine(options), { code: 'unsupported' }, 'a dry run has no weights');
  await model.close();
  return memory;
}

for (const [arch, type] of [
  ['llama', 'f16'],
  ['llama', 'q4_0'],
  ['qwen3', 'q8_0'],
  ['gemma2', 'f16'],
] as const) {
  t.test(`${arch} ${type}: planned as allocated`, async (t) => {
    const path = await randomModel({ arch, type });
    const planned = await plan(path);
    const model = await LlamaModel.load({ path });
    const engine = await model.createEngine(options);
    const { memory, weights } = engine.limits;
    t.ok(near(memory.hostBytes, planned.engine?.hostBytes ?? 0, 0.01), `${memory.hostBytes} ${planned.engine?.hostBytes}`);
    t.ok(near(weights.hostBytes, planned.weights.hostBytes, 0.05), `${weights.hostBytes} ${planned.weights.hostBytes}`);
    await engine.close();
    await model.close();
  });
}

t.test('bert: an embedder is planned as allocated', async (t) => {
  const path = await randomModel({ arch: 'bert' });
  const planned = await plan(path);
  const model = await LlamaModel.load({ path });
  const embedder = await model.createEmbedder(options);
  t.ok(near(embedder.limits.memory.hostBytes, planned.embedder?.hostBytes ?? 0, 0.01));
  await embedder.close();
  await model.close();
});

t.test('an automatic context takes its share of the memory that the process may have', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
  const nCells = async (hostMemoryBytes: number) => {
    const engine = await model.createEngine({ nParallel: 4, nThreads: 1, hostMemoryBytes });
    await engine.close();
    return engine.limits.nCtx;
  };
  const [small, double] = [await nCells(8e6), await nCells(16e6)];
  t.ok(near(double, 2 * small, 0.2), `${small} and ${double} tokens`);
  await model.close();
});

t.test('one job may have the whole context of the model, unless the operator chose how much there is', async (t) => {
  const path = await randomModel({ arch: 'llama', nContext: 32_768 });
  const dry = await LlamaModel.load({ path, dryRun: true });
  const model = await LlamaModel.load({ path });
  for (const [chosen, nCtx, nCtxPerJob] of [
    [{}, 65_536, 32_768],
    [{ nParallel: 1 }, 32_768, 32_768],
    [{ kvUnified: false }, 65_536, 8_192],
    [{ nCtx: 32_768 }, 32_768, 4_096],
    [{ nCtx: 32_768, kvUnified: true }, 32_768, 32_768],
  ] as const) {
    const engine = await model.createEngine({ nThreads: 1, ...chosen });
    await engine.close();
    t.match(engine.limits, { nCtx, nCtxPerJob }, JSON.stringify(chosen));
    t.equal((await dry.planMemory({ nThreads: 1, ...chosen }, { path })).nEngineCtx, nCtxPerJob, 'as planned');
  }
  await dry.close();
  await model.close();
});

function whyNoResidentBytes(): string | false {
  if (isSanitized()) return 'a sanitizer keeps freed memory';
  return residentBytes() === undefined && 'needs /proc';
}

t.test('the process grows as planned, and shrinks again', { skip: whyNoResidentBytes() }, async (t) => {
  const path = await randomModel({ arch: 'llama', type: 'f16' });
  const { weights, extras, engine: context } = await plan(path);
  const planned = weights.hostBytes + extras.hostBytes + (context?.hostBytes ?? 0);
  const before = residentBytes() ?? 0;
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  const grown = (residentBytes() ?? 0) - before;
  // The plan leaves out what llama.cpp notes of each cell, some 30 bytes, beside 256 of the cell itself here.
  t.ok(grown > planned / 2 && grown < planned * 1.2, `planned ${planned}, grown by ${grown}`);
  await engine.close();
  await model.close();
  const left = (residentBytes() ?? 0) - before;
  t.ok(left < planned / 4, `${left} left of ${grown}`);
});
