/** Prompts of a wanted length: words drawn by a seed, so that every round and every server gets the same ones. */

const words =
  'time year people way day man thing woman life child world school state family student group country problem hand part'.split(
    ' ',
  );

/** Draws by a linear congruential generator with the constants of Numerical Recipes: reproducible, and good enough for words. */
export function makeWords(count: number, seed: number): string {
  let state = seed >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return words[Math.floor((state / 2 ** 32) * words.length)];
  }).join(' ');
}
