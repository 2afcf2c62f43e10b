/**
 * World models: an xLSTM learns how a series differs from its seasonal rule, and is kept only where it foresees the last fifth better than every rule does. Pure;
 * one seed gives one model.
 */
import { type Baseline, baselinesOf, type Forecaster, periodsOf, type Steps } from './series-steps.ts';
import { countWeights, initialWeights, Xlstm, type XlstmShape } from './xlstm.ts';

type Method = Baseline | 'xlstm';

/** JSON, but for the weights. */
export interface WorldModel {
  readonly method: Method;
  readonly stepMs: number;
  /** Mean absolute errors on the last fifth, by rolling origins, over that of the naive rule; the smaller the better. */
  readonly scores: Readonly<Partial<Record<Method, number>>>;
  /** The same of the method, for each step ahead; models that were stored before lack it. */
  readonly stepScores?: readonly number[] | undefined;
  /** Errors of the method on the last fifth: for each step ahead, their quantiles `QUANTILES`. */
  readonly errors: readonly (readonly number[])[];
  /** Steps that the rules and the network were fitted to. */
  readonly nTraining: number;
  readonly network?: Network | undefined;
}

interface Network {
  readonly shape: XlstmShape;
  /** For each step ahead, the shares of the rules that the network corrects, `RULES`. */
  readonly shares: readonly (readonly number[])[];
  readonly mean: number;
  readonly scale: number;
  /** How much of what the network says is believed, 0 to 1. */
  readonly trust: number;
  readonly weights: Float64Array;
}

const QUANTILES = [0.1, 0.5, 0.9] as const;

/** Steps that are foreseen at a time; what lies further ahead is foreseen from what was. */
const BLOCK = 24;
/** A network that has fewer steps to learn from loses to the rules. */
const LEAST_TRAINING = 400;
const SHAPE = { nInputs: 8, nHidden: 16, nOutputs: BLOCK } as const;
/** Steps of one walk of back-propagation. */
const WALK = 64;
const MAX_EPOCHS = 40;
/** Epochs without a better score after which training ends. */
const MAX_STALE_EPOCHS = 8;
const RATE = 0.004;

interface TrainOptions {
  readonly seed: number;
  /** Learning ends then, `performance.now()`. */
  readonly endsAt?: number;
}

export function trainWorldModel(steps: Steps, { seed, endsAt = Number.POSITIVE_INFINITY }: TrainOptions): WorldModel {
  const { values, stepMs } = steps;
  const nTraining = Math.floor(values.length * 0.8);
  const rules = baselinesOf(steps, nTraining);
  const origins = originsOf(nTraining, values.length);
  const candidates = new Map<Method, Forecaster>(rules);
  const network =
    nTraining < LEAST_TRAINING || endsAt <= performance.now() ? undefined : trainNetwork(steps, nTraining, seed, endsAt);
  if (network !== undefined) candidates.set('xlstm', networkForecaster(steps, network));
  const errors = new Map([...candidates].map(([method, forecast]) => [method, errorsAt(values, origins, forecast)]));
  const maes = new Map([...errors].map(([method, rows]) => [method, meanAbsolute(rows)]));
  const naive = maes.get('naive') || 1;
  const best = [...maes].reduce((a, b) => (b[1] < a[1] ? b : a))[0];
  const rows = errors.get(best) ?? [];
  return {
    method: best,
    stepMs,
    scores: Object.fromEntries([...maes].map(([method, mae]) => [method, mae / naive])),
    stepScores: rows.map((row, k) => meanAbsolute([row]) / (meanAbsolute([errors.get('naive')?.[k] ?? []]) || 1)),
    errors: quantilesOf(rows),
    nTraining,
    network: best === 'xlstm' ? network : undefined,
  };
}

export interface Foreseen {
  readonly method: Method;
  readonly steps: readonly {
    readonly ts: number;
    readonly mean: number;
    /** The values stand in the order of `QUANTILES`. */
    readonly quantiles: readonly number[];
    /** One of the ways in which it may come; the seed chooses it. */
    readonly sample: number;
  }[];
}

