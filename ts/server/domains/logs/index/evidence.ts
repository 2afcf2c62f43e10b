/** Lines for a question in plain words: those that have its rarest words, then the worst and the newest, few of each shape. */
import type { LogLine, TimedLine } from './log-line.ts';
import { isOneToken } from './tokens.ts';

export interface Evidence {
  /** The most telling first. */
  readonly lines: readonly TimedLine[];
  /** There may be more, also more telling ones: the time was over, or a file is damaged. */
  readonly isPartial: boolean;
}

/** Finds lines of the range, the newest first. `q` is in the language of searches. */
type Find = (
  q: string,
  severity: number | undefined,
  limit: number,
) => Promise<{ lines: readonly TimedLine[]; isPartial: boolean }>;

const MOST_WORDS = 8;
const LINES_OF_A_WORD = 60;
const OTHER_LINES = 40;
const WORST_SEVERITY = 3;
const MOST_LINES = 120;
/** Lines that differ in their numbers alone. */
const LINES_OF_A_SHAPE = 3;
const LEAST_LETTERS = 3;

/** Words of questions that are in every log or in none. */
const COMMON = new Set(
  (
    'and are did does for from has have how log logs line lines not show that the there these this was were what when where which who why with ' +
    'aus das dem den der die ein eine gab gibt hat ist mit und von war was wann warum welche wer wie wo zeige'
  ).split(' '),
);

/** Words worth a search, the most telling first: those with digits, such as addresses, then the longest. */
export function wordsToFind(question: string): string[] {
  const found = question.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.:-]+[\p{L}\p{N}_]+)*/gu) ?? [];
  const isTelling = (word: string): boolean =>
    isOneToken(word) && (word.length >= LEAST_LETTERS || /\d/.test(word)) && !COMMON.has(word);
  const weight = (word: string): number => word.length + (/\d/.test(word) ? 100 : 0);
  return [...new Set(found)]
    .filter(isTelling)
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, MOST_WORDS);
}

export async function findEvidence(question: string, find: Find): Promise<Evidence> {
  const words = wordsToFind(question);
  const [ofWords, others] = await Promise.all([
    Promise.all(words.map((word) => find(`"${word}"`, undefined, LINES_OF_A_WORD))),
    Promise.all([find('', WORST_SEVERITY, OTHER_LINES), find('', undefined, OTHER_LINES)]),
  ]);
  const scores = new Map<string, { found: TimedLine; score: number }>();
  const add = (found: TimedLine, more: number): void => {
    const { line } = found;
    const known = scores.get(line.uuid) ?? { found, score: (7 - line.severity) / 70 };
    known.score += more;
    scores.set(line.uuid, known);
  };
  // A word that few lines have says more than one that a whole answer was full of.
  for (const { lines } of ofWords) for (const found of lines) add(found, 1 / Math.log2(2 + lines.length));
  for (const { lines } of others) for (const found of lines) add(found, 0);
  const ranked = [...scores.values()].sort((a, b) => b.score - a.score || b.found.atMs - a.found.atMs);
  return {
    lines: fewOfEachShape(ranked.map(({ found }) => found)).slice(0, MOST_LINES),
    isPartial: [...ofWords, ...others].some(({ isPartial }) => isPartial),
  };
}

function fewOfEachShape(lines: readonly TimedLine[]): TimedLine[] {
  const counts = new Map<string, number>();
  return lines.filter(({ line }) => {
    const shape = shapeOf(line);
    const nBefore = counts.get(shape) ?? 0;
    counts.set(shape, nBefore + 1);
    return nBefore < LINES_OF_A_SHAPE;
  });
}

function shapeOf({ host, app, msg }: LogLine): string {
  return `${host}\n${app}\n${msg.slice(0, 300).replace(/\d+/g, '0')}`;
}
