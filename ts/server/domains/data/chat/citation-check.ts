/** Whether a citation holds: the sentence that cites a passage has its numbers and names from there. */
import { normalized } from '../../../platform/text/normalized.ts';
import { fold, wordsOf } from '../../../platform/text/words.ts';
import { stem, termsOf } from '../../retrieval/index.ts';
import { numberValues } from '../claims/claims.ts';

/** Shares of a sentence's names, and of its other terms where it has neither names nor numbers, that the passage must have. */
const LEAST_NAMES = 0.5;
const LEAST_TERMS = 0.3;

/** They repeat the question and say nothing of their own. */
const ASSENT = new Set(['nein', 'doch', 'true', 'false', 'indeed', 'correct', 'davvero', 'верно', 'вірно']);

export function holds(sentence: string, known: PassageWords): boolean {
  if (sentence === '') return false;
  const numbers = numberValues(normalized(sentence, 'NFKC'));
  if (!numbers.every((values) => values.some((value) => known.numbers.has(String(value))))) return false;
  const names = namesOf(sentence);
  const nNamesKnown = names.filter((name) => known.stems.has(name)).length;
  if (names.length > 0 && nNamesKnown === 0) return false;
  if (names.length > 0 && nNamesKnown / names.length >= LEAST_NAMES) return true;
  if (names.length === 0 && numbers.length > 0) return true;
  return sharedTerms(sentence, known) >= LEAST_TERMS;
}

/** What the sentences that cite a passage are compared with. */
export class PassageWords {
  readonly numbers: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
  readonly terms: ReadonlySet<string>;

  constructor(passage: string) {
    this.numbers = new Set(numbersOf(passage));
    const terms = [...termsOf(passage)];
    this.stems = new Set(terms.filter(({ kind }) => kind === 'stem').map(({ term }) => term));
    this.terms = new Set(terms.map(({ kind, term }) => `${kind} ${term}`));
  }

  /** Of a number or name, as factsOf() has them. */
  has(fact: string): boolean {
    return this.numbers.has(fact) || this.stems.has(fact);
  }
}

/** Numbers and names of a sentence. */
export function factsOf(sentence: string): string[] {
  return [...numbersOf(sentence), ...namesOf(sentence)];
}

/** Of each number of a text, its value; where its writing has two readings, both. */
export function numbersOf(text: string): string[] {
  return numberValues(normalized(text, 'NFKC')).flatMap((values) => values.map(String));
}

/** Capitalised words that do not begin the sentence, as stems. */
function namesOf(sentence: string): string[] {
  const [first, ...rest] = [...wordsOf(sentence)].filter(({ isRun }) => !isRun);
  if (first === undefined) return [];
  return rest
    .map(({ start, end }) => sentence.slice(start, end))
    .filter((word) => /^\p{Lu}/u.test(word) && /\p{L}{2}/u.test(word))
    .flatMap((word) => fold(word).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])
    .map(stem);
}

/** What a sentence says in plain words: stems of words of some length that are no names. Empty in scripts without spaces between words. */
export function plainWordsOf(sentence: string): string[] {
  const words = [...wordsOf(sentence)].filter(({ isRun }) => !isRun).flatMap(({ parts }) => parts.map(({ text }) => text));
  const plain = words.filter((word) => /^\p{L}{4,}$/u.test(word) && !ASSENT.has(word)).map(stem);
  return [...new Set(plain)];
}

/** Share of the sentence's terms that the passage has. */
export function sharedTerms(sentence: string, known: PassageWords): number {
  const terms = new Set([...termsOf(sentence)].map(({ kind, term }) => `${kind} ${term}`));
  const nKnown = [...terms].filter((term) => known.terms.has(term)).length;
  return terms.size === 0 ? 0 : nKnown / terms.size;
}
