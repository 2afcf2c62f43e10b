/** Texts of the lengths that people embed, drawn by a seed: every round and every server gets the same ones. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { makeWords } from '../client/prompt.ts';
import type { TextLengths } from './embedding-load.ts';

/** Fewest and most words; the longest leave room for the two tokens that frame a text in a context of 512. */
const ranges = {
  query: [3, 9],
  sentence: [12, 32],
  paragraph: [60, 160],
  'near-full': [400, 500],
} as const;

/** Of 20 texts: what a search service sees, where queries outnumber the passages that are being indexed. */
const mixture = [
  ...Array<keyof typeof ranges>(9).fill('query'),
  ...Array<keyof typeof ranges>(6).fill('sentence'),
  ...Array<keyof typeof ranges>(4).fill('paragraph'),
  'near-full' as const,
];

export function drawTexts(count: number, lengths: TextLengths, seed: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => {
    const kind = lengths === 'mixed' ? (mixture[random.integer(mixture.length)] ?? 'query') : lengths;
    const [fewest, most] = ranges[kind];
    return makeWords(fewest + random.integer(most - fewest + 1), random.integer(2 ** 31));
  });
}
