/** Runs a trial's rounds, ours and the rival's in turn, so that a drift of the machine touches both alike. */
import type { ChildServer } from '../test/child-server.ts';
import type { Contender, ContenderOptions } from './contenders/contender.ts';
import { runChat } from './load/chat.ts';
import { runWrk } from './load/wrk.ts';
import { median, spread } from './statistics.ts';
import { holds, type Sample, type Trial } from './trial.ts';

export interface TrialResult {
  trial: Trial;
  /** Medians over the rounds, in the metric's unit. */
  ours: number;
  rival: number;
  /** Median of the rounds' ratios, ours divided by the rival's, and their extremes. */
  ratio: number;
  ratioLow: number;
  ratioHigh: number;
  /** Undefined for a trial without a goal. */
  holds: boolean | undefined;
  samples: { ours: Sample[]; rival: Sample[] };
}

export interface RunOptions extends ContenderOptions {
  nRounds: number;
  onRound(text: string): void;
}

export async function runTrial(
  trial: Trial,
  contenders: { ours: Contender; rival: Contender },
  options: RunOptions,
): Promise<TrialResult> {
  const servers: ChildServer[] = [];
  const samples: TrialResult['samples'] = { ours: [], rival: [] };
  try {
    const ours = await contenders.ours.start(options);
    servers.push(ours);
    const rival = await contenders.rival.start(options);
    servers.push(rival);
    for (let round = 1; round <= options.nRounds; round++) {
      options.onRound(`round ${round} of ${options.nRounds}`);
      samples.ours.push(await measure(ours, trial, round, trial.load));
      samples.rival.push(await measure(rival, trial, round, forRival(trial.load)));
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  return judge(trial, samples);
}

function forRival(load: Trial['load']): Trial['load'] {
  return load.kind === 'wrk' ? { ...load, path: load.rivalPath ?? load.path } : load;
}

/** Round 1 has seed 1 on both servers: the same prompts in the same order. */
function measure(server: ChildServer, trial: Trial, round: number, load: Trial['load']): Promise<Sample> {
  if (load.kind === 'wrk') return runWrk(server.url + load.path, load);
  return runChat(server, load, hash(trial.name) + round);
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7);
}

function judge(trial: Trial, samples: TrialResult['samples']): TrialResult {
  const pick = (list: Sample[]) => list.map((sample) => value(sample, trial.metric.name));
  const [ours, rival] = [pick(samples.ours), pick(samples.rival)];
  const ratios = ours.map((own, round) => own / (rival[round] ?? Number.NaN));
  const ratio = median(ratios);
  const { low, high } = spread(ratios);
  const verdict = trial.goal && holds(trial.goal, median(ours), ratio);
  return { trial, ours: median(ours), rival: median(rival), ratio, ratioLow: low, ratioHigh: high, holds: verdict, samples };
}

function value(sample: Sample, name: string): number {
  const found = sample[name];
  if (found === undefined) throw new Error(`the sample has no ${name}: it has ${Object.keys(sample).join(', ')}`);
  return found;
}
