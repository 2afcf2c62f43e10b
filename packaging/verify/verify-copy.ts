/** The whole of a package made again from a copy of the sources in another folder: nothing of it may depend on where it was made. */
import { createHash } from 'node:crypto';
import { cpSync, globSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from '../run-tool.ts';
import { type Checks, expect } from './checks.ts';

interface CopyOptions {
  source: string;
  /** Laid out from `source`. */
  tree: string;
  /** Arguments of packaging/package.ts that made it. */
  args: readonly string[];
  /** A folder for the copy. */
  folder: string;
  sourceDateEpoch: number;
}

export async function verifyCopy(checks: Checks, { source, tree, args, folder, sourceDateEpoch }: CopyOptions): Promise<void> {
  await checks.try('sources in another folder give the same files', async () => {
    const copy = join(folder, 'some', 'other', 'place');
    rmSync(folder, { recursive: true, force: true });
    const listed = await runTool('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: source,
      debianPackage: 'git',
    });
    for (const file of listed
      .split('\0')
      .filter((path) => path !== '' && lstatSync(join(source, path), { throwIfNoEntry: false }))) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(source, file), join(copy, file));
    }
    // Compiled libraries and pages are what they are; their own builds are compared elsewhere.
    for (const built of ['node_modules', 'build']) symlinkSync(join(source, built), join(copy, built));
    const env = { SOURCE_DATE_EPOCH: String(sourceDateEpoch) };
    const printed = await runTool(process.execPath, [join(copy, 'packaging/package.ts'), 'tree', ...args], {
      cwd: folder,
      env,
      debianPackage: 'nodejs',
    });
    const [first, second] = [contentsOf(tree), contentsOf(printed.trim())];
    const differing = [...new Set([...first.keys(), ...second.keys()])].filter((path) => first.get(path) !== second.get(path));
    // Sources of a checkout inside of this one would be checked with it.
    rmSync(folder, { recursive: true, force: true });
    expect(differing.length === 0, `these differ: ${differing.slice(0, 10).join(', ')}`);
    return `${first.size} files`;
  });
}

/** A line for each file: its permissions and the hash of its content. */
function contentsOf(folder: string): Map<string, string> {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const facts = (path: string) => `${lstatSync(path).mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
  return new Map(paths.map((path) => [path.slice(folder.length + 1), facts(path)]));
}
