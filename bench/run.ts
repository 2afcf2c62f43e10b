/** `npm run bench -- SUITE [options]`; what there is stands in options.ts. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import type { ContenderOptions } from './contenders/contender.ts';
import { contenders } from './contenders/contenders.ts';
import { quicken } from './load/quicken.ts';
import { requireWrk } from './load/wrk.ts';
import { findModel, sha256 } from './model.ts';
import { type BenchOptions, helpText, readOptions, UsageError } from './options.ts';
import { writePage } from './page/write-page.ts';
import { reportLines, summaryLines, tally } from './report.ts';
import { writeResults, writeSummary } from './result-file.ts';
import { type RunOptions, runTrial, type TrialResult } from './runner.ts';
import { type Suite, suites } from './suites.ts';
import type { ContenderName, Trial } from './trial.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) {
    console.log(helpText(Object.fromEntries(Object.entries(suites).map(([name, { question }]) => [name, question]))));
    return;
  }
  if (options.subject.endsWith('.json') && (options.hasReport || options.hasSummary)) {
    if (options.hasReport) console.log(`page: ${writePage(options.subject)}`);
    if (options.hasSummary) console.log(`summary: ${writeSummary(options.subject)}`);
    return;
  }
  const suite = suites[options.subject];
  if (!suite) throw new UsageError(`name a suite: ${Object.keys(suites).join(', ')} (--help explains)`);
  await runSuite(suite, options);
}

async function runSuite(suite: Suite, options: BenchOptions): Promise<void> {
  const { nThreads, nRounds, isQuick, isJson, rivalFlags } = options;
  const trials = chooseTrials(suite, options.trials, isQuick);
  if (trials.some(({ phases }) => Object.values(phases).some(({ kind }) => kind === 'wrk'))) requireWrk();
  const model = await findModel(options.model ?? (isQuick ? 'tiny' : suite.model), suite.purpose);
  const facts = { suite: options.subject, model: basename(model), nThreads, nRounds, rivalFlags };
  const say = (line: string) => {
    if (!isJson) console.log(line);
  };
  say(
    `suite ${facts.suite}, model ${facts.model}, ${nThreads} threads, ${nRounds} rounds; client and servers share ${availableParallelism()} cores`,
  );
  const results: TrialResult[] = [];
  for (const trial of trials) {
    const settings = await settingsOf(trial, suite, model, options);
    const onProgress = (text: string) => showProgress(`${trial.name}: ${text}`);
    const result = await runTrial(trial, { contenders: chooseContenders(trial, options.rival), settings, nRounds, onProgress });
    showProgress('');
    for (const line of reportLines(result)) say(line);
    results.push(result);
  }
  const { path, run } = writeResults({ ...facts, modelSha256: await sha256(model) }, results);
  const page = options.hasReport ? writePage(path) : undefined;
  const summary = options.hasSummary ? writeSummary(path) : undefined;
  if (isJson) console.log(JSON.stringify({ file: path, page, summary, ...run }, null, 2));
  say(`samples: ${path}`);
  if (page) say(`page: ${page}`);
  if (summary) say(`summary: ${summary}`);
  const goals = tally(results);
  for (const line of summaryLines(goals)) say(line);
  // Who leaves the rival out knows that goals against it are not measured.
  const isIncomplete = goals.nUnmeasured > 0 && options.rival !== 'none';
  process.exitCode = goals.nMissed > 0 || isIncomplete ? 1 : 0;
}

function chooseTrials({ trials }: Suite, only: readonly string[] | undefined, quick: boolean): Trial[] {
  const names = trials.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--trial ${unknown}: the suite has ${names.join(', ')}`);
  const chosen = trials.filter(({ name }) => only === undefined || only.includes(name));
  return quick ? chosen.map(quicken) : chosen;
}

/** `--rival` takes another rival's place, or, with `none`, leaves it out. The ceiling is no rival and stays. */
function chooseContenders(trial: Trial, rival: string | undefined): RunOptions['contenders'] {
  const ceiling = trial.ceiling === undefined ? {} : { ceiling: contenders[trial.ceiling] };
  const ours = contenders[trial.ours ?? 'svc'];
  if (rival === 'none') return { ours, ...ceiling };
  if (rival !== undefined && !Object.hasOwn(contenders, rival))
    throw new UsageError(`--rival ${rival}: give none or one of ${Object.keys(contenders).join(', ')}`);
  return { ours, rival: contenders[(rival as ContenderName | undefined) ?? trial.rival], ...ceiling };
}

async function settingsOf(
  trial: Trial,
  suite: Suite,
  model: string,
  { nThreads, rivalFlags }: BenchOptions,
): Promise<ContenderOptions> {
  const file = trial.model === undefined ? model : await findModel(trial.model);
  const { models, ...server } = trial.server ?? {};
  const named = Object.entries(models ?? {}).map(async ([name, of]) => [name, of === '' ? file : await findModel(of)] as const);
  return {
    nThreads,
    ...suite.server,
    ...server,
    rivalFlags: [...(server.rivalFlags ?? []), ...rivalFlags],
    model: file,
    ...(models ? { models: Object.fromEntries(await Promise.all(named)) } : {}),
  };
}

/** Only on a terminal: a log file keeps the results alone. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.error(process.argv.includes('--json') ? JSON.stringify({ error: { code: 'bench_failed', message } }) : message);
  process.exitCode = error instanceof UsageError ? 2 : 3;
}
