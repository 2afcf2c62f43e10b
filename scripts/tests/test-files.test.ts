import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkout } from '../setup/paths.mjs';
import { listTestFiles, nativeTestFiles } from './test-files.ts';

t.test('every test file is run once', async (t) => {
  const isElsewhere = (name: string) => ['node_modules', 'build', 'dist', 'out'].includes(name);
  const found = globSync('*/**/*.test.ts', { cwd: checkout, exclude: isElsewhere });
  t.strictSame(listTestFiles(checkout), found.filter((file) => !file.startsWith('data/')).sort());
});

t.test('the native ones are those beside the addons and their bindings', async (t) => {
  const files = nativeTestFiles(listTestFiles(checkout));
  for (const folder of ['native/llama/test', 'native/vector/test', 'ts/server/native'])
    t.ok(
      files.some((file) => file.startsWith(folder)),
      folder,
    );
  t.ok(files.every((file) => existsSync(join(checkout, file))));
});
