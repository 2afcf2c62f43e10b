/**
 * The files of a build that ship: our own, and those that its list of upstream's libraries names. A build folder that has served for a while
 * holds others too, of CPU variants and versions that it was configured for before.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Written by native/llama-cpp/CMakeLists.txt, where upstream's libraries were built. */
const LIST = 'engine.cmake';

export interface NativeBuild {
  /** The checkout. */
  source: string;
  /** The build's folder of libraries, `build/PRESET/lib`. */
  folder: string;
  platform: 'linux' | 'darwin';
}

/** Names in the folder, sorted. Throws a sentence with the remedy where one that belongs to it is not there. */
export function nativeFiles({ source, folder, platform }: NativeBuild): string[] {
  const addons = globSync('native/*/{,bindings/}addon.cpp', { cwd: source }).map((path) => `svc_${path.split(/[\\/]/)[1]}.node`);
  const shared = `libsvc-scheduling.${platform === 'linux' ? 'so' : 'dylib'}`;
  const own = [...addons, shared, 'svc_flite', ...(platform === 'linux' ? ['svc_confine'] : [])];
  const names = [...own, ...upstreamLibraries(dirname(folder))].sort();
  const missing = names.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) throw new Error(`${folder} lacks ${missing.join(', ')}: ${rebuild(folder)}`);
  return names;
}

function upstreamLibraries(build: string): string[] {
  const cache = readText(join(build, 'CMakeCache.txt'));
  const engine = /^SVC_ENGINE_DIR:[A-Z]+=(.+)$/m.exec(cache)?.[1] ?? build;
  const listed = /^set\(SVC_ENGINE_RUNTIME "([^"]+)"\)$/m.exec(readText(join(engine, LIST)))?.[1];
  if (listed === undefined) throw new Error(`${engine} has no list of upstream's libraries: ${rebuild(join(build, 'lib'))}`);
  return listed.split(';').map((path) => basename(path));
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

const rebuild = (folder: string) => `node scripts/build.mjs --preset ${basename(dirname(folder))}`;
