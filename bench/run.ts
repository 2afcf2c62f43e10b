/** `npm run bench -- SUITE [options]`; what there is stands in options.ts. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { besideBefore, chooseContenders, withRival } from './contenders/choose.ts';
import type { ContenderOptions } from './contenders/contender.ts';
import { heedSignals, Interrupted, interruption } from './interruption.ts';
import { quicken } from './load/quicken.ts';
import { requireWrk } from './load/wrk.ts';
import { describeMachine } from './machine.ts';
import { findModel, sha256 } from './model.ts';
import { type BenchOptions, helpText, readOptions, UsageError } from './options.ts';
import { writePage } from './page/write-page.ts';
import { reportLines, summaryLines, tally } from './report.ts';
import { type RunFacts, writeResults } from './result-file.ts';
import { runTrial, type TrialResult } from './runner.ts';
import { type Suite, suites } from './suites.ts';
import { requireWholeSuite, writeSummary } from './summary-file.ts';
import type { Trial } from './trial.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) {
    const questions = Object.fromEntries(Object.entries(suites).map(([name, { question }]) => [name, question]));
    console.log(
      helpText({
        ...questions,
        cluster:
          'what a forward adds beside a bare one, and the tokens of prompts that four nodes compute for chats of eight turns',
        standby: 'how old the copy at a standby gets, and how long a promotion takes, with 10 GB of data (--size)',
        memory: 'recalls of an account with 10,000 memories, beside the embedding',
        forecast: 'world models of series, beside the rules that they must beat; chats beside their training',
        web: 'the first load of /chat, and scripting while an answer streams, in a browser',
      }),
    );
    return;
  }
  // Measured in a browser and not by a client: a program of its own, which knows a browser's types.
  if (options.subject === 'web') {
    await import(new URL('./web/main.ts', import.meta.url).href);
    return;
  }
  if (options.subject === 'cluster') {
    await import('./cluster/main.ts');
    return;
  }
  if (options.subject === 'standby') {
    await import('./standby/main.ts');
    return;
  }
  // These need no server: they run in this process.
  if (options.subject === 'forecast') {
    await import('./forecast/main.ts');
    return;
  }
  if (options.subject === 'memory') {
    await import('./memory/main.ts');
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
  const { nThreads, nRounds, isQuick, isJson } = options;
  const trials = chooseTrials(suite, options);
  if (trials.some(({ phases }) => Object.values(phases).some(({ kind }) => kind === 'wrk'))) requireWrk();
  const model = await findModel(options.model ?? (isQuick ? 'tiny' : suite.model), suite.purpose);
  const facts = await describeRun(model, options);
  if (options.hasSummary) requireWholeSuite(facts, trials);
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
    const result = await runTrial(trial, { contenders: chooseContenders(trial), settings, nRounds, onProgress });
    showProgress('');
    for (const line of reportLines(result)) say(line);
    results.push(result);
  }
  writeDown(facts, results, options, say);
  const goals = tally(results);
  for (const line of summaryLines(goals)) say(line);
  // Who leaves the rival out knows that goals against it are not measured.
  const isIncomplete = goals.nUnmeasured > 0 && options.rival !== 'none';
  process.exitCode = goals.nMissed > 0 || isIncomplete ? 1 : 0;
}

/** When the run starts: files may change until its end, and are not what is measured. */
async function describeRun(model: string, { subject, nThreads, nRounds, isQuick, rivalFlags }: BenchOptions): Promise<RunFacts> {
  const settings = { nThreads, nRounds, isQuick, rivalFlags };
  return { suite: subject, model: basename(model), modelSha256: await sha256(model), ...settings, machine: describeMachine() };
}

function writeDown(
  facts: RunFacts,
  results: readonly TrialResult[],
  { hasReport, hasSummary, isJson }: BenchOptions,
  say: (line: string) => void,
): void {
  const { path, run } = writeResults(facts, results);
  const page = hasReport ? writePage(path) : undefined;
  const summary = hasSummary ? writeSummary(path) : undefined;
  if (isJson) console.log(JSON.stringify({ file: path, page, summary, ...run }, null, 2));
  say(`samples: ${path}`);
  if (page) say(`page: ${page}`);
  if (summary) say(`summary: ${summary}`);
}

function chooseTrials({ trials }: Suite, { trials: only, rival, before, isQuick }: BenchOptions): Trial[] {
  const names = trials.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--trial ${unknown}: the suite has ${names.join(', ')}`);
  const chosen = trials
    .filter(({ name, onlyWhenNamed }) => (only === undefined ? !onlyWhenNamed : only.includes(name)))
    .map((trial) => (before === undefined ? withRival(trial, rival) : besideBefore(trial)));
  return isQuick ? chosen.map(quicken) : chosen;
}

async function settingsOf(
  trial: Trial,
  suite: Suite,
  model: string,
  { nThreads, rivalFlags, before }: BenchOptions,
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
    ...(before === undefined ? {} : { before }),
    ...(models ? { models: Object.fromEntries(await Promise.all(named)) } : {}),
  };
}

/** Only on a terminal: a log file keeps the results alone. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

heedSignals();
try {
  await main();
} catch (caught) {
  // A server that a terminal's Ctrl-C ended fails in its own words.
  const error = interruption.aborted ? interruption.reason : caught;
  const message = error instanceof Error ? error.message : String(error);
  console.error(process.argv.includes('--json') ? JSON.stringify({ error: { code: 'bench_failed', message } }) : message);
  process.exitCode = error instanceof Interrupted ? error.exitCode : error instanceof UsageError ? 2 : 3;
}
