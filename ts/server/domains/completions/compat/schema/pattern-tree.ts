/** A regular expression as a tree. */

/** Code points, first and last; sorted, without overlaps. */
export type Range = readonly [number, number];

export type PatternNode =
  | { kind: 'set'; ranges: readonly Range[] }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  | { kind: 'choice'; options: readonly PatternNode[] }
  | { kind: 'repeat'; of: PatternNode; min: number; max: number }
  | { kind: 'begin' }
  | { kind: 'end' };

/** What a pattern holds that cannot be followed. */
export class UnfollowedPattern extends Error {}

/** The engine's reader of grammars repeats no more. */
export const maxRepetitions = 2000;
export const maxCodePoint = 0x10ffff;
