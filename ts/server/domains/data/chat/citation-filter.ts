/**
 * Passes the text of an answer on without the citations that do not hold. A mark is held back until its sentence is known, so that nothing
 * has to be taken back once it was passed on. How the text came in pieces changes nothing.
 */

import { CodeState } from '../evidence/code-state.ts';
import type { AnswerFilter, CitationMark, UnsupportedClaim } from '../knowledge-context.ts';

/** Whether the sentence may cite the passage of this number. */
type JudgeCitation = (n: number, sentence: string) => boolean;
/** What of an answer its citations do not say. */
type CheckClaims = (answer: string, marks: readonly CitationMark[]) => UnsupportedClaim[];

/** `[2]`, `[1, 3]`, with the spaces before it: they go with a mark that is dropped. */
const MARK = /[ \t]{0,8}\[\s{0,4}\d{1,3}(?:\s{0,4},\s{0,4}\d{1,3}){0,9}\s{0,4}\]/y;
const ANY_MARK = /\[\s{0,4}\d{1,3}(?:\s{0,4},\s{0,4}\d{1,3}){0,9}\s{0,4}\]/g;
/** What may become one. */
const BEGUN_MARK = /^[ \t]{0,8}\[\s{0,4}(?:\d{1,3}\s{0,4}(?:,\s{0,4}(?:\d{1,3}\s{0,4})?){0,10})?$/;
/** A line break ends a sentence, too. */
const SENTENCE_END = /[.!?。！？…]["'”»)]*(?=\s|$|\[)|[。！？]|\n/g;
const ENDS_SENTENCE = /[.!?。！？…]["'”»)]*$/;
/** Behind a mark. A point within a number or a name ends nothing. */
const END_BEHIND = /^\s*\.|[!?。！？…\n]|\.(?=[\s"'”»)\]]|$)/;
/** Characters behind a mark that are waited for: about ten tokens. Most marks stand before the full stop. */
const LOOK_AHEAD = 40;
/** With marks in between. */
const MOST_LOOKED_AT = 200;
const MAX_SENTENCE = 2_000;
/** An answer with more is noise. */
const MAX_MARKS = 300;

export class CitationFilter implements AnswerFilter {
  readonly #judge: JudgeCitation;
  readonly #check: CheckClaims;
  readonly #marks: CitationMark[] = [];
  readonly #code = new CodeState();
  #held = '';
  /** What this call passes on. */
  #out = '';
  /** The end of what was passed on, and the length of all of it. */
  #tail = '';
  #length = 0;
  #nMarks = 0;
  /** All that was passed on. */
  #whole = '';
  #checked: { readonly length: number; readonly unsupported: readonly UnsupportedClaim[] } = { length: 0, unsupported: [] };

  constructor(judge: JudgeCitation, check: CheckClaims = () => []) {
    this.#judge = judge;
    this.#check = check;
  }

  /** Those that hold, by their places in what was passed on. */
  get marks(): readonly CitationMark[] {
    return this.#marks;
  }

  /** Of what was passed on so far. */
  get unsupported(): readonly UnsupportedClaim[] {
    const { length } = this.#whole;
    if (this.#checked.length !== length) this.#checked = { length, unsupported: this.#check(this.#whole, this.#marks) };
    return this.#checked.unsupported;
  }

  push(piece: string): string {
    this.#held += piece;
    return this.#advance(false);
  }

  end(): string {
    return this.#advance(true);
  }

  conclude(): string {
    return this.end();
  }

  #advance(isEnd: boolean): string {
    while (this.#held !== '' && this.#step(isEnd));
    const out = this.#out;
    this.#whole += out;
    this.#out = '';
    return out;
  }

  /** False: more text has to come first. */
  #step(isEnd: boolean): boolean {
    const bracket = this.#held.indexOf('[');
    if (bracket < 0) {
      const nSpaces = isEnd ? 0 : (/[ \t]{0,8}$/.exec(this.#held)?.[0].length ?? 0);
      this.#pass(this.#held.length - nSpaces);
      return false;
    }
    this.#pass(bracket - (/[ \t]{0,8}$/.exec(this.#held.slice(0, bracket))?.[0].length ?? 0));
    MARK.lastIndex = 0;
    const mark = MARK.exec(this.#held)?.[0];
    if (mark !== undefined) return this.#decide(mark, isEnd);
    if (!isEnd && BEGUN_MARK.test(this.#held)) return false;
    this.#pass(this.#held.indexOf('[') + 1);
    return true;
  }

  #decide(mark: string, isEnd: boolean): boolean {
    const isCode = this.#code.isCode;
    const isNoise = this.#nMarks >= MAX_MARKS;
    const sentence = isCode || isNoise ? '' : this.#sentenceAround(this.#held.slice(mark.length), isEnd);
    if (sentence === undefined) return false;
    this.#held = this.#held.slice(mark.length);
    if (isCode) this.#append(mark);
    else if (!isNoise) this.#keep(mark, sentence);
    return true;
  }

  #keep(mark: string, sentence: string): void {
    this.#nMarks += 1;
    const numbers = mark.match(/\d+/g) ?? [];
    const kept = numbers.filter((digits) => this.#judge(Number(digits), sentence));
    if (kept.length === 0) return;
    const spaces = mark.slice(0, mark.indexOf('['));
    const text = kept.length === numbers.length ? mark.slice(spaces.length) : `[${kept.join(', ')}]`;
    this.#append(spaces);
    const place = { start: this.#length, end: this.#length + text.length };
    this.#marks.push(...kept.map((digits) => ({ n: Number(digits), ...place })));
    this.#append(text);
  }

  /** The sentence in which a mark stands, or behind which it stands; undefined while it is not known. */
  #sentenceAround(behind: string, isEnd: boolean): string | undefined {
    const before = withoutMarks(this.#tail.slice(-MAX_SENTENCE)).trimEnd();
    let start = 0;
    for (const { 0: end, index } of before.matchAll(SENTENCE_END))
      if (index + end.length < before.length) start = index + end.length;
    const sentence = before.slice(start).trim();
    if (ENDS_SENTENCE.test(before)) return sentence;
    const rest = withoutMarks(behind.slice(0, MOST_LOOKED_AT));
    const end = END_BEHIND.exec(rest);
    const at = end === null ? -1 : end.index + end[0].length - 1;
    if (end !== null && at < LOOK_AHEAD) {
      // The point that came last may be followed by a digit.
      const isOpen = end[0] === '.' && at > 0 && at === rest.length - 1 && !isEnd;
      return isOpen ? undefined : `${sentence}${rest.slice(0, at)}`.trim();
    }
    if (rest.length < LOOK_AHEAD) return isEnd ? `${sentence}${rest}`.trim() : undefined;
    return `${sentence}${rest.slice(0, LOOK_AHEAD).replace(/(?<!\S)\S+$/, '')}`.trim();
  }

  #pass(length: number): void {
    this.#append(this.#held.slice(0, length));
    this.#held = this.#held.slice(length);
  }

  #append(text: string): void {
    this.#code.add(text);
    this.#out += text;
    this.#length += text.length;
    this.#tail = text.length < MAX_SENTENCE ? this.#tail + text : text;
    if (this.#tail.length > 2 * MAX_SENTENCE) this.#tail = this.#tail.slice(-MAX_SENTENCE);
  }
}

function withoutMarks(text: string): string {
  return text.replace(ANY_MARK, (mark) => ' '.repeat(mark.length));
}
