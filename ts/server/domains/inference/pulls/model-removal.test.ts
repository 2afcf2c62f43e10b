import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ModelControl } from '../backend.ts';
import { lockFile } from '../library/files/file-lock.ts';
import { ModelLibrary } from '../library/index.ts';
import { writeTinyModel } from '../library/test-support/tiny-model.ts';
import { removeModel } from './model-removal.ts';

async function setUp(t: Test, nJobs = 0) {
  const folder = t.testdir();
  const [modelsDir, shippedDir] = [join(folder, 'models'), join(folder, 'shipped')];
  for (const each of [modelsDir, shippedDir]) mkdirSync(each);
  const path = join(modelsDir, 'mine.gguf');
  await writeTinyModel(path);
  await writeTinyModel(join(shippedDir, 'shipped.gguf'));
  const calls: string[] = [];
  const control = {
    countJobs: () => nJobs,
    unload: async (id: string, { force }: { force: boolean }) => {
      calls.push(`unload ${id}${force ? ' by force' : ''}${existsSync(path) ? '' : ', whose file is gone'}`);
    },
    rescan: () => {
      calls.push('rescan');
    },
  } as unknown as ModelControl;
  const library = new ModelLibrary({ modelsDir, shippedDir });
  const remove = (id: string, force = false) => removeModel(control, library, id, { force });
  return { calls, path, modelsDir, remove };
}

t.test('a model leaves memory, then the disk, and once more the memory', async (t) => {
  const { calls, path, remove } = await setUp(t);
  t.match(await remove('Mine'), { name: 'mine' });
  t.notOk(existsSync(path));
  t.strictSame(calls, ['unload mine', 'rescan', 'unload mine by force, whose file is gone']);
  await t.rejects(remove('mine'), { code: 'model_not_found', param: 'id' });
});

t.test('a model in use is kept unless it is forced', async (t) => {
  const { calls, path, remove } = await setUp(t, 2);
  await t.rejects(remove('mine'), { code: 'model_in_use', message: /2 requests/ });
  t.strictSame([existsSync(path), ...calls], [true]);
  await remove('mine', true);
  t.equal(calls[0], 'unload mine by force');
  t.notOk(existsSync(path));
});

t.test('a model that ships is neither unloaded nor deleted', async (t) => {
  const { calls, remove } = await setUp(t);
  await t.rejects(remove('shipped', true), { code: 'model_read_only' });
  t.strictSame(calls, []);
});

t.test('names that lead elsewhere are no models', async (t) => {
  const { remove } = await setUp(t);
  for (const name of ['../models/mine', '/etc/passwd', '', 'mine.gguf/..'])
    await t.rejects(remove(name), { code: 'model_not_found' }, name);
});

t.test('a model that a pull is at work on is in use, by force too', async (t) => {
  const { path, modelsDir, remove } = await setUp(t);
  const lock = await lockFile(join(modelsDir, 'mine.lock'));
  await t.rejects(remove('mine', true), { code: 'model_in_use' });
  t.ok(existsSync(path));
  await lock.release();
  await remove('mine');
});
