/** Prompts of a wanted length: words drawn by a seed, so that every round and every server gets the same ones. */
import { SeededRandom } from '../../models/random/seeded-random.ts';

const words =
  'time year people way day man thing woman life child world school state family student group country problem hand part'.split(
    ' ',
  );

export function makeWords(count: number, seed: number): string {
  const source = new SeededRandom(seed);
  return Array.from({ length: count }, () => words[source.integer(words.length)]).join(' ');
}
