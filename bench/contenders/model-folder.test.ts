import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { modelFolder } from './model-folder.ts';

t.test('a model file that was replaced is served anew, under every name', async (t) => {
  const folder = t.testdir({ 'model.gguf': 'old' });
  process.env['SVC_CACHE_DIR'] = join(folder, 'cache');
  const file = join(folder, 'model.gguf');
  const served = (name: string) => join(modelFolder({ first: file, second: file }), `${name}.gguf`);
  t.equal(readFileSync(served('first'), 'utf8'), 'old');
  t.equal(statSync(served('second')).ino, statSync(file).ino, 'no copy');

  writeFileSync(join(folder, 'new.gguf'), 'new');
  renameSync(join(folder, 'new.gguf'), file);
  t.equal(readFileSync(served('first'), 'utf8'), 'new');
  t.equal(readFileSync(served('second'), 'utf8'), 'new');
});
