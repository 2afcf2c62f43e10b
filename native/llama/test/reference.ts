/** Runs the programs that the addon is compared with, built against the addon's own libraries. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as addons from '../../../scripts/setup/addons.mjs';
import { withLock } from '../../../scripts/setup/lock.mjs';
import { testProgramStep } from '../../../scripts/setup/native.mjs';
import { nativeFolder } from '../../../ts/server/native/load.ts';

const run = promisify(execFile);

/** The same on both sides, as some kernels add in an order that depends on it; one thread waits for no other on a busy machine. */
export const nThreads = 1;

type ReferenceProgram =
  | 'reference'
  | 'options-reference'
  | 'grammar-reference'
  | 'schema-reference'
  | 'chat-reference'
  | 'prefix-tree-test'
  | 'kv-offload-test'
  | 'speculation-test'
  | 'stop-search-test'
  | 'thread-choice-test'
  | 'step-planner-test'
  | 'step-plan-test'
  | 'fair-queue-test'
  | 'grammar-memory-test'
  | 'id-source-test'
  | 'sequences-test'
  | 'core-arbiter-test'
  | 'compute-team-test'
  | 'faults.node'
  | 'llama-simple'
  | 'llama-embedding';

/** Why the programs cannot be built here, or false: packages carry the libraries without a build folder. */
export function noReferences(): string | false {
  const build = dirname(nativeFolder());
  return existsSync(join(build, 'CMakeCache.txt')) ? false : `${build} is no build folder`;
}

export async function referenceProgram(name: ReferenceProgram): Promise<string> {
  const build = dirname(nativeFolder());
  await buildPrograms(build);
  return join(build, 'references', name);
}

/** `npm test` has built them; a test file that is run by itself may be the first to need them. */
async function buildPrograms(build: string): Promise<void> {
  const step = testProgramStep(basename(build));
  if (await step.isDone()) return;
  await withLock(join(build, 'references.lock'), async () => {
    if (!(await step.isDone())) await step.run(() => {});
  });
}

/** Builds one target of native/llama/test/CMakeLists.txt in the build folder of any preset. */
export async function buildTarget(build: string, target: string): Promise<void> {
  await withLock(join(build, 'references.lock'), () => addons.buildTarget(build, target, () => {}));
}

/** What a program prints, line by line. */
export async function linesOf(name: ReferenceProgram, args: readonly (string | number)[]): Promise<string[]> {
  const { stdout } = await run(await referenceProgram(name), args.map(String));
  return stdout.trim().split('\n');
}

/** What a program prints as `name value` lines. */
export async function figuresOf(name: ReferenceProgram, args: readonly (string | number)[]): Promise<Record<string, number>> {
  const pairs = (await linesOf(name, args)).map((line) => line.split(' ') as [string, string]);
  return Object.fromEntries(pairs.map(([key, value]) => [key, Number(value)]));
}

/** One line of numbers for each prompt; see reference.cpp. */
export async function runReference(mode: 'embed' | 'rank', model: string, prompts: readonly string[]): Promise<number[][]> {
  const lines = await feedReference([mode, nativeFolder(), model, String(nThreads)], prompts);
  return lines.map(numbers);
}

export async function runReferenceGreedy(
  model: string,
  prompts: readonly string[],
  nTokens: number,
): Promise<{ prompt: number[]; completion: number[] }[]> {
  const lines = await feedReference(['generate', nativeFolder(), model, String(nThreads), String(nTokens)], prompts);
  return lines.map((line) => {
    const [prompt = '', completion = ''] = line.split('|');
    return { prompt: numbers(prompt), completion: numbers(completion) };
  });
}

/** Tokens that common_sampler chooses behind a prompt, for each set of options, by their names in options_reference.cpp. */
export async function runReferenceOptions(
  model: string,
  prompt: readonly number[],
  nTokens: number,
  cases: readonly Readonly<Record<string, string | number>>[],
): Promise<number[][]> {
  const args = [nativeFolder(), model, nTokens, ...prompt].map(String);
  const child = run(await referenceProgram('options-reference'), args, { maxBuffer: 1 << 26 });
  const line = (options: Readonly<Record<string, string | number>>) =>
    Object.entries(options)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
  child.child.stdin?.end(cases.map((options) => `${line(options)}\n`).join(''));
  return (await child).stdout.trimEnd().split('\n').map(numbers);
}

/** What an upstream program prints on stdout. */
export async function runUpstream(name: 'llama-simple' | 'llama-embedding', args: readonly string[]): Promise<Buffer> {
  const program = await referenceProgram(name);
  // These look for backends beside themselves and in the current folder.
  const { stdout } = await run(program, [...args], { cwd: nativeFolder(), encoding: 'buffer', maxBuffer: 1 << 26 });
  return stdout;
}

async function feedReference(args: readonly string[], prompts: readonly string[]): Promise<string[]> {
  const child = run(await referenceProgram('reference'), [...args], { maxBuffer: 1 << 26 });
  child.child.stdin?.end(prompts.map((prompt) => `${prompt}\0`).join(''));
  const { stdout } = await child;
  return stdout.trimEnd().split('\n');
}

function numbers(text: string): number[] {
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}
