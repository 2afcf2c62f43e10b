import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { describeCommit, isDirty } from './commit.ts';

t.test('a commit is dirty when tracked files differ, but for the results', async (t) => {
  const folder = t.testdir({ 'code.ts': '1', bench: { results: { 'http-mid.summary.json': '1' } } });
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], { cwd: folder });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
  t.match(describeCommit(folder), /^[0-9a-f]{12}$/);

  mkdirSync(join(folder, 'new'));
  writeFileSync(join(folder, 'new', 'untracked.ts'), '');
  writeFileSync(join(folder, 'bench/results/http-mid.summary.json'), '2');
  t.notOk(isDirty(describeCommit(folder)), 'no tracked file but a result');

  writeFileSync(join(folder, 'code.ts'), '2');
  t.ok(isDirty(describeCommit(join(folder, 'new'))), 'from any folder of the checkout');
});
