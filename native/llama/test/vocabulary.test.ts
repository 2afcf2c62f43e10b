/** Upstream's own tokenizer cases (tests/test-tokenizer-0.cpp, models/*.gguf.inp and .out) through the addon. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';

const folder = await vocabularyFolder();
const names = readdirSync(folder).filter((name) => existsBoth(name));
/** Between cases, and in most files after the last one. */
const separator = '\n__ggml_vocab_test__\n';

t.ok(names.length >= 15, `${names.length} vocabularies with cases`);

for (const name of names) {
  t.test(name, async (t) => {
    const parts = readFileSync(join(folder, `${name}.inp`), 'utf8').split(separator);
    const texts = parts.at(-1) === '' ? parts.slice(0, -1) : parts;
    const expected = readFileSync(join(folder, `${name}.out`), 'utf8')
      .replace(/\n$/, '')
      .split('\n');
    t.equal(texts.length, expected.length, 'as many texts as answers');
    const model = await LlamaModel.load({ path: join(folder, name), vocabOnly: true });
    t.teardown(() => model.close());
    // Upstream's test adds no special tokens and takes text that looks like one as text.
    const options = { addSpecial: false, parseSpecial: false };
    const tokens = await Promise.all(texts.map((text) => model.tokenize(text, options)));
    t.strictSame(
      tokens.map((ids) => [...ids]),
      expected.map((line) => line.trim().split(' ').filter(Boolean).map(Number)),
    );
  });
}

function existsBoth(name: string): boolean {
  const files = new Set(readdirSync(folder));
  return name.endsWith('.gguf') && files.has(`${name}.inp`) && files.has(`${name}.out`);
}
