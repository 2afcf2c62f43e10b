/** Thousands of clients that go away at any moment: nothing of theirs stays behind, and the others do not notice. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';

const nAborts = iterations(10_000, 50_000, 'SVC_TEST_ABORTS');
/** Jobs in the engine at a time: most wait, so that every state is met. */
const nAtOnce = 64;

function tokensOf(length: number, first: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i === 0 ? 1 : 300 + ((first * 7 + i * 13) % 5_000)));
}

interface Abortable {
  cancel(): void;
  nAfterCancel(): number;
}

function submit(engine: LlamaEngine, index: number): Abortable {
  let isCancelled = false;
  let nLate = 0;
  const heard = () => {
    if (isCancelled) nLate++;
  };
  const id = engine.submit(
    {
      tenant: `tenant-${index % 5}`,
      prompt: { kind: 'tokens', tokens: tokensOf(4 + (index % 7) * 60, index) },
      maxTokens: 200,
      n: index % 11 === 0 ? 2 : 1,
      sampling: { temperature: 0, ignoreEos: true },
    },
    { onStart: heard, onContent: heard, onFinish: heard, onDone: heard, onError: heard },
  );
  return {
    cancel: () => {
      isCancelled = true;
      engine.cancel(id);
    },
    nAfterCancel: () => nLate,
  };
}

function answer(engine: LlamaEngine): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    engine.submit(
      {
        tenant: 'witness',
        prompt: { kind: 'tokens', tokens: tokensOf(40, 3) },
        maxTokens: 24,
        sampling: { temperature: 0, ignoreEos: true },
        cachePrompt: false,
      },
      {
        onContent: (_choice, body) => {
          text += body.toString();
        },
        onFinish() {},
        onDone: () => resolve(text),
        onError: reject,
      },
    );
  });
}

t.test(`${nAborts} aborts in every state leave nothing behind`, async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny' }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 4_096, nParallel: 8, kvUnified: true });
  t.teardown(() => engine.close());
  const alone = await answer(engine);
  const open: Abortable[] = [];
  const gone: Abortable[] = [];
  for (let i = 0; i < nAborts; i++) {
    open.push(submit(engine, i));
    if (open.length < nAtOnce) continue;
    // Old ones run, young ones wait or are being prepared.
    const [victim] = open.splice((i * 31) % open.length, 1);
    victim?.cancel();
    if (victim) gone.push(victim);
    if (i % 16 === 0) await new Promise(setImmediate);
  }
  const witness = answer(engine);
  for (const one of open) one.cancel();
  t.ok(engine.stats().nQueued <= 1, 'the places of the dead are free at once; the witness may wait');
  t.equal(await witness, alone, 'who stays gets the answer that it gets alone');
  while (engine.stats().nActive > 0) await new Promise(setImmediate);
  const { nQueued, nQueuedTokens } = engine.stats();
  t.strictSame([nQueued, nQueuedTokens], [0, 0]);
  t.equal(
    [...gone, ...open].reduce((sum, one) => sum + one.nAfterCancel(), 0),
    0,
    'the dead hear nothing',
  );
});
