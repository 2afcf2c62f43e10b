/**
 * The younger of two chats is saved where cells run low; the older one, for which that was, may end in the middle of it. Copies are slowed
 * down, so that it does.
 */
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';
import { type Faults, loadedFaults, noFaults, runUnderFaults } from './faults.ts';
import { noReferences } from './reference.ts';

const faults = loadedFaults();
const COPY_MICROSECONDS = 5_000;
/** Longer than anything here takes, also with a sanitizer. */
const SETTLED_MS = 20_000;

if (faults) testUnder(faults);
else t.test('with slow copies', { skip: noFaults() || noReferences() }, (t) => runUnderFaults(t, import.meta.filename));

function words(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 300 + ((seed * 7_919 + i * 104_729) % 20_000));
}

function say(engine: LlamaEngine, tenant: string, tokens: number[], maxTokens: number): Promise<unknown> {
  const prompt = { kind: 'tokens', tokens: Int32Array.from(tokens) } as const;
  return complete(engine, { tenant, prompt, maxTokens, sampling: { temperature: 0, ignoreEos: true } });
}

function testUnder(faults: Faults): void {
  t.test('a chat that is being saved goes on where the others end before', async (t) => {
    // So much that a state is copied over several steps.
    const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'mid' }) });
    const engine = await model.createEngine({ nCtx: 512, nParallel: 2, kvUnified: true, kvOffloadMemoryBytes: 1 << 26 });
    t.teardown(async () => {
      await engine.close();
      await model.close();
    });
    faults.arm('copy', COPY_MICROSECONDS, 0);
    // Cells run low behind some forty steps.
    for (let nTokens = 43; nTokens <= 48; nTokens++) {
      const both = Promise.all([
        say(engine, 'older', words(nTokens, 10), nTokens),
        say(engine, 'younger', words(1_000 + nTokens, 400), 80),
      ]);
      const outcome = await Promise.race([both.then(() => 'answered'), wait(SETTLED_MS, 'never', { ref: false })]);
      t.equal(outcome, 'answered', `the older one ends after ${nTokens} tokens`);
      if (outcome === 'never') return;
    }
  });
}
