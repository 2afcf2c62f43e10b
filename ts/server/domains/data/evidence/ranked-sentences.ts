/** Ranks the sentences of passages by how well each answers a question. Chosen on XQuAD in four languages; `npm run eval:first-answers` measures it. */
import { saysKind } from './asked-kind.ts';
import type { AskedQuestion } from './asked-question.ts';
import { MOST_QUOTED, type QuotableSentence, quotableSentences } from './quotable-sentences.ts';
import { MAX_PASSAGE, meritsOf, type ReadPassage } from './read-passages.ts';
import { WordSet } from './word-forms.ts';

export interface RankedSentence {
  /** Of its passage, from 1. */
  readonly n: number;
  readonly text: string;
  /** What stands before it in the passage. */
  readonly before: string;
  /** Near 1 for a sentence of the best passage that has all words of the question. */
  readonly score: number;
}

/** More would take long, and the best ones are among them. */
const MOST_PASSAGES = 12;
const MOST_SENTENCES = 1_200;
/** What a word counts that stands only in the headings or the name of the document, and one in the sentence before, which a pronoun refers to. */
const HEAD_SHARE = 0.3;
const BEFORE_SHARE = 0.3;
/** How much of a sentence's score is its passage's, and how much a passage behind the best one loses. */
const PASSAGE_SHARE = 0.7;
const PASSAGE_EXPONENT = 2;
/** What two neighbouring words of the question add that stand in the sentence both. */
const NEIGHBOUR_SHARE = 0.1;
/** A form of the word, and not only one that is alike. */
const LEAST_FORM = 0.8;
const LEAST_ALIKE = 0.6;
/** What it adds or takes that the sentence says the kind of thing that is asked for, or none. */
const KIND_SHARE = 0.3;
/** A sentence that says nothing beyond the question is its echo. */
const LEAST_NEW_WORDS = 2;
const ECHO_FACTOR = 0.7;

interface Candidate extends QuotableSentence {
  readonly n: number;
  /** Of its passage: 1 for the best. */
  readonly merit: number;
  readonly own: WordSet;
  readonly preceding: WordSet;
  readonly head: WordSet;
}

/** Best first; 0 for those that share no word with the question. */
export function rankSentences(question: AskedQuestion, passages: readonly ReadPassage[]): RankedSentence[] {
  const candidates = candidatesOf(passages);
  const weights = weigh(question, candidates);
  return candidates
    .map((candidate) => ({
      n: candidate.n,
      text: candidate.text,
      before: candidate.before,
      score: scoreOf(question, weights, candidate),
    }))
    .sort((a, b) => b.score - a.score || a.n - b.n);
}

function candidatesOf(passages: readonly ReadPassage[]): Candidate[] {
  const numbered = passages.map((passage, i) => ({ ...passage, n: i + 1 }));
  const nearest = numbered.toSorted((a, b) => b.result.score - a.result.score || a.n - b.n).slice(0, MOST_PASSAGES);
  const merits = meritsOf(nearest);
  const sentences = nearest.flatMap(({ result, n }, i) => {
    const { source, title = '', heading = '', text } = result;
    const head = new WordSet(`${source}\n${title}\n${heading}`);
    const found = quotableSentences(text.slice(0, MAX_PASSAGE), new Set([title, ...heading.split(' > ')]));
    return found.map((sentence) => ({ ...sentence, n, head, merit: merits[i] ?? 0 }));
  });
  const sets = new Map<string, WordSet>();
  return sentences.slice(0, MOST_SENTENCES).map((sentence) => ({
    ...sentence,
    own: wordSetOf(sets, sentence.text),
    // A question stands there above its answer.
    preceding: wordSetOf(sets, sentence.before.slice(-MOST_QUOTED)),
  }));
}

/** A sentence stands before the next one, too, and before each piece of a long one. */
function wordSetOf(sets: Map<string, WordSet>, text: string): WordSet {
  const known = sets.get(text) ?? new WordSet(text);
  sets.set(text, known);
  return known;
}

/** What each word of the question counts: the fewer of the sentences have it, the more. They add up to 1. */
function weigh({ words }: AskedQuestion, candidates: readonly Candidate[]): number[] {
  const rarities = words.map((word) => {
    const nHaving = candidates.filter(({ own }) => own.match(word) > LEAST_ALIKE).length;
    return Math.log((candidates.length + 1) / (nHaving + 0.5));
  });
  const sum = Math.max(
    rarities.reduce((total, rarity) => total + rarity, 0),
    Number.MIN_VALUE,
  );
  return rarities.map((rarity) => rarity / sum);
}

function scoreOf(question: AskedQuestion, weights: readonly number[], candidate: Candidate): number {
  const passage = 1 - PASSAGE_SHARE + PASSAGE_SHARE * candidate.merit ** PASSAGE_EXPONENT;
  const isEcho = candidate.own.countBeyond(question.all) < LEAST_NEW_WORDS;
  const kind = question.kind === undefined ? 0 : saysKind(question.kind, candidate.text, question.text, question.all);
  return overlap(question, weights, candidate) * passage * (1 + KIND_SHARE * kind) * (isEcho ? ECHO_FACTOR : 1);
}

function overlap({ words }: AskedQuestion, weights: readonly number[], { own, preceding, head }: Candidate): number {
  let sum = 0;
  let wasThere = false;
  for (const [i, word] of words.entries()) {
    const weight = weights[i] ?? 0;
    const match = own.match(word);
    sum += weight * Math.max(match, BEFORE_SHARE * preceding.match(word), HEAD_SHARE * head.match(word));
    const isThere = match > LEAST_FORM;
    if (isThere && wasThere) sum += NEIGHBOUR_SHARE * weight;
    wasThere = isThere;
  }
  return sum;
}
