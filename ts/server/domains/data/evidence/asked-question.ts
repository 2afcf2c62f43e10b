/** A question as its evidence is looked for: its content words, each with what it counts, and what kind of thing it asks for. */

import { type AskedKind, askedKindOf } from './asked-kind.ts';
import { functionWordsOf, type Language, languageOf } from './question-language.ts';
import { type WordForm, WordSet, wordFormsOf } from './word-forms.ts';

interface AskedWord extends WordForm {
  /** What it counts wherever nothing is known of how rare it is: long words and names say more in any language. */
  readonly weight: number;
}

export interface AskedQuestion {
  readonly text: string;
  readonly language: Language;
  readonly kind: AskedKind | undefined;
  /** Each once. */
  readonly words: readonly AskedWord[];
  /** All words, function words as well. */
  readonly all: WordSet;
}

/** Of a longer question, words behind it are not looked for. */
const MAX_WORDS = 64;
const MAX_LENGTH = 4_000;
const LEAST_WEIGHT = 0.3;
/** A word of so many letters counts in full. */
const FULL_LENGTH = 8;
const NAME_FACTOR = 1.6;

export function readQuestion(question: string): AskedQuestion {
  const text = question.slice(0, MAX_LENGTH).toWellFormed();
  const language = languageOf(text);
  const functionWords = functionWordsOf(language);
  const words = new Map<string, AskedWord>();
  for (const [i, form] of wordFormsOf(text).entries()) {
    if (words.size >= MAX_WORDS) break;
    if (!functionWords.has(form.text) && !words.has(form.text))
      words.set(form.text, { ...form, weight: weightOf(form, i === 0) });
  }
  return { text, language, kind: askedKindOf(text), words: [...words.values()], all: new WordSet(text) };
}

function weightOf({ text, written, isRun }: WordForm, isFirst: boolean): number {
  if (isRun) return 1;
  const byLength = LEAST_WEIGHT + (1 - LEAST_WEIGHT) * Math.min(1, text.length / FULL_LENGTH);
  // The first word of a question is capitalised whatever it is.
  return !isFirst && /^\p{Lu}|\d/u.test(written) ? NAME_FACTOR * byLength : byLength;
}
