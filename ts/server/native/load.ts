/** Finds and loads the addons. Each says why it could not be loaded from every place that was tried, and what to do. */
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { INSTALL_ROOT } from '../platform/files/install-root.ts';
import { requireCpuFeatures } from './cpu-features.ts';
import { NativeError, type NativeStatus } from './native-error.ts';

export { type CpuUnsupportedCode, CpuUnsupportedError } from './cpu-features.ts';

export type AddonName = 'llama' | 'system' | 'vector' | 'whisper';

/** What every addon exports beside its own functions. */
interface Addon {
  /** Called once in each thread: where the backend libraries lie, and how native failures become errors. */
  initialise(folder: string, createError: (status: NativeStatus) => Error): void;
}

export interface LoadAttempt {
  file: string;
  reason: string;
}

/** No candidate folder had a loadable addon. */
export class AddonLoadError extends Error {
  override readonly name = 'AddonLoadError';
  readonly code = 'addon_not_loadable';
  readonly attempts: LoadAttempt[];

  constructor(addon: AddonName, attempts: LoadAttempt[]) {
    const tried = attempts.map(({ file, reason }) => `  ${file}: ${reason}`).join('\n');
    super(`The native library '${addon}' could not be loaded. Tried:\n${tried}\n${remedy(attempts)}`);
    this.attempts = attempts;
  }
}

/** Presets whose libraries run on the machine that built them. */
const presets = ['cpu', 'cuda', 'macos', 'release'];
const loaded = new Map<AddonName, { addon: Addon; folder: string }>();

/**
 * The addon's exports, loaded once in each thread. Throws CpuUnsupportedError before touching a library that this CPU
 * cannot run, and AddonLoadError when no candidate loads.
 */
export function loadAddon(name: AddonName): unknown {
  return load(name).addon;
}

/** The folder with the addons and the libraries they share. Throws as loadAddon does. */
export function nativeFolder(): string {
  return load('llama').folder;
}

/** Folders in the order they are tried: SVC_NATIVE_DIR alone when set, else the package's, then the newest of the checkout's. */
export function candidateFolders(name: AddonName, env: NodeJS.ProcessEnv = process.env): string[] {
  if (env.SVC_NATIVE_DIR) return [resolve(env.SVC_NATIVE_DIR)];
  const builtMs = (folder: string) => statSync(join(folder, fileName(name)), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const built = presets.map((preset) => join(INSTALL_ROOT, 'build', preset, 'lib')).sort((a, b) => builtMs(b) - builtMs(a));
  const inUse = built.filter((folder) => builtMs(folder) > 0);
  return [join(INSTALL_ROOT, 'lib'), ...(inUse.length > 0 ? inUse : built.slice(0, 1))];
}

function load(name: AddonName): { addon: Addon; folder: string } {
  const known = loaded.get(name);
  if (known) return known;
  if (name !== 'system') requireCpuFeatures();
  const attempts: LoadAttempt[] = [];
  for (const folder of candidateFolders(name)) {
    const file = join(folder, fileName(name));
    try {
      const found = { addon: open(file, folder), folder };
      loaded.set(name, found);
      return found;
    } catch (error) {
      attempts.push({ file, reason: error instanceof Error ? firstLine(error.message) : String(error) });
    }
  }
  throw new AddonLoadError(name, attempts);
}

function open(file: string, folder: string): Addon {
  if (!existsSync(file)) throw new Error('there is no such file');
  const addon = createRequire(import.meta.url)(file) as Addon;
  addon.initialise(folder, (status) => new NativeError(status));
  return addon;
}

function fileName(name: AddonName): string {
  return `svc_${name}.node`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

/** What to do, told from how the attempts failed. */
function remedy(attempts: LoadAttempt[]): string {
  const reasons = attempts.map(({ reason }) => reason).join(' ');
  if (/GLIBC|GLIBCXX/.test(reasons))
    return 'This system is older than the one it was built on: build it here with `node scripts/build.mjs`.';
  const library = /(lib[\w.+-]+\.(?:so|dylib)[\w.]*): cannot open shared object/.exec(reasons)?.[1];
  if (library) return `Install the system package that has ${library}, or build again with \`node scripts/build.mjs\`.`;
  if (/ELF|file too short|mach-o|wrong architecture/i.test(reasons))
    return 'It is damaged or for another CPU: install the package for this machine or build with `node scripts/build.mjs`.';
  return 'In a checkout, build it with `node scripts/build.mjs`; elsewhere, install the package again or set SVC_NATIVE_DIR to its folder.';
}
