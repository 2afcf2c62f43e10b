/** As many passages as fit into a model's prompt, the best first; the last one is cut behind a sentence. */
import { sentencesOf } from '../evidence/quotable-sentences.ts';
import type { PassageResult } from '../knowledge-base.ts';
import type { TokenSpace } from '../knowledge-context.ts';
import { onePassage } from './passage-prompt.ts';

/** For a question that does not ask for all of something: more passages take long to read, and add little. */
const MOST_TOKENS = 1_500;
/** A shorter beginning of a passage says too little. UTF-16 code units. */
const LEAST_CUT = 60;
const CUT_TRIES = 5;
/** A cut that was too long is tried again with this share of it. */
const CUT_STEP = 0.8;

/** @param isList the question asks for all of something, or its client for so many: what fits is given. */
export async function fitPassages(
  results: readonly PassageResult[],
  { nTokens, count }: TokenSpace,
  isList: boolean,
): Promise<PassageResult[]> {
  let left = isList ? nTokens : Math.min(nTokens, MOST_TOKENS);
  if (left <= 0 || results.length === 0) return [];
  if ((await count(results.map((result, i) => onePassage(i + 1, result)).join('\n\n'))) <= left) return [...results];
  const fitted: PassageResult[] = [];
  for (const [i, result] of results.entries()) {
    const nWhole = await countOne(i + 1, result, count);
    if (nWhole > left) {
      const cut = await cutToFit(result, left / nWhole, async (shorter) => (await countOne(i + 1, shorter, count)) <= left);
      return cut === undefined ? fitted : [...fitted, cut];
    }
    fitted.push(result);
    left -= nWhole;
  }
  return fitted;
}

/** With what stands between it and the next one. */
async function countOne(n: number, result: PassageResult, count: TokenSpace['count']): Promise<number> {
  return await count(`${onePassage(n, result)}\n\n`);
}

/** Undefined: too little of it would be left. */
async function cutToFit(
  result: PassageResult,
  share: number,
  fits: (shorter: PassageResult) => Promise<boolean>,
): Promise<PassageResult | undefined> {
  const ends = sentenceEnds(result.text);
  for (let i = 0, length = share * result.text.length; i < CUT_TRIES; i++, length *= CUT_STEP) {
    const end = ends.findLast((each) => each <= length) ?? 0;
    if (end < LEAST_CUT) return undefined;
    const shorter = { ...result, text: result.text.slice(0, end) };
    if (await fits(shorter)) return shorter;
  }
  return undefined;
}

/** Places behind each sentence of the text. */
function sentenceEnds(text: string): number[] {
  let at = 0;
  return sentencesOf(text).map((sentence) => {
    at = text.indexOf(sentence, at) + sentence.length;
    return at;
  });
}
