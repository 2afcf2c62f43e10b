/** What git knows of the work on a checkout: which files it changed since it left the main branch, and how many commits there are. */
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

export interface Change {
  /** Committed or not; a file that moved is there under both names. */
  paths: ReadonlySet<string>;
  nCommits: number;
}

const mainBranches = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/** A sentence where git cannot tell. */
export function readChange(root: string): Change | string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 }).trim();
  const asked = (...args: string[]) => {
    try {
      return git(...args);
    } catch {
      return undefined;
    }
  };
  const top = asked('rev-parse', '--show-toplevel');
  if (top === undefined || realpathSync(top) !== realpathSync(root)) return 'there is no git here';
  if (git('rev-parse', '--is-shallow-repository') === 'true') return 'the clone is shallow';
  const head = asked('rev-parse', 'HEAD');
  const meeting = mainBranches.map((branch) => asked('merge-base', 'HEAD', branch)).find((commit) => commit !== undefined);
  // On the main branch itself the last commit is what changed.
  const base = meeting === head ? asked('rev-parse', 'HEAD^') : meeting;
  if (base === undefined) return 'there is no commit to compare with';
  const lines = (text: string) => text.split('\0').filter(Boolean);
  const changed = lines(git('diff', '--name-only', '--no-renames', '-z', base));
  const added = lines(git('ls-files', '--others', '--exclude-standard', '-z'));
  return { paths: new Set([...changed, ...added]), nCommits: Number(git('rev-list', '--count', 'HEAD')) };
}
