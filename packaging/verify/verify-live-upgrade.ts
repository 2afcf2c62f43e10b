/** An upgrade of an RPM as it happens on a machine: under load, and with a transaction that is killed in the middle. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runTool } from '../run-tool.ts';
import { placeIn } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';
import { UPGRADE_STREAMS, upgradeUnderLoad } from './upgrade-under-load.ts';

/** Of a transaction, in milliseconds after its begin. */
const KILLS = [150, 600, 1500];
const ANOTHER_SECOND_MS = 1_100;

interface LiveUpgrade {
  file: string;
  /** A higher version. */
  newer: string;
  /** A root of its own is made in it. */
  folder: string;
}

export async function verifyLiveUpgrade(checks: Checks, { file, newer, folder }: LiveUpgrade): Promise<void> {
  const root = join(folder, 'live-root');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  await checks.try(`rpm: an upgrade under ${UPGRADE_STREAMS} streams fails no request`, async () => {
    await install(root, file);
    const command = [...programIn(root), 'serve'];
    return await upgradeUnderLoad({ command, env: environment(root), install: () => install(root, newer) });
  });
  await checks.try('rpm: a transaction that is killed in the middle is made good by the next one', () =>
    upgradeKilled(root, [file, newer]),
  );
  rmSync(root, { recursive: true, force: true });
}

/** What the database of packages and the files say afterwards agrees, and the program runs. */
async function upgradeKilled(root: string, files: readonly string[]): Promise<string> {
  for (const [n, afterMs] of KILLS.entries()) {
    const file = files[n % files.length] ?? '';
    const child = spawn('rpm', [...rpmArgs(root), '-U', '--oldpackage', '--replacepkgs', file], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    await Promise.race([wait(afterMs), exited]);
    child.kill('SIGKILL');
    await exited;
    await runTool('rpm', [...databaseOf(root), '--rebuilddb'], { debianPackage: 'rpm' });
    // Files are unpacked under names that have the second of the transaction: two of one second meet each other's.
    await wait(ANOTHER_SECOND_MS);
    await install(root, file);
    // It fails where anything differs; owners do, since nothing is installed as root of this root.
    const asked = ['--verify', '--nodeps', '--noscripts', '--nouser', '--nogroup', '--nomode', '--nomtime', '--nocaps', 'svc'];
    const changed = await runTool('rpm', [...databaseOf(root), ...asked], { debianPackage: 'rpm' }).catch(
      (error: Error) => error.message,
    );
    expect(!/^(?:missing|..5)(?!.* [cg] )/m.test(changed), changed);
    const [program = '', ...args] = programIn(root);
    await runTool(program, [...args, 'version'], { debianPackage: 'rpm' });
  }
  expect(existsSync(join(root, 'data', 'svc.db')), 'the database is gone');
  return `${KILLS.length} times`;
}

async function install(root: string, file: string): Promise<void> {
  const args = [...rpmArgs(root), '-U', '--oldpackage', '--replacepkgs', file];
  await runTool('rpm', args, { debianPackage: 'rpm' });
}

/** Without scripts: an empty root has no shell. */
function rpmArgs(root: string): string[] {
  return [...databaseOf(root), '--nodeps', '--noscripts', '--nosignature'];
}

function databaseOf(root: string): string[] {
  return ['--root', root, '--dbpath', '/var/lib/rpm'];
}

function programIn(root: string): string[] {
  return [placeIn(root, 'node'), '--no-warnings', placeIn(root, 'dist', 'svc.cjs')];
}

function environment(root: string): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', HOME: root, SVC_DATA_DIR: join(root, 'data'), SVC_CONFIG: placeIn(root, 'config') };
}
