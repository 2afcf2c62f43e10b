/** Programs of others in environments of their own, which pip or npm fills with the packages that a file pins. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../scripts/setup/paths.mjs';

const run = promisify(execFile);
const python = process.env['SVC_PYTHON'] ?? 'python3';
const installMs = 1_800_000;

/** The folder of an environment, which `fill` fills at its first use. Throws where it cannot. */
async function folderOf(requirements: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  const name = basename(requirements, '.txt');
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'clients', `${name}-${digest}`);
  if (existsSync(join(folder, 'complete'))) return folder;
  console.log(`${name}: its packages are installed into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await fill(folder);
  await writeFile(join(folder, 'complete'), '');
  return folder;
}

/**
 * The interpreter of an environment of Python. Throws where pip cannot fill it.
 *
 * @param requirements the file of its packages, all of them: what these need beside is not installed.
 */
export async function interpreterOf(requirements: string): Promise<string> {
  const folder = await folderOf(requirements, async (folder) => {
    await run(python, ['-m', 'venv', folder]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', requirements];
    await run(join(folder, 'bin', 'python'), install, { timeout: installMs });
  });
  return join(folder, 'bin', 'python');
}

/** The folder of packages of npm. No script of theirs runs. Throws where npm cannot fill it. */
export function packagesOf(requirements: string): Promise<string> {
  return folderOf(requirements, async (folder) => {
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const packages = readFileSync(requirements, 'utf8').split('\n').filter(Boolean);
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact'];
    await run('npm', ['install', ...flags, ...packages], { cwd: folder, timeout: installMs });
  });
}

export function whyNotInstalled(error: Error & { stderr?: string }): string {
  return `its packages cannot be installed: ${(error.stderr || error.message).trim().slice(-400)}`;
}
