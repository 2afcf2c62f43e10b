/**
 * How a sequence of slots goes on: an xLSTM is kept only where it foresees the last fifth better than each rule does, which are how often each slot came, and which
 * came after the last one. Pure; one seed gives one model.
 */
import { generator, Learner } from './world-model.ts';
import { initialWeights, Xlstm, type XlstmShape } from './xlstm.ts';

export const SLOT_METHODS = ['frequency', 'successor', 'xlstm'] as const;
type SlotMethod = (typeof SLOT_METHODS)[number];

export interface SlotModel {
  readonly method: SlotMethod;
  /** Mean surprise on the last fifth, in nats: the smaller the better. */
  readonly scores: Readonly<Partial<Record<SlotMethod, number>>>;
  /** The rules count in these slots. */
  readonly nSlots: number;
  readonly network?: { readonly shape: XlstmShape; readonly weights: Float64Array } | undefined;
}

/** Says how likely each slot comes next, after these. */
type Next = (before: readonly number[]) => Float64Array;

/** A network that has fewer slots to learn from loses to the rules. */
const LEAST_TRAINING = 200;
const N_HIDDEN = 12;
const WALK = 32;
const MAX_EPOCHS = 30;
const MAX_STALE_EPOCHS = 6;
const RATE = 0.01;
/** The network reads so many of the last slots, from an empty state. */
const READ = 64;
/** So often every slot is thought to have come before any was counted. */
const PRIOR = 0.5;
/** So many counts make what came after a slot as sure as how often each came. */
const BACKOFF = 2;
const LEAST_P = 1e-6;

export function trainSlotModel(
  sequence: readonly number[],
  nSlots: number,
  { seed, endsAt = Number.POSITIVE_INFINITY }: { seed: number; endsAt?: number },
): SlotModel {
  const nTraining = Math.floor(sequence.length * 0.8);
  const network =
    nTraining < LEAST_TRAINING || endsAt <= performance.now()
      ? undefined
      : trainNetwork(sequence.slice(0, nTraining), nSlots, seed, endsAt);
  const training = sequence.slice(0, nTraining);
  const candidates = new Map<SlotMethod, Next>([
    ['frequency', frequencies(training, nSlots)],
    ['successor', successors(training, nSlots)],
    ...(network === undefined ? [] : [['xlstm', networkNext(network, nSlots)] as const]),
  ]);
  const scores = new Map([...candidates].map(([method, next]) => [method, surpriseOf(next, sequence, nTraining)]));
  const method = [...scores].reduce((a, b) => (b[1] < a[1] ? b : a))[0];
  return { method, scores: Object.fromEntries(scores), nSlots, network: method === 'xlstm' ? network : undefined };
}

export interface ForeseenSlot {
  readonly slot: number;
  /** How likely it was, given those before. */
  readonly p: number;
}

/** Draws the slots that follow, one after the other. @param learned the sequence that the rules count in. Throws RangeError for a slot that is none. */
export function foreseenSlots(
  model: SlotModel,
  learned: readonly number[],
  before: readonly number[],
  horizon: number,
  seed: number,
): ForeseenSlot[] {
  if (before.some((slot) => slot >= model.nSlots)) throw new RangeError(`there are ${model.nSlots} slots, counted from 0`);
  const random = generator(seed);
  const next = nextOf(model, learned);
  const past = [...before];
  return Array.from({ length: horizon }, () => {
    const chances = next(past);
    let left = random();
    let slot = chances.length - 1;
    for (const [i, p] of chances.entries()) {
      left -= p;
      if (left > 0) continue;
      slot = i;
      break;
    }
    past.push(slot);
    return { slot, p: chances[slot] ?? 0 };
  });
}

function nextOf({ method, nSlots, network }: SlotModel, learned: readonly number[]): Next {
  if (method === 'frequency') return frequencies(learned, nSlots);
  if (method === 'xlstm' && network !== undefined) return networkNext(network, nSlots);
  return successors(learned, nSlots);
}

function frequencies(sequence: readonly number[], nSlots: number): Next {
  const counts = new Float64Array(nSlots).fill(PRIOR);
  for (const slot of sequence) counts[slot] = (counts[slot] ?? 0) + 1;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const chances = counts.map((count) => count / total);
  return () => chances;
}

