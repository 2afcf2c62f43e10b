/** Runs a trial's rounds, ours and the rival's in turn, so that a drift of the machine touches both alike. */
import type { Contender, ContenderOptions, RunningContender } from './contenders/contender.ts';
import type { Load } from './load/load.ts';
import type { Phase, Sample, Trial } from './trial.ts';
import { judge, type Verdict } from './verdict.ts';

export interface TrialResult {
  trial: Trial;
  verdicts: Verdict[];
  samples: Samples;
  /** Wall time, starts of the servers included. */
  seconds: number;
}

/** One sample a round; empty for a rival or a ceiling that was not run. */
export interface Samples {
  ours: Sample[];
  rival: Sample[];
  ceiling: Sample[];
}

export type Side = keyof Samples;

export interface RunOptions {
  /** In the order in which they are measured. */
  contenders: Partial<Record<Side, Contender>>;
  settings: ContenderOptions;
  nRounds: number;
  onProgress(text: string): void;
}

export async function runTrial(trial: Trial, options: RunOptions): Promise<TrialResult> {
  const started = performance.now();
  const samples: Samples = { ours: [], rival: [], ceiling: [] };
  const sides = Object.entries(options.contenders).map(
    ([side, contender]) => [side as Side, new Stand(contender, options.settings, trial)] as const,
  );
  try {
    for (let round = 1; round <= options.nRounds; round++) {
      for (const [side, stand] of sides) {
        const progress = (phase: string) => options.onProgress(`round ${round} of ${options.nRounds}, ${side}, ${phase}`);
        samples[side].push(await measureRound(trial, stand, side, round, progress));
      }
    }
  } finally {
    await Promise.all(sides.map(([, stand]) => stand.clear()));
  }
  const seconds = (performance.now() - started) / 1_000;
  return { trial, verdicts: trial.goals.map((goal) => judge(goal, samples)), samples, seconds };
}

/** The same prompts in the same order on all sides; another phase or round has others, so that none profits from a cache. */
async function measureRound(
  trial: Trial,
  stand: Stand,
  side: Side,
  nth: number,
  onPhase: (name: string) => void,
): Promise<Sample> {
  const round: Sample = {};
  await stand.nextRound();
  for (const [name, phase] of Object.entries(trial.phases)) {
    onPhase(name);
    const running = await stand.nextPhase();
    const seed = hash(`${trial.name}/${name}`) + nth;
    const sample = (await running.measure(resolve(phase, side, round), seed)) ?? {};
    for (const [figure, value] of Object.entries(sample)) round[`${name}.${figure}`] = value;
  }
  return round;
}

/** The load as this side gets it, with what depends on earlier phases filled in. */
function resolve({ forRival, ...common }: Phase, side: Side, round: Sample): Load {
  const load = { ...common, ...(side === 'rival' ? forRival : {}) } as Load;
  if (load.kind !== 'poisson') return load;
  return { ...load, rate: { ...load.rate, perSecond: (round[load.rate.of] ?? Number.NaN) * load.rate.times } };
}

/** Loads that are no chats with the server's own model, or that warm up themselves. */
const startsCold: readonly Load['kind'][] = [
  'wrk',
  'embeddings',
  'kernel',
  'start',
  'model-switch',
  'credentials',
  'vectors',
  'ingest',
  'quotes',
  'speech',
  'devices',
  'cloud-requests',
  'cloud-streams',
];

/** Where a contender runs: kept as long as the trial says, and never more than one of it. */
class Stand {
  readonly #contender: Contender;
  readonly #settings: ContenderOptions;
  readonly #fresh: 'trial' | 'round' | 'phase';
  readonly #isWarmedUp: boolean;
  #running: RunningContender | undefined;

  constructor(contender: Contender, settings: ContenderOptions, { fresh = 'trial', phases }: Trial) {
    this.#contender = contender;
    this.#settings = settings;
    this.#fresh = fresh;
    this.#isWarmedUp = Object.values(phases).some(({ kind }) => !startsCold.includes(kind));
  }

  async nextRound(): Promise<void> {
    if (this.#fresh !== 'trial') await this.clear();
  }

  async nextPhase(): Promise<RunningContender> {
    if (this.#fresh === 'phase') await this.clear();
    if (this.#running) return this.#running;
    this.#running = await this.#contender.start(this.#settings);
    if (this.#isWarmedUp) await this.#running.warmUp?.();
    return this.#running;
  }

  async clear(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7) % 1_000_000;
}
