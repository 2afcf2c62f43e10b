/**
 * Grammars and guided sampling beside llama.cpp's own (grammar_reference.cpp): the same tokens are allowed at every step of random
 * walks, and from the same logits and seed the sampler picks the same tokens.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { noReferences, referenceProgram } from './reference.ts';

const skip = noReferences();
const folder = await vocabularyFolder();

const atom = fc.constantFrom(
  '"a"',
  '"true"',
  '"{"',
  '"}"',
  '"\\""',
  '"é"',
  '"\\n"',
  '[a-z]',
  '[^"\\\\]',
  '[0-9]',
  '[^a-c\\u00e9]',
  '.',
  '[ \\t]',
  'pair',
  'list',
);
const repetition = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,3}', '{0,2}', '{2,}');
const item = fc.tuple(atom, repetition).map(([a, r]) => a + r);
const sequence = fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(' '));
const group = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((all) => `(${all.join(' | ')})`);
const body = fc.array(
  fc.oneof(
    sequence,
    fc.tuple(group, repetition).map((g) => g.join('')),
  ),
  { minLength: 1, maxLength: 3 },
);

/** Grammars that end: the inner rules use no rules. */
const grammar = fc.tuple(body, fc.boolean()).map(
  ([parts, choose]) =>
    `root ::= ${parts.join(choose ? ' | ' : ' ')}
pair ::= "\\"" [a-z]{1,4} "\\":" ("1" | "null")
list ::= "[" ([0-9] ("," [0-9])*)? "]" # comment`,
);

async function compare(
  mode: 'masks' | 'tokens',
  vocabulary: string,
  grammars: readonly string[],
  nSteps: number,
): Promise<string[]> {
  const args = [nativeFolder(), join(folder, vocabulary), mode, '7', String(nSteps)];
  const input = grammars.map((text) => `${text}\0`).join('');
  return execFileSync(await referenceProgram('grammar-reference'), args, { input, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

const examplesFolder = join(folder, '..', 'grammars');
const examples = readdirSync(examplesFolder)
  .filter((name) => name.endsWith('.gbnf'))
  .map((name) => readFileSync(join(examplesFolder, name), 'utf8'));
const random = fc.sample(grammar, { numRuns: 60, seed: 5 });

// In some of the random grammars, llama.cpp takes for ever over the long runs of spaces that the second vocabulary has.
for (const [vocabulary, grammars] of [
  ['ggml-vocab-llama-spm.gguf', [...examples, ...random]],
  ['ggml-vocab-qwen2.gguf', examples],
] as const) {
  t.test(`${vocabulary}: as many tokens are allowed as llama.cpp allows`, { skip }, async (t) => {
    const lines = await compare('masks', vocabulary, grammars, 6);
    t.equal(lines.length, grammars.length);
    for (const [i, line] of lines.entries()) t.match(line, /^(ok|refused$)/, `${line}: ${grammars[i]}`);
    t.ok(lines.filter((line) => line.startsWith('ok')).length > grammars.length * 0.8, 'most are no refusals');
  });
}

t.test('the same tokens are sampled from the same logits and seed', { skip }, async (t) => {
  // llama.cpp lets open classes match bytes that are no UTF-8; we do not, so the candidates would differ.
  const closed = random.filter((text) => !/[.]|\[\^/.test(text));
  const lines = await compare('tokens', 'ggml-vocab-llama-spm.gguf', [...examples, ...closed], 4);
  for (const [i, line] of lines.entries()) t.match(line, /^(ok|refused$)/, `${line}: ${closed[i - examples.length] ?? i}`);
});

t.test('what cannot be parsed is refused by both', { skip }, async (t) => {
  const broken = [
    'root ::= "a',
    'root ::= [a',
    'root ::= (',
    'root ::= missing',
    'other ::= "a"',
    'root ::= root "a" | "b"',
    'root ::= *',
    'root = "a"',
    'root ::= "\\q"',
    'root ::= <nothing-like-this>',
    'root ::= a "x"\na ::= ""? root',
    'root ::= "\\x4"',
  ];
  for (const [i, line] of (await compare('masks', 'ggml-vocab-llama-spm.gguf', broken, 2)).entries())
    t.equal(line, 'refused', broken[i] ?? '');
});
