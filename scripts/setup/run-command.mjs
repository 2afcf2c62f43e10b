import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SetUpError } from './set-up-error.mjs';

const keptOutput = 20_000;
const endings = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a program to its end and returns what it printed. Throws SetUpError with the end of the output when it fails.
 * onText sees output as it comes. A signal that ends us ends the program and all that it started.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onText?: (text: string) => void }} [options]
 * @returns {Promise<string>}
 */
export async function runCommand(program, args, options = {}) {
  // A process group of its own: ninja would outlive a killed cmake and go on writing beside the next run.
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = () => child.pid && process.kill(-child.pid, 'SIGTERM');
  process.on('exit', kill);
  for (const signal of endings) process.on(signal, exitBy);
  try {
    return await collect(child, [program, ...args].join(' '), options.onText ?? (() => {}));
  } finally {
    process.off('exit', kill);
    for (const signal of endings) process.off(signal, exitBy);
  }
}

/** @param {NodeJS.Signals} signal */
function exitBy(signal) {
  process.exit(128 + constants.signals[signal]);
}

/**
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {string} command
 * @param {(text: string) => void} onText
 * @returns {Promise<string>}
 */
function collect(child, command, onText) {
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-keptOutput);
        onText(text);
      });
    }
    child.on('error', (error) => reject(new SetUpError(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      reject(new SetUpError(`${output.trimEnd()}\n'${command}' ended with ${signal ?? `exit code ${code}`}`.trimStart()));
    });
  });
}