function successors(sequence: readonly number[], nSlots: number): Next {
  const often = frequencies(sequence, nSlots)([]);
  const counts = Array.from({ length: nSlots }, () => new Float64Array(nSlots));
  for (const [i, slot] of sequence.slice(1).entries()) {
    const row = counts[sequence[i] ?? 0];
    if (row !== undefined) row[slot] = (row[slot] ?? 0) + 1;
  }
  return (before) => {
    const row = counts[before.at(-1) ?? -1];
    if (row === undefined) return often;
    const total = row.reduce((sum, count) => sum + count, BACKOFF);
    return row.map((count, slot) => (count + BACKOFF * (often[slot] ?? 0)) / total);
  };
}

function surpriseOf(next: Next, sequence: readonly number[], from: number): number {
  let sum = 0;
  for (let at = from; at < sequence.length; at++)
    sum -= Math.log(Math.max(LEAST_P, next(sequence.slice(Math.max(0, at - READ), at))[sequence[at] ?? 0] ?? 0));
  return sum / Math.max(1, sequence.length - from);
}

function trainNetwork(sequence: readonly number[], nSlots: number, seed: number, endsAt: number): SlotModel['network'] {
  const shape = { nInputs: nSlots, nHidden: N_HIDDEN, nOutputs: nSlots };
  const random = generator(seed);
  const net = new Xlstm(shape, initialWeights(shape, random));
  const learner = new Learner(net.weights.length);
  const nLearned = Math.floor(sequence.length * 0.85);
  let best: { weights: Float64Array; score: number; at: number } | undefined;
  for (let epoch = 0; epoch < MAX_EPOCHS && performance.now() < endsAt; epoch++) {
    learner.rate = RATE * (0.5 + 0.5 * Math.cos((Math.PI * epoch) / MAX_EPOCHS));
    learn(net, sequence.slice(0, nLearned), learner, Math.floor(random() * WALK));
    const score = surpriseOf(networkNext({ shape, weights: net.weights }, nSlots), sequence, nLearned);
    if (best === undefined || score < best.score) best = { weights: net.weights.slice(), score, at: epoch };
    else if (epoch - best.at >= MAX_STALE_EPOCHS) break;
  }
  return best && { shape, weights: best.weights };
}

/** The loss is the surprise, whose slope by an output is the chance less what came. */
function learn(net: Xlstm, sequence: readonly number[], learner: Learner, offset: number): void {
  const { nOutputs } = net.shape;
  const state = net.newState();
  const gradient = new Float64Array(net.weights.length);
  for (let at = offset; at + WALK < sequence.length; at += WALK) {
    const run = net.forward(oneHot(sequence.slice(at, at + WALK), nOutputs), state);
    const slopes = new Float64Array(run.outputs.length);
    for (let t = 0; t < WALK; t++) {
      const chances = softmax(run.outputs.subarray(t * nOutputs, (t + 1) * nOutputs));
      for (let slot = 0; slot < nOutputs; slot++)
        slopes[t * nOutputs + slot] = ((chances[slot] as number) - (slot === sequence[at + t + 1] ? 1 : 0)) / WALK;
    }
    gradient.fill(0);
    net.backward(run, slopes, gradient);
    learner.step(net.weights, gradient);
  }
}

function networkNext({ shape, weights }: NonNullable<SlotModel['network']>, nSlots: number): Next {
  const net = new Xlstm(shape, weights);
  return (before) => {
    if (before.length === 0) return new Float64Array(nSlots).fill(1 / nSlots);
    const { outputs } = net.forward(oneHot(before.slice(-READ), nSlots), net.newState());
    return softmax(outputs.subarray(outputs.length - nSlots));
  };
}

function oneHot(slots: readonly number[], nSlots: number): Float64Array {
  const inputs = new Float64Array(slots.length * nSlots);
  for (const [t, slot] of slots.entries()) inputs[t * nSlots + slot] = 1;
  return inputs;
}

function softmax(outputs: Float64Array): Float64Array {
  const most = outputs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const raised = outputs.map((value) => Math.exp(value - most));
  const total = raised.reduce((sum, value) => sum + value, 0);
  return raised.map((value) => value / total);
}
