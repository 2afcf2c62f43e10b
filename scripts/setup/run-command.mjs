import { spawn } from 'node:child_process';
import { SetUpError } from './set-up-error.mjs';

const keptOutput = 20_000;

/**
 * Runs a program to its end and returns what it printed. Throws SetUpError with the end of the output when it fails.
 * onText sees output as it comes; `inherit` gives the child our terminal instead.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, inherit?: boolean, onText?: (text: string) => void }} [options]
 * @returns {Promise<string>}
 */
export function runCommand(program, args, { cwd, env = process.env, inherit = false, onText = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: inherit ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-keptOutput);
        onText(text);
      });
    }
    child.on('error', (error) => reject(new SetUpError(`${program} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const command = [program, ...args].join(' ');
      reject(new SetUpError(`${output.trimEnd()}\n'${command}' ended with ${signal ?? `exit code ${code}`}`.trimStart()));
    });
  });
}
