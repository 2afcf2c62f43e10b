/**
 * The router learns with a small xLSTM, which reads the scores of one route over a conversation, the same for every route, so that it knows none by name and goes
 * on with routes that it has not seen. Beside it stands the rule, which it must beat on conversations later than those it learned from. Pure; one seed gives
 * one network.
 */
import { generator, Learner } from '../forecast/world-model.ts';
import { initialWeights, Xlstm, type XlstmShape } from '../forecast/xlstm.ts';
import { bestOf, DEFAULT_THRESHOLD, floorRoutes, type Scores } from './floor.ts';

interface RoutedTurn {
  /** Each route of the conversation has one. */
  readonly scores: Scores;
  /** Places of those that were right; none: nobody knows. */
  readonly right: readonly number[];
}

/** The turns of a conversation, between routes that are the same for all of them. */
export type RoutedConversation = readonly RoutedTurn[];

export interface RouteNetwork {
  readonly shape: XlstmShape;
  readonly weights: Float64Array;
}

/** Shares of turns for which the right route was chosen. */
export interface RouteShares {
  readonly learned: number;
  readonly floor: number;
}

export interface LearnedRouting {
  /** The rule does best with it on what was learned from. */
  readonly threshold: number;
  readonly network: RouteNetwork;
  /** They are of the last fifth of the conversations, of which nothing was learned. */
  readonly later: RouteShares;
  /** The same where the fifth is drawn at random: what it would seem, were time ignored. */
  readonly random: RouteShares;
  /** Turns that were judged in the last fifth. */
  readonly nJudged: number;
}

const ROUTE_SHAPE = { nInputs: 5, nHidden: 6, nOutputs: 1 } as const;
/** Nothing is learned from fewer turns. */
const LEAST_TURNS = 200;
const LEARNED_SHARE = 0.8;
const EPOCHS = 3;
/** A conversation teaches between so many routes: those that were right, and those that were nearest beside them. */
const MOST_TAUGHT = 5;
const RATE = 0.004;
const THRESHOLDS = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);

/** @param conversations oldest first. Undefined: too little is known to learn from. @param endsAt `performance.now()`. */
export function learnRouting(
  conversations: readonly RoutedConversation[],
  { seed, endsAt = Number.POSITIVE_INFINITY }: { seed: number; endsAt?: number },
): LearnedRouting | undefined {
  if (countKnown(conversations) < LEAST_TURNS) return undefined;
  const later = split(conversations);
  const { threshold, network, shares } = judged(later, seed, endsAt);
  const random = judged(split(shuffled(conversations, generator(seed))), seed, endsAt);
  return { threshold, network, later: shares, random: random.shares, nJudged: countKnown(later.others) };
}

interface Split {
  readonly learned: readonly RoutedConversation[];
  readonly others: readonly RoutedConversation[];
}

function split(conversations: readonly RoutedConversation[]): Split {
  const at = Math.floor(LEARNED_SHARE * conversations.length);
  return { learned: conversations.slice(0, at), others: conversations.slice(at) };
}

/** Learns from one part, and says how right rule and network are on the other. */
export function judged({ learned, others }: Split, seed: number, endsAt = Number.POSITIVE_INFINITY) {
  const threshold = bestThreshold(learned);
  const network = trainRouteNetwork(learned, seed, endsAt);
  const shares: RouteShares = {
    learned: shareOfRight(others, (turns) => learnedRoutes(network, turns)),
    floor: shareOfRight(others, (turns) => floorRoutes(turns, threshold)),
  };
  return { threshold, network, shares };
}

/** The route of each turn, by the place in its scores. */
export function learnedRoutes({ shape, weights }: RouteNetwork, turns: readonly Scores[]): number[] {
  const net = new Xlstm(shape, weights);
  const outputs = inputsOf(turns).map((inputs) => net.forward(inputs, net.newState()).outputs);
  return turns.map((_, t) => bestOf(outputs.map((row) => row[t] as number)));
}

function bestThreshold(conversations: readonly RoutedConversation[]): number {
  const rightAt = (threshold: number) => shareOfRight(conversations, (turns) => floorRoutes(turns, threshold));
  const start = { threshold: DEFAULT_THRESHOLD, share: rightAt(DEFAULT_THRESHOLD) };
  return THRESHOLDS.reduce((best, threshold) => {
    const share = rightAt(threshold);
    return share > best.share ? { threshold, share } : best;
  }, start).threshold;
}

