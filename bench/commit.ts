import { execFileSync } from 'node:child_process';

/** Summaries are written there by the runs themselves. */
const results = 'bench/results';

/** Commit of the checkout, with `-dirty` when tracked files differ from it; `unknown` outside a git checkout. */
export function describeCommit(folder = import.meta.dirname): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const commit = git('describe', '--always', '--abbrev=12');
    const changes = git('status', '--porcelain', '--untracked-files=no', '--', ':/', `:(top,exclude)${results}`);
    return changes === '' ? commit : `${commit}-dirty`;
  } catch {
    return 'unknown';
  }
}

export function isDirty(commit: string): boolean {
  return commit.endsWith('-dirty');
}
