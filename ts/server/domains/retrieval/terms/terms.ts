/**
 * The terms by which text is found. There are two kinds: stems of words (for scripts without spaces: words as Unicode's dictionary cuts them),
 * and what finds parts of words: runs of four letters, and pairs of characters where a script has no spaces.
 */
import { fold, type Word, wordsOf } from '../../../platform/text/words.ts';
import { stem } from './stem.ts';

export type TermKind = 'stem' | 'gram';

export interface Term {
  readonly kind: TermKind;
  readonly term: string;
  /** Of a script without spaces. */
  readonly isRun: boolean;
}

const GRAM = 4;
/** A longer run is a serial number or noise. */
const MAX_GRAMS_OF_WORD = 40;
/** The dictionary sees a run in pieces, since it takes long for long ones. */
const MAX_RUN = 400;

let dictionary: Intl.Segmenter | undefined;

export function* termsOf(text: string): Generator<Term> {
  for (const word of wordsOf(text)) yield* word.isRun ? termsOfRun(text, word) : termsOfWord(word);
}

function* termsOfWord({ parts }: Word): Generator<Term> {
  for (const { text } of parts) {
    yield { kind: 'stem', term: stem(text), isRun: false };
    const last = Math.min(text.length - GRAM, MAX_GRAMS_OF_WORD);
    if (last <= 0) yield { kind: 'gram', term: text, isRun: false };
    else for (let at = 0; at <= last; at++) yield { kind: 'gram', term: text.slice(at, at + GRAM), isRun: false };
  }
}

function* termsOfRun(text: string, { start, end, parts }: Word): Generator<Term> {
  dictionary ??= new Intl.Segmenter('zh', { granularity: 'word' });
  for (let at = start; at < end; at += MAX_RUN) {
    for (const { segment } of dictionary.segment(text.slice(at, Math.min(end, at + MAX_RUN)))) {
      yield { kind: 'stem', term: fold(segment), isRun: true };
    }
  }
  for (const [i, { text: character }] of parts.entries()) {
    const next = parts[i + 1]?.text;
    if (next !== undefined) yield { kind: 'gram', term: character + next, isRun: true };
    else if (parts.length === 1) yield { kind: 'gram', term: character, isRun: true };
  }
}
