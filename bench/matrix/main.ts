/** `npm run bench -- serving --machine-matrix`: the suite `matrix` on each machine that can be emulated here, and one summary of all. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeMachine } from '../machine.ts';
import { type ResultFile, resultsFolder } from '../result-file.ts';
import { shapeOf, summarise } from '../summary-file.ts';
import { type Condition, conditions, whyNot } from './conditions.ts';
import { emulate } from './emulation.ts';
import { readMatrixOptions } from './options.ts';

const bench = join(import.meta.dirname, '..', 'run.ts');

interface Outcome {
  condition: Condition;
  /** Why it was not run or failed. */
  reason?: string;
  run?: ReturnType<typeof summarise>;
}

async function main(): Promise<void> {
  const { names, benchArgs } = readMatrixOptions(process.argv.slice(2), conditions);
  const outcomes: Outcome[] = [];
  let path = 'none';
  for (const condition of conditions.filter(({ name }) => names === undefined || names.includes(name))) {
    const reason = whyNot(condition);
    const outcome = reason === undefined ? await runOn(condition, benchArgs) : { condition, reason };
    console.log(linesOf(outcome).join('\n'));
    outcomes.push(outcome);
    // After each: a run of an hour that is interrupted leaves what it measured.
    path = writeMatrix(outcomes);
  }
  console.log(`summary: ${path}`);
  const missed = outcomes.flatMap(({ run }) => goalsOf(run)).filter(({ holds }) => holds === false).length;
  const nFailed = outcomes.filter(({ condition, run }) => run === undefined && whyNot(condition) === undefined).length;
  console.log(`${missed} goals missed, ${nFailed} machines failed`);
  process.exitCode = missed + nFailed > 0 ? 1 : 0;
}

async function runOn(condition: Condition, benchArgs: readonly string[]): Promise<Outcome> {
  const emulation = emulate(condition);
  try {
    const threads = emulation.nThreads === undefined ? [] : ['--threads', String(emulation.nThreads)];
    const args = [bench, 'matrix', '--json', ...threads, ...benchArgs];
    const env = { ...process.env, ...emulation.env };
    // Exit code 1 says that goals were missed, which the figures say too.
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 28 }).catch((error) => {
      if ((error as { code?: unknown }).code === 1) return error as { stdout: string };
      throw error;
    });
    const { file } = JSON.parse(stdout) as { file: string };
    return { condition, run: summarise(JSON.parse(readFileSync(file, 'utf8')) as ResultFile) };
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    return { condition, reason: (stderr || stdout || message).trim().slice(0, 500) };
  } finally {
    await emulation.end();
  }
}

interface GoalFigures {
  figure: string;
  ratio?: number;
  holds?: boolean;
}

function goalsOf(run: Outcome['run']): GoalFigures[] {
  return run === undefined ? [] : run.trials.flatMap(({ goals }) => goals as GoalFigures[]);
}

function linesOf({ condition, reason, run }: Outcome): string[] {
  if (reason !== undefined) return [`${condition.name}: not run: ${reason}`];
  const goals = goalsOf(run).map(({ figure, ratio, holds }) => `  ${figure.padEnd(32)} ${ratio?.toFixed(2)} ${verdict(holds)}`);
  return [`${condition.name}:`, ...goals];
}

function verdict(holds: boolean | undefined): string {
  return holds === undefined ? 'NOT MEASURED' : holds ? 'HELD' : 'MISSED';
}

function writeMatrix(outcomes: readonly Outcome[]): string {
  const first = outcomes.find(({ run }) => run !== undefined)?.run;
  const path = join(resultsFolder, `matrix-${shapeOf(first?.model ?? 'none')}.summary.json`);
  const matrix = { at: new Date().toISOString(), machine: describeMachine(), outcomes };
  writeFileSync(path, `${JSON.stringify(matrix, null, 1)}\n`);
  return path;
}

await main();
