// Runs on whatever Node started it (20 or later), so this is plain JavaScript.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const forwarded = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP']);

/** Whether a Node runs .ts files as they are: type stripping is on from 22.18. */
export function runsTypeScript(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** The Node that runs svc: the one among the dependencies, or the one that runs now when that is new enough. */
export function findNode() {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own)) return own;
  return runsTypeScript() ? process.execPath : undefined;
}

/**
 * Becomes a .ts program: in this process when it is the right Node already, else in a child that stands in for it.
 * @param {string} program
 * @param {string[]} args
 */
export async function becomeTypeScript(program, args) {
  const node = findNode();
  if (!node || realpathSync(node) !== realpathSync(process.execPath)) return runTypeScript(program, args);
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
}

/**
 * Runs a .ts program to its end with our terminal, signals and environment, and takes over its exit code.
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, onOutput?: (text: string) => void }} [options] onOutput gets what the program prints, in place
 *   of the terminal; errors go there still
 */
export async function runTypeScript(program, args, { env = process.env, onOutput } = {}) {
  const node = findNode();
  if (!node) {
    console.error(
      `svc needs Node 22.18 or later and this is ${process.version}: in a checkout, run 'npm start' or 'npm test' once`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [program, ...args], { stdio: ['inherit', onOutput ? 'pipe' : 'inherit', 'inherit'], env });
  if (onOutput) child.stdout?.setEncoding('utf8').on('data', onOutput);
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    // A terminal sends Ctrl-C to both of us; a second one would cut the drain short.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);
  process.exitCode = await new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => done(code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)]));
  });
  for (const signal of forwarded) process.off(signal, forward);
}
