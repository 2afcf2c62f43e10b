import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a program of the packaging tools; resolves to what it printed. Throws a sentence with its complaint, or how to install it. */
export async function runTool(
  program: string,
  args: readonly string[],
  { cwd, env, debianPackage }: { cwd?: string; env?: NodeJS.ProcessEnv; debianPackage: string },
): Promise<string> {
  try {
    const options = { maxBuffer: 64 * 2 ** 20, env: { ...process.env, ...env }, ...(cwd !== undefined && { cwd }) };
    return (await run(program, [...args], options)).stdout;
  } catch (error) {
    const { code, stderr = '', stdout = '' } = error as NodeJS.ErrnoException & { stderr?: string; stdout?: string };
    if (code === 'ENOENT') throw new Error(`${program} is not installed: apt-get install ${debianPackage}`, { cause: error });
    throw new Error(`${program} failed:\n${`${stdout}${stderr}`.trim().slice(-4000)}`, { cause: error });
  }
}
