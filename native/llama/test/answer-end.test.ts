/** An answer that its own text ends: what was sampled after that is neither shown nor counted, however many answers run beside it. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Completion, complete } from './completion.ts';

const nTokens = 40;

function answer(engine: LlamaEngine, seed: number, stop: string[]): Promise<Completion> {
  return complete(engine, {
    prompt: { kind: 'tokens', tokens: Int32Array.from([1, 400 + seed, 500 + seed, 600 + seed]) },
    maxTokens: nTokens,
    sampling: { temperature: 0, ignoreEos: true },
    cachePrompt: false,
    stop,
  });
}

/** Text that appears late in the answer and nowhere before; ASCII, since bytes that are no UTF-8 are shown as another character. */
function lateText(text: string): string {
  for (let from = Math.floor(text.length / 2); from < text.length - 3; from++) {
    const part = text.slice(from, from + 3);
    if (text.indexOf(part) === from && /^[\x20-\x7e]*$/.test(part)) return part;
  }
  throw new Error('the answer repeats itself: choose another seed');
}

t.test('a stop string ends every one of many answers at the same place as it ends one', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 }) });
  t.teardown(() => model.close());
  const alone = await model.createEngine({ nCtx: 4_096, nParallel: 1, nThreads: 1 });
  t.teardown(() => alone.close());
  const many = await model.createEngine({ nCtx: 32 * 512, nParallel: 32 });
  t.teardown(() => many.close());
  const seeds = Array.from({ length: 32 }, (_, seed) => seed);
  const cases = [];
  for (const seed of seeds) {
    const whole = await answer(alone, seed, []);
    const stop = lateText(whole.text);
    const stopped = await answer(alone, seed, [stop]);
    cases.push({ seed, stop, whole, stopped });
  }
  const together = await Promise.all(cases.map(({ seed, stop }) => answer(many, seed, [stop])));
  for (const [i, { stop, whole, stopped }] of cases.entries()) {
    // Bytes before it that began a character, and go on as none, are shown as one in the middle of a text and not at its end.
    const before = whole.text.slice(0, whole.text.indexOf(stop)).replace(/\uFFFD$/, '');
    t.equal(stopped.text, before, 'the text ends before the stop string');
    t.equal(stopped.finish, 'stop');
    const beside = together[i] as Completion;
    t.notOk(beside.text.includes(stop), 'nothing of the stop string is shown');
    // Greedy choices may flip in company; where the text agrees, so must the count.
    if (beside.text === stopped.text) t.equal(beside.usage.nCompletionTokens, stopped.usage.nCompletionTokens);
    t.equal(beside.tokens.length, beside.usage.nCompletionTokens, 'each counted token was reported once');
  }
});
