/** `npm run bench -- SUITE [--rival NAME] [--trial NAME] [--model NAME|FILE] [--threads N] [--rounds N] [--quick]` */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { ContenderOptions } from './contenders/contender.ts';
import { contenders } from './contenders/contenders.ts';
import { quicken } from './load/quicken.ts';
import { requireWrk } from './load/wrk.ts';
import { findModel, sha256 } from './model.ts';
import { reportLines, summaryLine } from './report.ts';
import { writeResults } from './result-file.ts';
import { type RunOptions, runTrial, type TrialResult } from './runner.ts';
import { type Suite, suites } from './suites.ts';
import type { ContenderName, Trial } from './trial.ts';

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      rival: { type: 'string' },
      trial: { type: 'string', multiple: true },
      model: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const name = positionals[0] ?? '';
  const suite = suites[name];
  if (!suite) throw new Error(`name a suite: ${Object.keys(suites).join(', ')}`);
  const trials = chooseTrials(suite, values.trial, values.quick);
  if (trials.some(({ phases }) => Object.values(phases).some(({ kind }) => kind === 'wrk'))) requireWrk();

  const model = await findModel(values.model ?? (values.quick ? 'tiny' : suite.model));
  const nRounds = count(values.rounds ?? (values.quick ? '1' : '3'));
  const facts = { suite: name, model: basename(model), nThreads: count(values.threads), nRounds };
  console.log(
    `suite ${name}, model ${facts.model}, ${facts.nThreads} threads, ${nRounds} rounds; client and servers share ${availableParallelism()} cores`,
  );
  const results: TrialResult[] = [];
  for (const trial of trials) {
    const settings = await settingsOf(trial, suite, model, facts.nThreads);
    const onProgress = (text: string) => showProgress(`${trial.name}: ${text}`);
    const result = await runTrial(trial, { contenders: chooseContenders(trial, values.rival), settings, nRounds, onProgress });
    showProgress('');
    for (const line of reportLines(result)) console.log(line);
    results.push(result);
  }
  console.log(`samples: ${writeResults({ ...facts, modelSha256: await sha256(model) }, results)}`);
  console.log(summaryLine(results));
  process.exitCode = results.some(({ verdicts }) => verdicts.some(({ holds }) => holds === false)) ? 1 : 0;
}

function chooseTrials({ trials }: Suite, only: readonly string[] | undefined, quick: boolean): Trial[] {
  const names = trials.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--trial ${unknown}: the suite has ${names.join(', ')}`);
  const chosen = trials.filter(({ name }) => only === undefined || only.includes(name));
  return quick ? chosen.map(quicken) : chosen;
}

/** `--rival` takes another rival's place, or, with `none`, leaves it out. The ceiling is no rival and stays. */
function chooseContenders(trial: Trial, rival: string | undefined): RunOptions['contenders'] {
  const ceiling = trial.ceiling === undefined ? {} : { ceiling: contenders[trial.ceiling] };
  const ours = contenders[trial.ours ?? 'svc'];
  if (rival === 'none') return { ours, ...ceiling };
  if (rival !== undefined && !Object.hasOwn(contenders, rival))
    throw new Error(`--rival ${rival}: give none or one of ${Object.keys(contenders).join(', ')}`);
  return { ours, rival: contenders[(rival as ContenderName | undefined) ?? trial.rival], ...ceiling };
}

async function settingsOf(trial: Trial, suite: Suite, model: string, nThreads: number): Promise<ContenderOptions> {
  const file = trial.model === undefined ? model : await findModel(trial.model);
  const { models, ...server } = trial.server ?? {};
  const named = Object.entries(models ?? {}).map(async ([name, of]) => [name, of === '' ? file : await findModel(of)] as const);
  return {
    nThreads,
    ...suite.server,
    ...server,
    model: file,
    ...(models ? { models: Object.fromEntries(await Promise.all(named)) } : {}),
  };
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`"${text}" is not a count: give 1 or more`);
  return number;
}

/** Only on a terminal: a log file keeps the results alone. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