/** Throws RangeError for a series of other steps, or one that is too short for the model. */
export function foreseenSteps(model: WorldModel, steps: Steps, horizon: number, seed: number): Foreseen {
  const random = generator(seed);
  const means = foresee(model, steps, horizon);
  const end = steps.start + steps.values.length * steps.stepMs;
  return {
    method: model.method,
    steps: [...means].map((mean, k) => {
      // What lies beyond a block is as much less sure as a random walk would have it.
      const widen = Math.sqrt(Math.max(1, (k + 1) / BLOCK));
      const [low = 0, middle = 0, high = 0] = model.errors[Math.min(k, BLOCK - 1)] ?? [];
      const u = (random() - 0.5) / 0.4;
      const error = u < 0 ? middle + u * (middle - low) : middle + u * (high - middle);
      return {
        ts: end + k * steps.stepMs,
        mean,
        quantiles: [low, middle, high].map((quantile) => mean + quantile * widen),
        sample: mean + error * widen,
      };
    }),
  };
}

/** Foresees `horizon` steps after the series. Throws RangeError for a series of other steps. */
function foresee(model: WorldModel, steps: Steps, horizon: number): Float64Array {
  if (steps.stepMs !== model.stepMs) throw new RangeError('the series has other steps than the model');
  const rule = baselinesOf(steps, Math.min(model.nTraining, steps.values.length)).get(model.method as Baseline);
  const forecast = model.network === undefined ? rule : networkForecaster(steps, model.network);
  if (forecast === undefined) throw new RangeError('the series is too short for the model');
  const { length } = steps.values;
  if (model.network === undefined) return forecast(steps.values, length, horizon);
  const values = new Float64Array(length + horizon + BLOCK);
  values.set(steps.values);
  for (let at = length; at < length + horizon; at += BLOCK) values.set(forecast(values, at, BLOCK), at);
  return values.slice(length, length + horizon);
}

function trainNetwork(steps: Steps, nTraining: number, seed: number, endsAt: number): Network | undefined {
  const { values } = steps;
  const nLearned = Math.floor(nTraining * 0.85);
  const validation = originsOf(nLearned, nTraining);
  const maeOf = (forecast: Forecaster) => meanAbsolute(errorsAt(values, validation, forecast));
  const [mean, scale] = momentsOf(values.subarray(0, nLearned));
  const random = generator(seed);
  const net = new Xlstm(SHAPE, initialWeights(SHAPE, random));
  const shares = sharesOf(steps, nLearned, { mean, scale });
  const network = { shape: SHAPE, shares, mean, scale, trust: 1, weights: net.weights };
  const prepared = prepare(steps, network, nTraining);
  const learner = new Learner(net.weights.length);
  let best: { weights: Float64Array; score: number; at: number } | undefined;
  for (let epoch = 0; epoch < MAX_EPOCHS && performance.now() < endsAt; epoch++) {
    learner.rate = RATE * (0.5 + 0.5 * Math.cos((Math.PI * epoch) / MAX_EPOCHS)) + RATE / 50;
    learn(net, prepared, nLearned, learner, Math.floor(random() * WALK));
    const score = maeOf(networkForecaster(steps, network));
    if (best === undefined || score < best.score) best = { weights: net.weights.slice(), score, at: epoch };
    else if (epoch - best.at >= MAX_STALE_EPOCHS) break;
  }
  if (best === undefined) return undefined;
  const weights = best.weights;
  const [trust = 1] = Array.from({ length: 10 }, (_, i) => (i + 1) / 10)
    .map((each) => ({ each, mae: maeOf(networkForecaster(steps, { ...network, weights, trust: each })) }))
    .sort((a, b) => a.mae - b.mae)
    .map(({ each }) => each);
  return { ...network, weights, trust };
}

/** One walk through what is learned from. */
function learn(net: Xlstm, { inputs, bases, targets }: Prepared, nSteps: number, learner: Learner, offset: number): void {
  const { nInputs, nOutputs } = net.shape;
  const state = net.newState();
  const gradient = new Float64Array(net.weights.length);
  for (let at = offset; at + WALK + BLOCK <= nSteps; at += WALK) {
    const run = net.forward(inputs.slice(at * nInputs, (at + WALK) * nInputs), state);
    const slopes = new Float64Array(run.outputs.length);
    for (let t = 0; t < WALK; t++)
      for (let k = 0; k < nOutputs; k++) {
        const i = t * nOutputs + k;
        const place = (at + t) * nOutputs + k;
        const error = (run.outputs[i] as number) + (bases[place] as number) - (targets[place] as number);
        slopes[i] = error / Math.sqrt(error * error + 0.01) / (WALK * nOutputs);
      }
    gradient.fill(0);
    net.backward(run, slopes, gradient);
    learner.step(net.weights, gradient);
  }
}

/** Adam (Kingma and Ba, 2014), with gradients cut to a length of 1 and weights that shrink. */
export class Learner {
  rate = RATE;
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  #nSteps = 0;

  constructor(nWeights: number) {
    this.#first = new Float64Array(nWeights);
    this.#second = new Float64Array(nWeights);
  }

