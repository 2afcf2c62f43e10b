/** Ways to choose one of several nodes for a request, beside the cluster's own. */

/** Returns the place of the node; `nRunning` has the requests that each has not answered yet. */
export type Policy = (prompt: string, nRunning: readonly number[]) => number;

export function roundRobin(): Policy {
  let next = 0;
  return (_prompt, { length }) => next++ % length;
}

/** Names and values as SGLang documents them for its router's policy `cache_aware`. */
const CACHE_THRESHOLD = 0.5;
const BALANCE_ABS_THRESHOLD = 32;
const BALANCE_REL_THRESHOLD = 1.0001;

/**
 * SGLang's router, after its documentation: what each node was sent is remembered as text. Where the queues differ by more than both thresholds the shortest
 * one is taken; else the node with the longest common beginning, if that is more than half of the prompt; else the one that was sent least.
 */
export function cacheAware(): Policy {
  const sent = new Map<number, string[]>();
  return (prompt, nRunning) => {
    const nodes = [...nRunning.keys()];
    const [most, least] = [Math.max(...nRunning), Math.min(...nRunning)];
    const isUneven = most - least > BALANCE_ABS_THRESHOLD && most > least * BALANCE_REL_THRESHOLD;
    const texts = (node: number): string[] => sent.get(node) ?? [];
    const known = (node: number): number => Math.max(0, ...texts(node).map((text) => commonBeginning(text, prompt)));
    const size = (node: number): number => texts(node).reduce((sum, text) => sum + text.length, 0);
    const best = leastBy(nodes, (node) => -known(node));
    const isKnown = known(best) > CACHE_THRESHOLD * prompt.length;
    const chosen = isUneven ? leastBy(nodes, (node) => nRunning[node] ?? 0) : isKnown ? best : leastBy(nodes, size);
    // A prompt that goes on takes the place of its beginning, as in a tree.
    sent.set(chosen, [...texts(chosen).filter((text) => !prompt.startsWith(text)), prompt]);
    return chosen;
  };
}

function leastBy(nodes: readonly number[], weigh: (node: number) => number): number {
  return nodes.reduce((best, node) => (weigh(node) < weigh(best) ? node : best));
}

function commonBeginning(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1;
  return n;
}
