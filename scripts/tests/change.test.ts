import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readChange } from './change.ts';

/** A repository with a commit on the branch main. */
function newRepository(t: Test) {
  const root = t.testdir({ repository: { kept: 'a', moved: 'a file that moves' } });
  const folder = join(root, 'repository');
  const settings = ['user.name=a', 'user.email=a@example.com', 'commit.gpgsign=false', 'core.hooksPath=/dev/null'];
  const git = (...args: string[]) =>
    execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], { cwd: folder, stdio: 'pipe' });
  const commit = () => [git('add', '-A'), git('commit', '-q', '-m', 'a')];
  git('init', '-q', '-b', 'main');
  commit();
  return { root, folder, git, commit };
}

t.test('what a branch changed since it left main counts, committed or not', async (t) => {
  const { folder, git, commit } = newRepository(t);
  git('checkout', '-q', '-b', 'work');
  mkdirSync(join(folder, 'new'));
  renameSync(join(folder, 'moved'), join(folder, 'new/moved'));
  commit();
  writeFileSync(join(folder, 'kept'), 'b');
  writeFileSync(join(folder, 'ä new file'), '');
  const change = readChange(folder);
  t.not(typeof change, 'string');
  if (typeof change === 'string') return;
  t.strictSame([...change.paths].sort(), ['kept', 'moved', 'new/moved', 'ä new file'].sort());
  t.equal(change.nCommits, 2);
});

t.test('on main it is the last commit', async (t) => {
  const { folder, commit } = newRepository(t);
  t.match(readChange(folder), /no commit to compare with/);
  writeFileSync(join(folder, 'kept'), 'b');
  commit();
  t.match(readChange(folder), { paths: new Set(['kept']), nCommits: 2 });
});

t.test('without git, or in a shallow clone, nobody knows', async (t) => {
  const { root, folder, commit, git } = newRepository(t);
  writeFileSync(join(folder, 'kept'), 'b');
  commit();
  git('clone', '-q', '--depth', '1', `file://${folder}`, join(root, 'shallow'));
  t.match(readChange(join(root, 'shallow')), /shallow/);
  mkdirSync(join(folder, 'inside'));
  t.match(readChange(join(folder, 'inside')), /no git/, 'a folder of somebody else’s repository');
  t.match(readChange('/'), /no git/);
});
