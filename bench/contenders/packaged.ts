/** The program as a package installs it: bundled, with its code caches and a Node of its own, laid out by `npm run package -- tree`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import { svcContender } from './ours.ts';

const checkout = join(import.meta.dirname, '../..');
/** Libraries of the same build as the checkout's own. */
const PRESET = 'cpu';

let tree: Promise<string> | undefined;

/** The words before a command of `svc`. */
export async function packagedCommand(): Promise<readonly string[]> {
  tree ??= layOut();
  const program = join(await tree, 'usr/lib64/svc');
  return [join(program, 'bin/node'), '--no-warnings', join(program, 'dist/svc.cjs')];
}

export const packaged = svcContender('svc-packaged', packagedCommand);

async function layOut(): Promise<string> {
  if (!existsSync(join(checkout, 'build', PRESET, 'lib', 'svc_llama.node')))
    throw new Error(`the libraries of the package are not built: node scripts/build.mjs --preset ${PRESET}`);
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const args = [join(checkout, 'packaging/package.ts'), 'tree', '--preset', PRESET, '--arch', arch];
  return (await runProgram(process.execPath, args)).trim().split('\n').at(-1) ?? '';
}
