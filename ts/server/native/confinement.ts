/**
 * How a program is run where it can do no harm: by the launcher of native/confine (Linux), without network, processes, privileges, or
 * anything to write, and with the named files alone to read. Elsewhere a shell limits time and memory, and nothing else.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { candidateFolders } from './load.ts';

export interface Confinement {
  /** Private memory, MiB. */
  memoryMiB: number;
  cpuSeconds: number;
  /** Files, and folders with all below them. The program itself, system libraries and the addons are readable anyway. */
  readable: readonly string[];
  /** Keeps the cards' device files away, which a backend for them needs. */
  withoutDevices?: boolean;
  /** Folders in which it may read, write, make and remove files, and the most that one may have, MiB. */
  writable?: { readonly folders: readonly string[]; readonly fileMiB: number };
  hasNetwork?: boolean;
  /** It answers whoever connects to it, and connects to nobody. */
  mayListen?: boolean;
}

const launcherName = 'svc_confine';
/** V8 reserves address space for each WebAssembly memory, which Node uses to read TypeScript, far beyond what is ever used. */
const reservedMiB = 16_384;

/** The command that runs `program`, whose first element is an absolute path, confined as well as this system can. */
export function confinedCommand(program: readonly string[], confinement: Confinement): { file: string; args: string[] } {
  const folders = candidateFolders('llama');
  const launcher = findLauncher(folders);
  if (launcher === undefined) return { file: '/bin/sh', args: ['-c', limitScript(confinement), 'sh', ...program] };
  return { file: launcher, args: [...launcherOptions(folders, confinement), '--', ...program] };
}

/** A sentence for the log about what is missing on this system; undefined where confinement is whole. macOS has none by design. */
export async function describeConfinementGap(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const folders = candidateFolders('llama');
  const launcher = findLauncher(folders);
  if (launcher === undefined) {
    return (
      `unknown model files are opened in a process that is limited in time and memory alone, because ${launcherName} is missing in ` +
      `${folders.join(' and ')}: install the package again, or build with \`node scripts/build.mjs\``
    );
  }
  return describeProbe(await probeOf(launcher));
}

/** Why programs of strangers cannot be confined here; undefined: they can, wholly. */
export async function findMissingConfinement(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `${process.platform} confines no programs; Linux does`;
  const launcher = findLauncher(candidateFolders('llama'));
  if (launcher === undefined) return `the launcher ${launcherName} is missing`;
  return describeProbe(await probeOf(launcher));
}

const probes = new Map<string, Promise<string>>();

/** Asked once where it answers: the kernel stays what it is, and a start wants to know it twice. */
function probeOf(launcher: string): Promise<string> {
  const ask = () => promisify(execFile)(launcher, ['--probe']).then(({ stdout }) => stdout.trim());
  const asked = probes.get(launcher) ?? ask();
  probes.set(launcher, asked);
  return asked.catch((error: Error) => {
    probes.delete(launcher);
    return error.message;
  });
}

/** `probe` is what the launcher's --probe printed. */
export function describeProbe(probe: string): string | undefined {
  const found = /^landlock=(\d+) seccomp=([01])$/.exec(probe);
  if (!found) return `unknown model files cannot be inspected, because ${launcherName} does not run here: ${probe}`;
  const [, landlock, seccomp] = found;
  const missing = [...(landlock === '0' ? ['Landlock'] : []), ...(seccomp === '0' ? ['seccomp filters'] : [])];
  if (missing.length === 0) return undefined;
  return (
    `this kernel has no ${missing.join(' and no ')}, so the process that opens unknown model files is confined less: ` +
    'use a kernel (5.13 or later) with both, or only model files that you trust'
  );
}

function findLauncher(folders: readonly string[]): string | undefined {
  return process.platform === 'linux' ? findNativeProgram(launcherName, folders) : undefined;
}

/** The path of a program of ours that lies beside the addons; undefined where it was not built. */
export function findNativeProgram(name: string, folders: readonly string[] = candidateFolders('llama')): string | undefined {
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

function launcherOptions(
  folders: readonly string[],
  { memoryMiB, cpuSeconds, readable, withoutDevices = false, writable, hasNetwork = false, mayListen = false }: Confinement,
): string[] {
  const libraries = (process.env['LD_LIBRARY_PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const devices = withoutDevices ? [] : findDevices(folders);
  return [
    ...['--memory-mib', String(memoryMiB), '--cpu-seconds', String(cpuSeconds)],
    // A CUDA driver reserves as much as all memory of the machine and its cards.
    ...(devices.length > 0 ? [] : ['--address-space-mib', String(memoryMiB + reservedMiB)]),
    ...[...folders, ...libraries, ...readable].flatMap((path) => ['--read', path]),
    ...devices.flatMap((path) => ['--device', path]),
    ...(writable === undefined ? [] : ['--file-mib', String(writable.fileMiB)]),
    ...(writable?.folders ?? []).flatMap((path) => ['--write', path]),
    ...(hasNetwork ? ['--network', 'on'] : []),
    ...(mayListen ? ['--network', 'listen'] : []),
  ];
}

/** The cards that the addon will look for: what a model takes on them is part of its plan. */
function findDevices(folders: readonly string[]): string[] {
  if (!folders.some((folder) => existsSync(join(folder, 'libggml-cuda.so')))) return [];
  const names = readdirSync('/dev').filter((name) => /^nvidia(\d+|ctl|-uvm|-uvm-tools)$/.test(name));
  return names.map((name) => join('/dev', name));
}

/** Limits the data segment and not the address space, of which V8 reserves much more than it uses. A shell without one goes on. */
function limitScript({ memoryMiB, cpuSeconds }: Confinement): string {
  const limits = [`-d ${memoryMiB * 1024}`, '-c 0', `-t ${cpuSeconds}`, '-f 0'];
  return `${limits.map((limit) => `ulimit ${limit} 2>/dev/null`).join('; ')}; exec "$@"`;
}
