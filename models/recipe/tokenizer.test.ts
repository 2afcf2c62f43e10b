/** Text is tokenised for training as the server will tokenise it. */
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { LlamaModel } from '../../ts/server/native/llama.ts';
import { findPython, runModule } from './python.ts';

const python = await findPython(['numpy', 'yaml']);
if (!python) t.plan(0, 'needs Python with NumPy and PyYAML: apt-get install python3-numpy python3-yaml');
else await compare(python);

async function compare(python: string): Promise<void> {
  const { model: path, nVocab, cases } = JSON.parse(await runModule(python, 'recipe.tokenizer_sample', [t.testdir()]));
  const model = await LlamaModel.load({ path, vocabOnly: true });
  t.teardown(() => model.close());

  t.test('every token and merge arrives', async (t) => {
    t.equal(model.info.nVocab, nVocab);
  });

  t.test('texts have the tokens that llama.cpp gives them', async (t) => {
    t.ok(cases.length > 1000);
    const wrong = [];
    for (const [text, ids] of cases) {
      const tokens = [...(await model.tokenize(text, { addSpecial: true, parseSpecial: true }))];
      if (JSON.stringify(tokens) !== JSON.stringify(ids)) wrong.push({ text, ids, tokens });
    }
    t.strictSame(wrong.slice(0, 5), []);
  });

  t.test('every byte is representable', async (t) => {
    // No space before punctuation: llama.cpp drops it when it turns a whole list of llama-bpe tokens into text (not while generating).
    const text = String.fromCodePoint(0x4e2d, 0x1f600, ...Array.from({ length: 0x250 }, (_, i) => i + 1)).replace(' ', '');
    t.equal(await model.detokenize(await model.tokenize(text)), text);
  });
}

t.test('the shipped model has tokens for every character there is', async (t) => {
  const path = join(import.meta.dirname, '../svc-chat-tiny/svc-chat-tiny.gguf');
  const model = await LlamaModel.load({ path, vocabOnly: true });
  t.teardown(() => model.close());
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (characters) => {
      // Behind a letter, as llama.cpp drops a space before punctuation when it turns a whole list of tokens into text.
      const text = [...characters].map((character) => `x${character}`).join('');
      t.equal(await model.detokenize(await model.tokenize(text, { parseSpecial: false })), text);
    }),
  );
});
