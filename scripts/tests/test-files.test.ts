import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkout } from '../setup/paths.mjs';
import { databaseOf, listTestFiles, namesOf, nativeTestFiles, pathOf } from './test-files.ts';

const isElsewhere = (name: string) => ['node_modules', 'build', 'dist', 'out'].includes(name);
const find = (pattern: string) =>
  globSync(pattern, { cwd: checkout, exclude: isElsewhere }).filter((file) => !file.startsWith('data/'));

t.test('every test file is run once, and every contract once on each database', async (t) => {
  const contracts = find('*/**/*.contract.ts');
  const expected = [...find('*/**/*.test.ts'), ...contracts.flatMap((file) => [`${file} [postgres]`, `${file} [sqlite]`])];
  t.strictSame(listTestFiles(checkout), expected.sort());
  t.ok(contracts.length >= 25, `${contracts.length} contracts`);
});

t.test('a contract is asked for by its file, or with one of its databases', async (t) => {
  t.strictSame(namesOf('a/x.contract.ts'), ['a/x.contract.ts [sqlite]', 'a/x.contract.ts [postgres]']);
  for (const name of ['a/x.contract.ts [sqlite]', 'a/x.test.ts']) t.strictSame(namesOf(name), [name]);
  t.equal(pathOf('a/x.contract.ts [sqlite]'), 'a/x.contract.ts');
  t.equal(databaseOf('a/x.contract.ts [sqlite]'), 'sqlite');
  t.equal(databaseOf('a/x.test.ts'), undefined);
});

t.test('what runs on each database is a contract by its name, and nothing else is', async (t) => {
  const runsOnEach = (file: string) => /^onEachDatabase\(/m.test(readFileSync(join(checkout, file), 'utf8'));
  t.strictSame(find('*/**/*.ts').filter(runsOnEach).sort(), find('*/**/*.contract.ts').sort());
});

t.test('what is random in a test has the seed of the run', async (t) => {
  const ofTests = find('*/**/*.ts').filter((file) => /\.(test|contract)\.ts$|\/test-support\/|^test\//.test(file));
  const isUnseeded = (file: string) => readFileSync(join(checkout, file), 'utf8').includes(`Math.${'random'}(`);
  t.ok(ofTests.length > 300);
  t.strictSame(ofTests.filter(isUnseeded), []);
});

t.test('the native ones are those beside the addons and their bindings', async (t) => {
  const files = nativeTestFiles(listTestFiles(checkout));
  for (const folder of ['native/llama/test', 'native/vector/test', 'ts/server/native'])
    t.ok(
      files.some((file) => file.startsWith(folder)),
      folder,
    );
  t.ok(files.every((file) => existsSync(join(checkout, pathOf(file)))));
});
