/** Which sentences of what was found are quoted as evidence. */
import type { AskedQuestion } from './asked-question.ts';
import { type EvidenceText, evidenceText, type Quotation } from './evidence-text.ts';
import { type RankedSentence, rankSentences } from './ranked-sentences.ts';
import type { ReadPassage } from './read-passages.ts';

const MOST_SENTENCES = 3;
/** Of the best sentence's score: what is below it says too little beside it. */
const LEAST_SHARE = 0.25;
const MOST_MARKS = 3;
const MAX_SOURCE = 80;
const PRONOUN =
  /^(?:(?:all of )?(?:this|these|that|those)|it|its|he|his|she|her|they|their|such|er|sie|es|ihre?|seine?|dies\p{L}{0,2}|all dies|das|il|elle|ils|elles|cela|él|ella|ellos|esto|esta|este|lui|lei|questo|questa|он|она|оно|они|это|этот|эта|эти|его|её|ее|их)(?![\p{L}\p{M}])|^[这那他她它其此该]/iu;

/**
 * Undefined where no sentence of the passages shares a word with the question. What only perhaps answers it has the name of its source behind it
 * and no mark: a mark says that the passage answers.
 */
export function evidenceFor(
  question: AskedQuestion,
  passages: readonly ReadPassage[],
  isSure: boolean,
): EvidenceText | undefined {
  const quotations = chosen(rankSentences(question, passages)).map(({ text, numbers }): Quotation => {
    return { text, of: isSure ? numbers : sourceName(passages[(numbers[0] ?? 1) - 1]?.result.source ?? '') };
  });
  return quotations.length === 0 ? undefined : evidenceText(question.language, quotations, isSure);
}

interface ChosenSentence {
  readonly text: string;
  /** Of the passages that say it in the same words. */
  readonly numbers: readonly number[];
}

function chosen(ranked: readonly RankedSentence[]): ChosenSentence[] {
  const [best, ...rest] = ranked;
  if (best === undefined || best.score === 0) return [];
  const enough = rest.filter(({ score }) => score >= LEAST_SHARE * best.score);
  const numbersOf = new Map<string, number[]>();
  for (const { text, n } of [best, ...referredToBy(best, ranked), ...enough]) {
    const numbers = numbersOf.get(text);
    if (numbers === undefined && numbersOf.size < MOST_SENTENCES) numbersOf.set(text, [n]);
    else if (numbers !== undefined && numbers.length < MOST_MARKS && !numbers.includes(n)) numbers.push(n);
  }
  return [...numbersOf].map(([text, numbers]) => ({ text, numbers: numbers.toSorted((a, b) => a - b) }));
}

/** A sentence that begins with a pronoun says little without the one before it. */
function referredToBy({ text, before, n }: RankedSentence, ranked: readonly RankedSentence[]): RankedSentence[] {
  if (!PRONOUN.test(text)) return [];
  const found = ranked.find((each) => each.n === n && each.text === before);
  return found === undefined ? [] : [found];
}

/** Without what Markdown would read as something else. */
function sourceName(source: string): string {
  return source
    .replace(/[\p{Cc}\p{Bidi_Control}`*_<>[\]()\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SOURCE)
    .toWellFormed();
}
