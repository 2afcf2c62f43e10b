/** Runs by itself in a process whose libuv has one thread. Prints how long files waited while native code worked, milliseconds. */
import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { LlamaModel } from '../../../ts/server/native/llama.ts';

const [, , path = '', mebibytes = '1'] = process.argv;

async function longestWait(work: () => Promise<unknown>): Promise<{ workMs: number; waitMs: number }> {
  const begin = performance.now();
  let isOver = false;
  const over = work().finally(() => {
    isOver = true;
  });
  let waitMs = 0;
  while (!isOver) {
    const asked = performance.now();
    await stat(path);
    waitMs = Math.max(waitMs, performance.now() - asked);
    await setTimeout(1);
  }
  await over;
  return { workMs: performance.now() - begin, waitMs };
}

const loaded: LlamaModel[] = [];
const load = async () => void loaded.push(await LlamaModel.load({ path, mmap: false }));
const loads = await longestWait(() => Promise.all([load(), load()]));
const [model] = loaded as [LlamaModel];
const text = Buffer.from('Ä word and another one. '.repeat((Number(mebibytes) * 1024 * 1024) / 24));
const tokenizing = await longestWait(() => model.tokenize(text));
const tokens = await model.tokenize(text);
const detokenizing = await longestWait(() => model.detokenize(tokens));
const messagesJson = JSON.stringify([{ role: 'user', content: String(text) }]);
const counting = await longestWait(() => model.countTokens({ kind: 'chat', messagesJson }));
const contexts = await longestWait(async () => {
  const engine = await model.createEngine({ nCtx: 4096 });
  await engine.close();
});
const closing = await longestWait(() => Promise.all(loaded.map((each) => each.close())));
process.stdout.write(JSON.stringify({ loads, tokenizing, detokenizing, counting, contexts, closing }));
