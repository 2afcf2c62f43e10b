import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const models = join(import.meta.dirname, '..');

/** Debian puts its packages (python3-torch, python3-numpy) beside its own interpreter, which need not be the first on the path. */
const candidates = [process.env['SVC_PYTHON'], '/usr/bin/python3', 'python3'].filter((path) => path !== undefined);

/** The first Python that can import `modules`, or undefined. */
export async function findPython(modules: readonly string[]): Promise<string | undefined> {
  for (const python of candidates) {
    const works = await run(python, ['-c', `import ${modules.join(', ')}`]).then(
      () => true,
      () => false,
    );
    if (works) return python;
  }
  return undefined;
}

/** Runs a script of a recipe, such as `svc-chat-tiny/train.py`, and returns what it printed. */
export function runScript(python: string, script: string, args: readonly string[]): Promise<string> {
  return runPython(python, [join(models, script), ...args]);
}

/** Runs a module that the recipes share, such as `recipe.tokenizer_sample`, and returns what it printed. */
export function runModule(python: string, module: string, args: readonly string[]): Promise<string> {
  return runPython(python, ['-m', module, ...args]);
}

async function runPython(python: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await run(python, args, { cwd: models, env, maxBuffer: 2 ** 28 });
  return stdout;
}