  step(weights: Float64Array, gradient: Float64Array): void {
    this.#nSteps += 1;
    let square = 0;
    for (const slope of gradient) square += slope * slope;
    const cut = Math.min(1, 1 / Math.sqrt(square + 1e-12));
    const [a, b] = [1 - 0.9 ** this.#nSteps, 1 - 0.999 ** this.#nSteps];
    for (let i = 0; i < weights.length; i++) {
      const slope = (gradient[i] as number) * cut;
      const first = 0.9 * (this.#first[i] as number) + 0.1 * slope;
      const second = 0.999 * (this.#second[i] as number) + 0.001 * slope * slope;
      this.#first[i] = first;
      this.#second[i] = second;
      const weight = weights[i] as number;
      weights[i] = weight - this.rate * (first / a / (Math.sqrt(second / b) + 1e-8) + 0.002 * weight);
    }
  }
}

interface Prepared {
  readonly inputs: Float64Array;
  /** The rule says these of the steps ahead, by step and step ahead. */
  readonly bases: Float64Array;
  readonly targets: Float64Array;
}

/** Inputs of each step up to `length`, and what follows it, as far as it is known. */
function prepare(steps: Steps, network: Network, length: number): Prepared {
  const { values } = steps;
  const inputs = inputsOf(steps, network, values, length);
  const bases = new Float64Array(length * BLOCK);
  const targets = new Float64Array(length * BLOCK);
  const rule = ruleOf(steps, network);
  for (let t = 0; t < length; t++) {
    const ahead = rule(values, t + 1, BLOCK);
    for (let k = 0; k < BLOCK; k++) {
      bases[t * BLOCK + k] = ((ahead[k] as number) - network.mean) / network.scale;
      targets[t * BLOCK + k] = ((values[t + 1 + k] ?? 0) - network.mean) / network.scale;
    }
  }
  return { inputs, bases, targets };
}

/** The value, how it differs from the steps, the days and the weeks before, and the time of day and of the week. */
function inputsOf(steps: Steps, { mean, scale }: Network, values: Float64Array, length: number): Float64Array {
  const inputs = new Float64Array(length * SHAPE.nInputs);
  const { day, week } = periodsOf(steps) ?? { day: 1, week: 7 };
  const within = (difference: number) => Math.max(-8, Math.min(8, difference / scale));
  for (let t = 0; t < length; t++) {
    const value = values[t] as number;
    const since = (nSteps: number) => (t >= nSteps ? within(value - (values[t - nSteps] as number)) : 0);
    const at = (steps.start + t * steps.stepMs) / steps.stepMs;
    const [ofDay, ofWeek] = [(2 * Math.PI * (at % day)) / day, (2 * Math.PI * (at % week)) / week];
    inputs.set(
      [
        within(value - mean),
        since(1),
        since(day),
        since(week),
        Math.sin(ofDay),
        Math.cos(ofDay),
        Math.sin(ofWeek),
        Math.cos(ofWeek),
      ],
      t * SHAPE.nInputs,
    );
  }
  return inputs;
}

function ruleOf(steps: Steps, { shares }: Pick<Network, 'shares'>): Forecaster {
  const { day, week } = periodsOf(steps) ?? { day: 1, week: 1 };
  return (values, length, horizon) =>
    Float64Array.from({ length: horizon }, (_, k) => {
      const share = shares[k % BLOCK] ?? [];
      return rulesAt(values, length, k, day, week).reduce((sum, value, i) => sum + value * (share[i] ?? 0), 0);
    });
}

/** The last value; those a day and a week before; their means over a week and over four; and the mean of the last day. */
function rulesAt(values: Float64Array, length: number, k: number, day: number, week: number): number[] {
  const last = values[length - 1] ?? 0;
  const before = (period: number, n: number): number => {
    let [sum, count] = [0, 0];
    for (let i = 1, at = length - period + (k % period); i <= n && at >= 0; i++, at -= period) {
      sum += values[at] as number;
      count += 1;
    }
    return count === 0 ? last : sum / count;
  };
  const from = Math.max(0, length - day);
  let sum = 0;
  for (let i = from; i < length; i++) sum += values[i] as number;
  return [last, before(day, 1), before(week, 1), before(day, 7), before(week, 4), sum / Math.max(1, length - from)];
}

const N_RULES = 6;
/** Keeps shares near equal ones where the series does not say better. */
const RIDGE = 0.02;

/** For each step ahead, shares of the rules that come nearest to what followed, by least squares; what is far out counts as less far. */
function sharesOf(steps: Steps, length: number, { mean, scale }: { mean: number; scale: number }): number[][] {
  const { day, week } = periodsOf(steps) ?? { day: 1, week: 1 };
  const { values } = steps;
  const near = (value: number) => Math.max(-3, Math.min(3, (value - mean) / scale));
  return Array.from({ length: BLOCK }, (_, k) => {
    const matrix = Array.from({ length: N_RULES }, () => new Float64Array(N_RULES + 1));
    let n = 0;
    for (let t = Math.min(week, Math.floor(length / 2)); t + k < length; t++) {
      const rules = rulesAt(values, t, k, day, week).map(near);
      const target = near(values[t + k] as number);
      n += 1;
      for (let i = 0; i < N_RULES; i++) {
        const row = matrix[i] as Float64Array;
        for (let j = 0; j < N_RULES; j++) row[j] = (row[j] as number) + (rules[i] as number) * (rules[j] as number);
        row[N_RULES] = (row[N_RULES] as number) + (rules[i] as number) * target;
      }
    }
    for (let i = 0; i < N_RULES; i++) {
      const row = matrix[i] as Float64Array;
      row[i] = (row[i] as number) + RIDGE * n + 1e-9;
      row[N_RULES] = (row[N_RULES] as number) + (RIDGE * n + 1e-9) / N_RULES;
    }
    return solve(matrix);
  });
}

/** Gauss with pivots. @param matrix n x (n + 1), which is used up. */
function solve(matrix: Float64Array[]): number[] {
  const n = matrix.length;
  for (let column = 0; column < n; column++) {
    const pivot = matrix
      .slice(column)
      .reduce((best, row) => (Math.abs(row[column] as number) > Math.abs(best[column] as number) ? row : best));
    matrix.splice(matrix.indexOf(pivot), 1);
    matrix.splice(column, 0, pivot);
    for (const row of matrix) {
      if (row === pivot) continue;
      const factor = (row[column] as number) / (pivot[column] as number);
      for (let j = column; j <= n; j++) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    }
  }
  return matrix.map((row, i) => (row[n] as number) / (row[i] as number));
}

/** The network reads the last steps from an empty state: so many that what lies before matters no more. */
const READ_STEPS = 192;

function networkForecaster(steps: Steps, network: Network): Forecaster {
  const net = new Xlstm(network.shape, network.weights);
  const rule = ruleOf(steps, network);
  const { nInputs, nOutputs } = network.shape;
  return (values, length, horizon) => {
    const from = Math.max(0, length - READ_STEPS);
    const inputs = inputsOf(steps, network, values, length).subarray(from * nInputs);
    const { outputs } = net.forward(inputs, net.newState());
    const last = outputs.subarray(outputs.length - nOutputs);
    const ahead = rule(values, length, horizon);
    return ahead.map((value, k) => value + network.trust * network.scale * (last[k] ?? 0));
  };
}

/** Places from which the steps up to `end` are foreseen, a block at a time. */
function originsOf(begin: number, end: number): number[] {
  const origins: number[] = [];
  const stride = Math.max(1, Math.min(BLOCK, Math.floor((end - begin) / 8)));
  for (let at = begin; at < end; at += stride) origins.push(at);
  return origins;
}

/** By step ahead, the value less what was foreseen at each origin. */
function errorsAt(values: Float64Array, origins: readonly number[], forecast: Forecaster): number[][] {
  const rows: number[][] = Array.from({ length: BLOCK }, () => []);
  for (const origin of origins) {
    const horizon = Math.min(BLOCK, values.length - origin);
    const ahead = forecast(values, origin, horizon);
    for (let k = 0; k < horizon; k++) rows[k]?.push((values[origin + k] as number) - (ahead[k] as number));
  }
  return rows;
}

function meanAbsolute(rows: readonly (readonly number[])[]): number {
  const all = rows.flat();
  return all.reduce((sum, error) => sum + Math.abs(error), 0) / Math.max(1, all.length);
}

/** A step far ahead has few errors, so it takes those of its neighbours as well. */
function quantilesOf(rows: readonly (readonly number[])[]): number[][] {
  return rows.map((_, k) => {
    const near = rows.slice(Math.max(0, k - 2), k + 3).flat();
    const sorted = near.sort((a, b) => a - b);
    return QUANTILES.map((q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0);
  });
}

function momentsOf(values: Float64Array): [mean: number, scale: number] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return [mean, Math.sqrt(variance) || 1];
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function isShape(shape: XlstmShape, weights: Float64Array): boolean {
  return countWeights(shape) === weights.length;
}
