/** The rule by which a conversation is routed, turn by turn. What is learned must do better. Pure. */

/** Cosines lie close together; so sharpened, the nearest of a few routes has most of the share. */
const SHARPNESS = 15;
/** A tenant without traffic of its own to choose it by has this one. */
export const DEFAULT_THRESHOLD = 0.5;

/** A share of 1 for all routes together. */
export type Scores = readonly number[];

/** The softmax of the cosines of one turn. */
export function scoresOf(cosines: readonly number[]): number[] {
  const most = Math.max(...cosines);
  const raised = cosines.map((cosine) => Math.exp(SHARPNESS * (cosine - most)));
  const sum = raised.reduce((a, b) => a + b, 0);
  return raised.map((each) => each / sum);
}

/** The route of each turn: the last one is kept unless another one scores above the threshold. */
export function floorRoutes(turns: readonly Scores[], threshold: number): number[] {
  let last = -1;
  return turns.map((scores) => {
    const best = bestOf(scores);
    if (last < 0 || (scores[best] ?? 0) > threshold) last = best;
    return last;
  });
}

/** The first one of equals. */
export function bestOf(scores: Scores): number {
  return scores.indexOf(Math.max(...scores));
}
