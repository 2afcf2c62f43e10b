import { join, resolve, sep } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { LibraryError } from './files/library-error.ts';
import { checkModelName, findModelName, findPart, isModelName, modelNameOfFile } from './model-name.ts';

t.test('ordinary names pass and become lower case', async (t) => {
  t.equal(modelNameOfFile('/x/Qwen3-0.6B-Q8_0.gguf'), 'qwen3-0.6b-q8_0');
  t.equal(modelNameOfFile('ggml-base.bin'), 'ggml-base');
  t.equal(modelNameOfFile('big-00001-of-00003.gguf'), 'big');
  t.strictSame(findPart('big-00002-of-00003.gguf'), { index: 2, count: 3 });
  t.equal(findPart('big.gguf'), undefined);
});

t.test('names that could leave the folder, hide or act as options are refused', async (t) => {
  for (const name of [
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    '.hidden',
    '-rf',
    'a\0b',
    'a b',
    'a:b',
    'nul',
    'COM1.gguf',
    'a..b',
    'a.',
    'x'.repeat(121),
  ]) {
    t.throws(() => checkModelName(name), { code: 'invalid_name' }, JSON.stringify(name));
  }
});

t.test('no accepted name resolves outside its folder', async (t) => {
  const folder = resolve('/srv/models');
  const nasty = fc.stringMatching(/^[A-Za-z0-9./\\:~%\0 -]{0,20}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), nasty), (name) => {
      if (!isModelName(name)) return;
      const path = join(folder, `${name}.gguf`);
      if (!path.startsWith(folder + sep) || path.slice(folder.length + 1).includes(sep)) throw new Error(path);
    }),
    { numRuns: 2000 },
  );
  t.pass('2000 names');
});

t.test('any file name gives a usable model name, or a LibraryError', async (t) => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9._/-]{1,24}$/), (stem) => {
      const found = findModelName(`${stem}.gguf`);
      try {
        const name = modelNameOfFile(`${stem}.gguf`);
        accepted++;
        if (!isModelName(name)) throw new Error(name);
        if (found !== undefined && found !== name) throw new Error(`${found} against ${name}`);
      } catch (error) {
        if (!(error instanceof LibraryError) || found !== undefined) throw error;
      }
    }),
    { numRuns: 1000 },
  );
  t.ok(accepted > 100, `${accepted} accepted`);
});
