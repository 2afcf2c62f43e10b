import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNode, runsTypeScript } from '../../ts/cli/node-runtime.mjs';
import { checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

/** @typedef {Record<string, { version?: string, integrity?: string, optional?: boolean, devOptional?: boolean }>} Packages */

/**
 * Whether node_modules holds what package-lock.json says. npm writes node_modules/.package-lock.json last, so an
 * interrupted installation does not pass.
 */
export function areDependenciesInstalled(folder = checkout) {
  const hidden = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden) || !findNode()) return false;
  return matches(readPackages(join(folder, 'package-lock.json')), readPackages(hidden));
}

/**
 * @param {Packages} wanted
 * @param {Packages} installed
 */
export function matches(wanted, installed) {
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    // Optional packages are there only on the platforms that they are for.
    if (!found) return entry.optional || entry.devOptional;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * Installs what package-lock.json says, under Node 22, because npm skips optional packages that want a newer Node. Not `npm ci`:
 * npm 11 refuses a lock without every platform's optional packages, and a registry mirror may not carry those. No package's install
 * script runs (.npmrc): none is needed, and npm would compile what comes compiled.
 */
export async function installDependencies() {
  const install = ['npm', 'install', '--no-save', '--no-audit', '--no-fund'];
  const [program = 'npm', ...args] = runsTypeScript()
    ? install
    : ['npx', '--yes', `--package=${nodePackage()}`, '--', ...install];
  // `npm start --silent` would silence the reason of a failure too.
  try {
    await runCommand(program, args, { cwd: checkout, env: { ...process.env, npm_config_loglevel: 'warn' } });
  } catch (error) {
    const advice = error instanceof SetUpError && adviceFor(error.message);
    throw advice ? new SetUpError(`${error.message}\n\n${advice}`) : error;
  }
}

/**
 * What to do about a failed installation, where npm's output shows what it lacked; undefined where it does not.
 * @param {string} output
 */
export function adviceFor(output) {
  if (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.test(output)) {
    return [
      "npm could not reach its registry, from which svc's dependencies come.",
      'Connect this machine to the network, or name a proxy (npm config set proxy URL) or a mirror (npm config set registry URL).',
    ].join('\n');
  }
  return undefined;
}

/** The npm package with the Node binary for this machine, at the version that package.json pins. */
function nodePackage() {
  /** @type {{ optionalDependencies: Record<string, string> }} */
  const { optionalDependencies } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const suffix = `-${process.platform}-${process.arch}`;
  const found = Object.entries(optionalDependencies).find(([name]) => name.startsWith('node-') && name.endsWith(suffix));
  // The package named node installs the right one by a script; the others are its binaries alone.
  return found ? found.join('@') : 'node@22';
}

/**
 * @param {string} file
 * @returns {Packages}
 */
function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
