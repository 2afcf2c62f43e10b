/** Runs Node for ARM64 on another CPU: for the code caches of its packages, and to try them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emulatedCpu, emulator, sysroot } from '../../scripts/setup/arm64.mjs';
import { runTool } from '../run-tool.ts';
import { placeIn } from '../tree/layout.ts';
import { lowerVersion } from './lower-version.ts';

const httpLibrary = 'uws_linux_arm64_127.node';

interface Emulation {
  /** Before the arguments of Node. */
  command: string[];
  env: NodeJS.ProcessEnv;
}

/** `root`: what svc is installed in. `folder`: where the parts of the emulation may lie. Throws without an emulator. */
export async function emulate(root: string, folder: string): Promise<Emulation> {
  if (emulator === undefined) throw new Error('qemu-aarch64-static is missing (Debian: apt install qemu-user-static)');
  mkdirSync(folder, { recursive: true });
  const options = ['-cpu', emulatedCpu, '-L', sysroot];
  const replacements: Record<string, string> = {};
  if (!readFileSync(join(sysroot, 'lib/libc.so.6')).includes('GLIBC_2.38\0')) {
    const functions = join(folder, 'newer-functions.so');
    const source = join(import.meta.dirname, 'newer-functions.c');
    await runTool('aarch64-linux-gnu-gcc', ['-shared', '-fPIC', '-O1', '-o', functions, source], {
      debianPackage: 'gcc-aarch64-linux-gnu',
    });
    const library = readFileSync(placeIn(root, 'packages', '@uwsjs/linux-arm64-22', httpLibrary));
    writeFileSync(join(folder, httpLibrary), lowerVersion(library, 'GLIBC_2.38', 'GLIBC_2.17'));
    replacements[httpLibrary] = join(folder, httpLibrary);
    options.push('-E', `LD_PRELOAD=${functions}`);
  }
  const env = {
    EMULATOR_COMMAND: JSON.stringify([emulator, ...options]),
    EMULATED_LIBRARIES: JSON.stringify(replacements),
    // The emulator shows this machine's /proc/cpuinfo, so the features are told.
    SVC_FORCE_CPU_FEATURES: 'asimddp',
  };
  return { command: [emulator, ...options, placeIn(root, 'node'), '--require', join(import.meta.dirname, 'inside.cjs')], env };
}