function shareOfRight(
  conversations: readonly RoutedConversation[],
  choose: (turns: readonly Scores[]) => readonly number[],
): number {
  let nRight = 0;
  for (const turns of conversations) {
    const chosen = choose(turns.map(({ scores }) => scores));
    nRight += turns.filter(({ right }, t) => right.includes(chosen[t] as number)).length;
  }
  return nRight / Math.max(1, countKnown(conversations));
}

function countKnown(conversations: readonly RoutedConversation[]): number {
  return conversations.reduce((sum, turns) => sum + turns.filter(({ right }) => right.length > 0).length, 0);
}

/** The softmax over the routes is taught which of them were right. */
function trainRouteNetwork(conversations: readonly RoutedConversation[], seed: number, endsAt: number): RouteNetwork {
  const random = generator(seed);
  const net = new Xlstm(ROUTE_SHAPE, initialWeights(ROUTE_SHAPE, random));
  const learner = new Learner(net.weights.length);
  learner.rate = RATE;
  const prepared = conversations.map((turns) => {
    const taught = taughtRoutes(turns);
    const inputs = inputsOf(turns.map(({ scores }) => scores));
    return {
      turns: turns.map(({ right }) => ({ right: taught.flatMap((route, i) => (right.includes(route) ? [i] : [])) })),
      inputs: taught.map((route) => inputs[route] as Float64Array),
    };
  });
  for (let epoch = 0; epoch < EPOCHS; epoch++)
    for (const { turns, inputs } of shuffled(prepared, random)) {
      if (performance.now() > endsAt) return { shape: ROUTE_SHAPE, weights: net.weights };
      const gradient = new Float64Array(net.weights.length);
      const runs = inputs.map((each) => net.forward(each, net.newState()));
      const slopes = slopesOf(
        turns,
        runs.map(({ outputs }) => outputs),
      );
      for (const [route, run] of runs.entries()) net.backward(run, slopes[route] as Float64Array, gradient);
      learner.step(net.weights, gradient);
    }
  return { shape: ROUTE_SHAPE, weights: net.weights };
}

function taughtRoutes(turns: RoutedConversation): number[] {
  const right = new Set(turns.flatMap((turn) => turn.right));
  const most = (route: number) => (right.has(route) ? 2 : 0) + Math.max(...turns.map(({ scores }) => scores[route] ?? 0));
  const routes = [...(turns[0]?.scores ?? []).keys()];
  return routes.sort((a, b) => most(b) - most(a)).slice(0, Math.max(MOST_TAUGHT, right.size));
}

/** The slopes of the cross-entropy, by the output of each route at each turn. */
function slopesOf(turns: readonly Pick<RoutedTurn, 'right'>[], outputs: readonly Float64Array[]): Float64Array[] {
  const slopes = outputs.map(() => new Float64Array(turns.length));
  for (const [t, { right }] of turns.entries()) {
    if (right.length === 0) continue;
    const row = outputs.map((each) => each[t] as number);
    const most = Math.max(...row);
    const raised = row.map((value) => Math.exp(value - most));
    const sum = raised.reduce((a, b) => a + b, 0);
    for (const [route, value] of raised.entries()) {
      const wanted = right.includes(route) ? 1 / right.length : 0;
      (slopes[route] as Float64Array)[t] = (value / sum - wanted) / turns.length;
    }
  }
  return slopes;
}

/** Makes, for each route, a row of inputs for each turn: its score, how far it leads, what it had before, whether it is the first turn, and its logarithm. */
function inputsOf(turns: readonly Scores[]): Float64Array[] {
  const { nInputs } = ROUTE_SHAPE;
  return (turns[0] ?? []).map((_, route) => {
    const inputs = new Float64Array(turns.length * nInputs);
    for (const [t, scores] of turns.entries()) {
      const own = scores[route] ?? 0;
      const other = scores.reduce((most, score, i) => (i === route ? most : Math.max(most, score)), 0);
      const before = t === 0 ? 0 : (turns[t - 1]?.[route] ?? 0);
      inputs.set([2 * own, 2 * (own - other), 2 * before, t === 0 ? 1 : 0, Math.log(own + 1e-4) / 4], t * nInputs);
    }
    return inputs;
  });
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const drawn = [...list];
  for (let i = drawn.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [drawn[i], drawn[j]] = [drawn[j] as T, drawn[i] as T];
  }
  return drawn;
}
