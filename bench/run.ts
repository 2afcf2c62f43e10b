/** `npm run bench -- SUITE [--trial NAME] [--model NAME|FILE] [--threads N] [--rounds N] [--quick]` */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { bareUws } from './contenders/bare-uws.ts';
import { llamaServer } from './contenders/llama-server.ts';
import { ours } from './contenders/ours.ts';
import { requireWrk } from './load/wrk.ts';
import { findModel, sha256 } from './model.ts';
import { reportLine, summaryLine } from './report.ts';
import { writeResults } from './result-file.ts';
import { runTrial, type TrialResult } from './runner.ts';
import { type Suite, suites } from './suites.ts';
import { quicken } from './trial.ts';

const rivals = { 'bare-uws': bareUws, 'llama-server': llamaServer };

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      trial: { type: 'string' },
      model: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
    },
  });
  const name = positionals[0] ?? '';
  const suite = suites[name];
  if (!suite) throw new Error(`name a suite: ${Object.keys(suites).join(', ')}`);
  const trials = chooseTrials(suite, values.trial, values.quick);
  if (trials.some(({ load }) => load.kind === 'wrk')) requireWrk();

  const model = await findModel(values.model ?? (values.quick ? 'tiny' : suite.model));
  const facts = { suite: name, model: basename(model), nThreads: count(values.threads), nRounds: count(values.rounds) };
  console.log(
    `suite ${name}, model ${facts.model}, ${facts.nThreads} threads, ${facts.nRounds} rounds; client and servers share the cores`,
  );
  const results: TrialResult[] = [];
  for (const trial of trials) {
    const contenders = { ours, rival: rivals[trial.rival] };
    const options = { model, nThreads: facts.nThreads, nRounds: facts.nRounds, nParallel: suite.nParallel, nCtx: suite.nCtx };
    const result = await runTrial(trial, contenders, { ...options, onRound: (text) => showProgress(`${trial.name}: ${text}`) });
    showProgress('');
    console.log(reportLine(result));
    results.push(result);
  }
  console.log(`samples: ${writeResults({ ...facts, modelSha256: await sha256(model) }, results)}`);
  console.log(summaryLine(results));
  process.exitCode = results.some((result) => result.holds === false) ? 1 : 0;
}

function chooseTrials({ trials }: Suite, only: string | undefined, quick: boolean) {
  const chosen = trials.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) throw new Error(`--trial ${only}: the suite has ${trials.map(({ name }) => name).join(', ')}`);
  return quick ? chosen.map(quicken) : chosen;
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
