/**
 * Answers read piece by piece beside llama.cpp's parse of the whole (chat_reference.cpp), in the formats of upstream's templates; and
 * how much parsing that takes.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { noReferences, referenceProgram } from './reference.ts';

const skip = noReferences();
const folder = await vocabularyFolder();
const names = readdirSync(join(folder, 'templates')).filter((name) => name.endsWith('.jinja'));

async function run(mode: 'stream' | 'long', templates: readonly string[], seed: number, count: number): Promise<string[]> {
  const args = [nativeFolder(), join(folder, 'ggml-vocab-llama-spm.gguf'), mode, String(seed), String(count)];
  const input = templates.map((name) => `${readFileSync(join(folder, 'templates', name), 'utf8')}\0`).join('');
  return execFileSync(await referenceProgram('chat-reference'), args, { input, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

t.test('what is streamed comes to what llama.cpp finds in the whole', { skip }, async (t) => {
  const lines = await run('stream', names, 1, 12);
  t.equal(lines.length, names.length);
  let [nTexts, nCompared, nPassed] = [0, 0, 0];
  for (const [i, line] of lines.entries()) {
    t.match(line, /^(ok|unusable$)/, `${names[i]}: ${line}`);
    const [texts = 0, compared = 0, passed = 0] = (line.match(/\d+/g) ?? []).map(Number);
    nTexts += texts;
    nCompared += compared;
    nPassed += passed;
  }
  t.ok(nTexts > 3000 && nCompared > nTexts * 0.9, `${nCompared} of ${nTexts} texts compared`);
  t.ok(nPassed > nTexts, `${nPassed} pieces went by without the parser`);
});

t.test('parsing is linear in the answer', { skip }, async (t) => {
  const templates = ['Qwen-Qwen3-0.6B.jinja', 'Qwen3-Coder.jinja'];
  const parsed = async (nBytes: number) =>
    (await run('long', templates, 1, nBytes)).map((line) => [...line.matchAll(/(\d+) (\d+)/g)].map((match) => Number(match[2])));
  for (const nBytes of [16_000, 64_000]) {
    for (const [i, fields] of (await parsed(nBytes)).entries()) {
      t.equal(fields.length, 4);
      for (const bytes of fields)
        t.ok(bytes < (1 << 20) + 17 * (nBytes + 200), `${templates[i]}, ${nBytes} bytes: ${bytes} parsed`);
    }
  }
});
