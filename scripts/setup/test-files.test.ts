import { globSync } from 'node:fs';
import t from 'tap';
import { checkout } from './paths.mjs';
import { listTestFiles, slowestFirst } from './test-files.mjs';

t.test('every test file is run once, the slowest first', async (t) => {
  const files = listTestFiles(checkout);
  const isElsewhere = (name: string) => ['node_modules', 'build', 'dist'].includes(name);
  const found = globSync('*/**/*.test.ts', { cwd: checkout, exclude: isElsewhere });
  t.strictSame(files.toSorted(), found.filter((file) => !file.startsWith('data/')).sort());
  t.strictSame(files.slice(0, slowestFirst.length), slowestFirst);
});
