/** How much two texts have in common: the share of neighbouring words that stand in both, 0 to 1. */

export type WordPairs = ReadonlySet<string>;

export function wordPairs(text: string): WordPairs {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  // A text of one word is a pair of its own.
  return new Set(words.length < 2 ? words : words.slice(1).map((word, index) => `${words[index]} ${word}`));
}

export function likeness(a: WordPairs, b: WordPairs): number {
  if (a.size + b.size === 0) return 1;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
