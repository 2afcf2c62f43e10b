/**
 * Finds what of the passages is nearest to a question: the sentence that has most of its words, rare ones counting more, as the search itself
 * counts them, in a passage that the search found to be good. Nothing, where a sentence of another page is about as near: then nobody can tell
 * which of them the question is about.
 */
import type { PassageResult } from '../../search/passage-result.ts';
import { termsOf } from '../../terms/terms.ts';
import { smallWordsOf } from '../question-language.ts';
import { isQuestion, type QuotableSentence, quotableSentences } from './quotable-sentences.ts';

export interface NearestSentence {
  /** Of its passage, from 1. */
  readonly n: number;
  readonly text: string;
}

/** More would take long, and the best ones are among them. */
const MOST_PASSAGES = 8;
/** What a word counts that stands only in the headings or the name of the document, and one that stands in the sentence before. */
const HEAD_SHARE = 0.5;
const BEFORE_SHARE = 0.15;
/** How much nearer the sentence has to be than the nearest one of another page. Chosen on one half of the evaluation. */
const LEAST_LEAD = 1.25;
/** Shorter words say little in any language with spaces. */
const LEAST_TERM = 3;
const LEAST_NEARNESS = 0.05;

interface Candidate extends QuotableSentence {
  readonly n: number;
  readonly place: string;
  readonly documentNo: number;
  /** Of the passage, 1 for the best. */
  readonly merit: number;
  readonly own: ReadonlySet<string>;
  readonly head: ReadonlySet<string>;
  readonly preceding: ReadonlySet<string>;
}

/** @param isCitable of the passage of this number, from 1: only these are looked at. */
export function nearestSentence(
  question: string,
  results: readonly PassageResult[],
  isCitable: (n: number) => boolean,
): NearestSentence | undefined {
  const candidates = candidatesOf(results.map((result, i) => ({ result, n: i + 1 })).filter(({ n }) => isCitable(n)));
  const weights = weigh(question, candidates);
  const scored = candidates.map((candidate) => ({ candidate, score: candidate.merit * nearness(candidate, weights) }));
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (most, each) => (most !== undefined && most.score >= each.score ? most : each),
    undefined,
  );
  if (best === undefined || best.score < LEAST_NEARNESS) return undefined;
  const { n, text, place, documentNo } = best.candidate;
  // What another document says in the same words is as right; what a document repeats on many pages is about none of them.
  const isRival = ({ candidate }: (typeof scored)[number]) =>
    candidate.place !== place && (candidate.text !== text || candidate.documentNo === documentNo);
  const rival = Math.max(0, ...scored.filter(isRival).map(({ score }) => score));
  return best.score >= LEAST_LEAD * rival ? { n, text } : undefined;
}

function candidatesOf(passages: readonly { readonly result: PassageResult; readonly n: number }[]): Candidate[] {
  const nearest = passages.toSorted((a, b) => b.result.relevance - a.result.relevance || a.n - b.n).slice(0, MOST_PASSAGES);
  const best = Math.max(...nearest.map(({ result }) => result.score), Number.MIN_VALUE);
  return nearest.flatMap(({ result, n }) => {
    const { documentNo, page, sheet, slide, source, title = '', heading = '', text } = result;
    const place = JSON.stringify([documentNo, page, sheet, slide]);
    const head = `${source}\n${title}\n${heading}`;
    const headTerms = termSet(head);
    return quotableSentences(text, new Set([title, ...heading.split(' > ')])).map((sentence) => ({
      ...{ ...sentence, n, place, documentNo, merit: result.score / best },
      // An answer stands below its question as below a heading.
      head: isQuestion(sentence.before) ? termSet(`${head}\n${sentence.before}`) : headTerms,
      own: termSet(sentence.text),
      preceding: termSet(sentence.before),
    }));
  });
}

/** What each term of the question adds: words and parts of words half each, rare ones among the candidates much more than common ones. */
function weigh(question: string, candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const small = smallWordsOf(question);
  const asked = [...termsOf(question)].filter(({ term, isRun }) => isRun || term.length >= LEAST_TERM || /\d/.test(term));
  const terms = new Map(asked.map(({ kind, term }) => [`${kind} ${term}`, kind] as const));
  for (const { kind, term } of [...small].flatMap((word) => [...termsOf(word)])) terms.delete(`${kind} ${term}`);
  const rarities = new Map([...terms.keys()].map((term) => [term, rarityOf(term, candidates)]));
  const sums = { stem: 0, gram: 0 };
  for (const [term, kind] of terms) sums[kind] += rarities.get(term) ?? 0;
  return new Map(
    [...terms].map(([term, kind]) => [term, (rarities.get(term) ?? 0) / (2 * Math.max(sums[kind], Number.MIN_VALUE))]),
  );
}

/** A term that is nowhere counts as one that is somewhere. */
function rarityOf(term: string, candidates: readonly Candidate[]): number {
  const nHaving = Math.max(1, candidates.filter(({ own }) => own.has(term)).length);
  return Math.log(1 + (candidates.length - nHaving + 0.5) / (nHaving + 0.5)) ** 2;
}

function nearness({ own, head, preceding }: Candidate, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [term, weight] of weights) {
    if (own.has(term)) sum += weight;
    else if (head.has(term)) sum += HEAD_SHARE * weight;
    else if (preceding.has(term)) sum += BEFORE_SHARE * weight;
  }
  return sum;
}

function termSet(text: string): Set<string> {
  return new Set([...termsOf(text)].map(({ kind, term }) => `${kind} ${term}`));
}
