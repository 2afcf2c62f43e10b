/** An answer that ends inside a character: the bytes that are there stand for nothing, so the text ends before them. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type GenerationJob, LlamaModel } from '../../../ts/server/native/llama.ts';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 }) });
const engine = await model.createEngine({ nCtx: 1_024, nParallel: 2 });
t.teardown(() => engine.close().then(() => model.close()));

const word = `ok${'🦉'.repeat(3)}`;
const parameters = { type: 'object', properties: { word: { const: word } }, required: ['word'] };
const toolsJson = JSON.stringify([{ type: 'function', function: { name: 'say', parameters } }]);
const messagesJson = JSON.stringify([{ role: 'user', content: 'Call it.' }]);

/** Content and arguments of one greedy answer, as JSON writes them. */
function write(job: Pick<GenerationJob, 'prompt' | 'grammar'>, maxTokens: number): Promise<string> {
  const written: string[] = [];
  return new Promise((resolve, reject) => {
    engine.submit(
      { tenant: 'test', sampling: { temperature: 0 }, ...job, maxTokens },
      {
        onContent: (_choice, jsonBody) => written.push(jsonBody.toString()),
        onToolArguments: (_choice, _index, jsonBody) => written.push(jsonBody.toString()),
        onFinish: () => undefined,
        onDone: () => resolve(written.join('')),
        onError: reject,
      },
    );
  });
}

t.test('text that max_tokens ends inside a character ends before it', async (t) => {
  const nTokens = (await model.tokenize(word, { addSpecial: false })).length;
  t.ok(nTokens > word.length, 'a character takes several tokens');
  for (let maxTokens = 1; maxTokens < nTokens; maxTokens++) {
    const text = await write({ prompt: { kind: 'text', text: 'Say it.' }, grammar: `root ::= "${word}"` }, maxTokens);
    t.ok(word.startsWith(text), `${maxTokens} tokens: ${text}`);
  }
});

t.test('so do the arguments of a tool call', async (t) => {
  const prompt = { kind: 'chat', messagesJson, toolsJson, toolChoice: 'required', parallelToolCalls: false } as const;
  const texts: string[] = [];
  for (let maxTokens = 16; maxTokens < 200 && !texts.at(-1)?.includes(word); maxTokens++) {
    texts.push(await write({ prompt }, maxTokens));
  }
  for (const text of texts) t.notMatch(text, /\uFFFD/, text);
  t.ok(texts.filter((text) => text.endsWith('ok🦉')).length > 1, 'some ended inside the second character');
  t.match(texts.at(-1), word);
});
