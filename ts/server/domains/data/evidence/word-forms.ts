/** Compares words by what forms of one word share, in any language: a stem, the first letters, or most runs of four letters. */
import { wordsOf } from '../../../platform/text/words.ts';
import { stem } from '../../retrieval/index.ts';

const PREFIX = 6;
const PREFIX_MATCH = 0.85;
const GRAM = 4;
/** Of a word's runs of letters, that another word must have to count as a form or a part of it. */
const LEAST_GRAMS = 0.5;
const GRAM_MATCH = 0.7;

/** A folded word, or a pair of characters of a script without spaces. */
export interface WordForm {
  readonly text: string;
  readonly isRun: boolean;
  /** As it stands in the text. */
  readonly written: string;
}

export function wordFormsOf(text: string): WordForm[] {
  return [...wordsOf(text)].flatMap(({ isRun, parts, start, end }): WordForm[] => {
    if (!isRun) return parts.map((part) => ({ text: part.text, isRun, written: text.slice(start, end) }));
    const pairs = parts.slice(0, -1).map((part, i) => part.text + (parts[i + 1]?.text ?? ''));
    return (pairs.length > 0 ? pairs : parts.map((part) => part.text)).map((pair) => ({ text: pair, isRun, written: pair }));
  });
}

/** The words of a text, to be asked for words of a question. */
export class WordSet {
  readonly nWords: number;
  readonly #stems: ReadonlySet<string>;
  readonly #prefixes = new Set<string>();
  readonly #grams = new Set<string>();
  /** By the word, which is asked for again where the text stands before a sentence or above it. */
  readonly #matches = new Map<string, number>();

  constructor(text: string) {
    const forms = wordFormsOf(text);
    this.nWords = forms.length;
    this.#stems = new Set(forms.map(stemOf));
    for (const { text: word } of forms.filter(({ isRun }) => !isRun)) {
      if (word.length >= PREFIX) this.#prefixes.add(word.slice(0, PREFIX));
      for (const gram of gramsOf(word)) this.#grams.add(gram);
    }
  }

  /** 1 for a form of the same stem, less for what is only alike, 0 for none. */
  match(word: WordForm): number {
    let match = this.#matches.get(word.text);
    if (match === undefined) {
      match = this.#find(word);
      this.#matches.set(word.text, match);
    }
    return match;
  }

  #find(word: WordForm): number {
    if (this.#stems.has(stemOf(word))) return 1;
    if (word.isRun || word.text.length <= GRAM) return 0;
    if (word.text.length >= PREFIX && this.#prefixes.has(word.text.slice(0, PREFIX))) return PREFIX_MATCH;
    const share = this.#shareOfGrams(word.text);
    return share >= LEAST_GRAMS ? GRAM_MATCH * share : 0;
  }

  /** 0 as soon as too many are missing. */
  #shareOfGrams(word: string): number {
    const nGrams = word.length - GRAM + 1;
    let nMissing = 0;
    for (let at = 0; at < nGrams; at++) {
      if (this.#grams.has(word.slice(at, at + GRAM))) continue;
      nMissing++;
      if (nMissing > nGrams * (1 - LEAST_GRAMS)) return 0;
    }
    return 1 - nMissing / nGrams;
  }

  /** Of the words, by their weights: the share that it has, 0 to 1. */
  coverage(words: readonly (WordForm & { readonly weight: number })[]): number {
    const whole = words.reduce((sum, { weight }) => sum + weight, 0);
    return whole === 0 ? 0 : words.reduce((sum, word) => sum + word.weight * this.match(word), 0) / whole;
  }

  /** How many of its stems are not among those of `other`. */
  countBeyond(other: WordSet): number {
    return [...this.#stems].filter((each) => !other.#stems.has(each)).length;
  }

  hasStemOf(word: WordForm): boolean {
    return this.#stems.has(stemOf(word));
  }
}

function stemOf({ text, isRun }: WordForm): string {
  return isRun ? text : stem(text);
}

function gramsOf(word: string): string[] {
  return Array.from({ length: Math.max(0, word.length - GRAM + 1) }, (_, at) => word.slice(at, at + GRAM));
}
