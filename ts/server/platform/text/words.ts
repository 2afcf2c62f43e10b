/**
 * Cuts text into words, and words into the terms under which they are found: without case, accents and the forms that Unicode calls compatible.
 * Scripts that put no spaces between words are cut into pairs of neighbouring characters instead.
 */
import { limitMarks, normalized } from './normalized.ts';

/** A word, or an unbroken run of a script without spaces, by its place in the text (UTF-16 code units). */
export interface Word {
  readonly start: number;
  readonly end: number;
  /** Folded: the parts of a word, or the characters of a run. */
  readonly parts: readonly WordPart[];
  readonly isRun: boolean;
}

interface WordPart {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Longer words are found by their beginning. Code points. */
const MAX_TERM_LENGTH = 64;
/** UTF-16 code units of a word that are folded, with its marks; and how many parts it may fall into. */
const MAX_WORD_LENGTH = 512;
const MAX_PARTS = 16;

const JOINERS = String.raw`\u00ad\u200c\u200d`;
const RUN = String.raw`[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Yiii}]]`;
const WORD = new RegExp(`(?<run>${RUN}+)|[[\\p{L}\\p{N}\\p{M}${JOINERS}]--${RUN}]+`, 'gv');
/** A base character with its marks; the half-width voicing marks of Japanese are letters to Unicode. */
const CHARACTER = /\P{M}[\p{M}\uff9e\uff9f]*|\p{M}+/gu;
/** Joiners, and marks that readers leave out: accents, and the vowel points of Hebrew and Arabic. */
const IGNORED = new RegExp(
  `[${JOINERS}\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05c7\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]`,
  'g',
);

export function* wordsOf(text: string): Generator<Word> {
  for (const match of text.matchAll(WORD)) {
    const start = match.index;
    const raw = match[0];
    const isRun = match.groups?.['run'] !== undefined;
    const parts = isRun ? charactersOf(raw, start) : partsOf(raw, start);
    if (parts.length > 0) yield { start, end: start + raw.length, parts, isRun };
  }
}

/** Terms of a word as the index holds them; the last character of a run also stands alone, so that each character begins a term. */
export function* termsOf({ parts, isRun }: Word): Generator<string> {
  for (const [i, { text }] of parts.entries()) yield isRun ? text + (parts[i + 1]?.text ?? '') : text;
}

/** Most of what is folded: small letters, digits, and ideographs that neither decompose nor have a case. */
const FOLDED = /^[a-z0-9\u4e00-\u9fff]*$/;

/** Folding what was folded changes nothing. */
export function fold(text: string): string {
  if (FOLDED.test(text)) return text;
  // By way of capitals, which join what has several small letters (ß and ss, the two sigmas, the dotless i). The capital ẞ is no capital of
  // ß to Unicode, so small letters come before.
  const cased = decompose(text).toLowerCase().toUpperCase().toLowerCase();
  return decompose(cased).replaceAll('ς', 'σ');
}

function decompose(text: string): string {
  return limitMarks(normalized(text, 'NFKD').replace(IGNORED, ''));
}

/** A word may decompose into several (the ligature of a whole phrase, a fraction). */
function partsOf(raw: string, start: number): WordPart[] {
  const folded = fold(raw.slice(0, MAX_WORD_LENGTH)).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return folded.slice(0, MAX_PARTS).map((text) => ({ start, end: start + raw.length, text: shorten(text) }));
}

function charactersOf(raw: string, start: number): WordPart[] {
  return [...raw.matchAll(CHARACTER)].flatMap(({ 0: character, index }) => {
    const text = shorten(fold(character));
    return text === '' ? [] : { start: start + index, end: start + index + character.length, text };
  });
}

function shorten(text: string): string {
  return text.length <= MAX_TERM_LENGTH ? text : Array.from(text).slice(0, MAX_TERM_LENGTH).join('');
}
