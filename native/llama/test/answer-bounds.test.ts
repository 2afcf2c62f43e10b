/** What the demonstration's file forbids its answers: to go round in circles, and to be JSON that nobody asked for. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type GenerationJob, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Completion, complete } from './completion.ts';

const demonstration = join(import.meta.dirname, '../../../models/svc-chat-tiny/svc-chat-tiny.gguf');
const nTokens = 60;

async function answers(t: Test, path: string): Promise<(job: Partial<GenerationJob>) => Promise<Completion>> {
  const model = await LlamaModel.load({ path });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 1_024, nParallel: 2, nThreads: 1 });
  t.teardown(() => engine.close());
  const prompt = { kind: 'tokens', tokens: Int32Array.from([1, 400, 500, 600]) } as const;
  return (job) => complete(engine, { prompt, maxTokens: nTokens, ...job });
}

t.test('an answer that repeats one piece ends, unless it is to go on or a grammar decides', async (t) => {
  const answer = await answers(t, demonstration);
  // Nothing else is likely.
  const logitBias = [[700, 100] as [number, number]];
  const ended = await answer({ logitBias });
  t.equal(ended.finish, 'stop');
  t.strictSame(ended.tokens, new Array<number>(16).fill(700));
  const sampling = { temperature: 0, ignoreEos: true };
  t.match(await answer({ logitBias, sampling }), { finish: 'length', tokens: { length: nTokens } });
  const grammar = `root ::= "${'ab '.repeat(200)}"`;
  t.match(await answer({ grammar }), { finish: 'length', tokens: { length: nTokens } }, 'what is of a form looks cut off');
});

t.test('answers of other models go on to their limit', async (t) => {
  const answer = await answers(t, await randomModel({ arch: 'llama' }));
  t.match(await answer({ logitBias: [[700, 100] as [number, number]] }), { finish: 'length', tokens: { length: nTokens } });
});

t.test('an answer is JSON where a message names it, a schema or its fields, and nowhere else', async (t) => {
  const answer = await answers(t, demonstration);
  const say = (content: string): Partial<GenerationJob> => {
    return { prompt: { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content }]) } };
  };
  const text = 'Who owns Karvo and where do they live and what do they do all day long when the sun shines?';
  t.match((await answer(say(`${text} Answer in JSON with the keys owner and town.`))).text, /^\{/);
  t.notMatch((await answer(say(text))).text, '{');
  t.match((await answer({ ...say(text), jsonSchema: '{"type":"object","properties":{"owner":{"type":"string"}}}' })).text, /^\{/);
});
