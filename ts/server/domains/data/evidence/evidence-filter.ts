/**
 * Puts evidence behind an answer that cites nothing rightly, says what the passages that it cites do not, or denies what was found; it is the whole
 * answer where no model speaks.
 */
import type { AnswerFilter, CitationMark, UnsupportedClaim } from '../knowledge-context.ts';
import { CodeState } from './code-state.ts';
import { denies } from './denial.ts';
import type { EvidenceText } from './evidence-text.ts';

const MAX_HEAD = 2_000;

export class EvidenceFilter implements AnswerFilter {
  readonly #inner: AnswerFilter;
  readonly #evidence: () => EvidenceText | undefined;
  readonly #code = new CodeState();
  readonly #isFound: boolean;
  #length = 0;
  #end = '';
  /** The beginning of the answer is enough to tell a denial. */
  #head = '';
  #added: readonly CitationMark[] = [];

  /** @param evidence is asked once, when it is needed. @param isFound the documents answer, so that a denial is wrong. */
  constructor(inner: AnswerFilter, evidence: () => EvidenceText | undefined, isFound: boolean) {
    this.#inner = inner;
    this.#evidence = evidence;
    this.#isFound = isFound;
  }

  get marks(): readonly CitationMark[] {
    return this.#added.length === 0 ? this.#inner.marks : [...this.#inner.marks, ...this.#added];
  }

  get unsupported(): readonly UnsupportedClaim[] {
    return this.#inner.unsupported;
  }

  push(piece: string): string {
    return this.#count(this.#inner.push(piece));
  }

  end(): string {
    return this.#count(this.#inner.end());
  }

  conclude(): string {
    const rest = this.#count(this.#inner.conclude());
    if (this.#stands()) return rest;
    const gap = this.#length === 0 ? '' : '\n\n'.slice(/\n{0,2}$/.exec(this.#end)?.[0].length);
    this.#code.add('\n');
    // A fence that was never closed would take the evidence in.
    const evidence = this.#code.isCode ? undefined : this.#evidence();
    if (evidence === undefined) return rest;
    const start = this.#length + gap.length;
    this.#added = evidence.marks.map((mark) => ({ n: mark.n, start: start + mark.start, end: start + mark.end }));
    return rest + this.#count(gap + evidence.text);
  }

  /** Nothing needs to stand behind the answer. */
  #stands(): boolean {
    if (this.#inner.marks.length === 0 || this.#inner.unsupported.length > 0) return false;
    return !(this.#isFound && denies(this.#head));
  }

  #count(text: string): string {
    if (this.#head.length < MAX_HEAD) this.#head += text;
    this.#length += text.length;
    this.#end = (this.#end + text).slice(-2);
    this.#code.add(text);
    return text;
  }
}
