/** LoRA adapters, each request with its own, also side by side: an adapter applies to a whole batch, so the engine must keep them apart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { shapes } from '../../../models/random/shapes.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import type { GgufValue } from '../../../ts/server/platform/gguf/gguf-value.ts';
import { writeGguf } from '../../../ts/server/platform/gguf/gguf-writer.ts';
import { complete } from './completion.ts';

const rank = 4;
const { nEmbd, nLayer } = shapes.tiny;

/** f32 waves: different for each seed, and strong enough to change the answer. */
function* waves(count: number, seed: number): Iterable<Uint8Array> {
  yield new Uint8Array(Float32Array.from({ length: count }, (_, i) => Math.sin((i + 1) * seed) * 0.8).buffer);
}

/** Adapts the query projections; layout as llama.cpp's src/llama-adapter.cpp reads it. */
async function writeAdapter(path: string, seed: number): Promise<string> {
  const tensors = Array.from({ length: nLayer }, (_, layer) => `blk.${layer}.attn_q.weight`).flatMap((name, layer) => [
    { name: `${name}.lora_a`, dims: [nEmbd, rank], type: 'f32', data: () => waves(nEmbd * rank, seed + layer) },
    { name: `${name}.lora_b`, dims: [rank, nEmbd], type: 'f32', data: () => waves(rank * nEmbd, seed + layer + 0.5) },
  ]);
  const text = (value: string) => ({ type: 'string', value }) as const;
  await writeGguf(path, {
    metadata: new Map<string, GgufValue>([
      ['general.type', text('adapter')],
      ['general.architecture', text('llama')],
      ['adapter.type', text('lora')],
      ['adapter.lora.alpha', { type: 'float32', value: 8 }],
    ]),
    tensors,
  });
  return path;
}

t.test('scales that differ in the last digit are different adapters: nothing is shared between them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lora-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const red = { name: 'red', path: await writeAdapter(join(folder, 'red.gguf'), 1) };
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }), loras: [red] });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 1_024, nParallel: 2, nThreads: 1 });
  t.teardown(() => engine.close());
  const prompt = { kind: 'tokens', tokens: Int32Array.from({ length: 100 }, (_, i) => 300 + i) } as const;
  const nCached = async (scale: number) => {
    const { usage } = await complete(engine, { prompt, loras: [{ name: 'red', scale }], maxTokens: 1 });
    return usage.nCachedTokens;
  };
  await nCached(1e-7);
  t.equal(await nCached(2e-7), 0, 'another scale');
  t.equal(await nCached(1e-7), 99, 'the same one');
});

t.test('requests with different adapters run side by side and keep to their own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lora-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const model = await LlamaModel.load({
    path: await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 }),
    loras: [
      { name: 'red', path: await writeAdapter(join(folder, 'red.gguf'), 1) },
      { name: 'blue', path: await writeAdapter(join(folder, 'blue.gguf'), 7) },
    ],
  });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 4_096, nParallel: 4, nThreads: 1 });
  t.teardown(() => engine.close());
  const prompt = { kind: 'text', text: 'Once upon a time, in a village by the sea, there lived' } as const;
  const kinds = [[], [{ name: 'red', scale: 1 }], [{ name: 'blue', scale: 1 }], [{ name: 'red', scale: 0 }]];
  const answer = (loras: { name: string; scale: number }[]) => complete(engine, { prompt, loras, maxTokens: 12 });

  const alone: number[][] = [];
  for (const loras of kinds) alone.push((await answer(loras)).tokens);
  const [plain, red, blue, silent] = alone.map((tokens) => tokens.join(' '));
  t.not(red, plain, 'an adapter changes the answer');
  t.not(blue, red, 'and another one changes it differently');
  t.equal(silent, plain, 'at scale 0 it changes nothing');

  const together = await Promise.all([...kinds, ...kinds].map(answer));
  t.strictSame(
    together.map(({ tokens }) => tokens),
    [...alone, ...alone],
    'side by side as alone',
  );
  t.throws(
    () =>
      engine.submit(
        { tenant: 'test', prompt, loras: [{ name: 'green', scale: 1 }] },
        { onContent() {}, onFinish() {}, onDone() {}, onError() {} },
      ),
    { code: 'invalid_argument' },
    'an unknown adapter is refused',
  );

  const order: number[] = [];
  const count = (which: number) => ({
    onContent: () => order.push(which),
    onFinish() {},
  });
  const jobs = kinds.map(
    (loras, which) =>
      new Promise<void>((resolve, reject) => {
        const job = { tenant: 'test', prompt, loras, maxTokens: 60, sampling: { temperature: 0, ignoreEos: true } };
        engine.submit(job, { ...count(which), onDone: () => resolve(), onError: reject });
      }),
  );
  await Promise.race(jobs);
  const said = kinds.map((_, which) => order.filter((one) => one === which).length);
  t.ok(Math.min(...said) > 0.5 * Math.max(...said), `adapters take turns: ${said} pieces when the first is done`);
  await Promise.all(jobs);
});
