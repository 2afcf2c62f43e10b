/** Puts evidence behind an answer that ends without any citation that holds; it is the whole answer where no model speaks. */
import type { AnswerFilter, CitationMark } from '../knowledge-context.ts';
import { CodeState } from './code-state.ts';
import type { EvidenceText } from './evidence-text.ts';

export class EvidenceFilter implements AnswerFilter {
  readonly #inner: AnswerFilter;
  readonly #evidence: () => EvidenceText | undefined;
  readonly #code = new CodeState();
  #length = 0;
  #end = '';
  #added: readonly CitationMark[] | undefined;

  /** @param evidence is asked once, when it is needed. */
  constructor(inner: AnswerFilter, evidence: () => EvidenceText | undefined) {
    this.#inner = inner;
    this.#evidence = evidence;
  }

  get marks(): readonly CitationMark[] {
    return this.#added ?? this.#inner.marks;
  }

  push(piece: string): string {
    return this.#count(this.#inner.push(piece));
  }

  end(): string {
    return this.#count(this.#inner.end());
  }

  conclude(): string {
    const rest = this.#count(this.#inner.conclude());
    if (this.marks.length > 0) return rest;
    const gap = this.#length === 0 ? '' : '\n\n'.slice(/\n{0,2}$/.exec(this.#end)?.[0].length);
    this.#code.add('\n');
    // A fence that was never closed would take the evidence in.
    const evidence = this.#code.isCode ? undefined : this.#evidence();
    if (evidence === undefined) return rest;
    const start = this.#length + gap.length;
    this.#added = evidence.marks.map((mark) => ({ n: mark.n, start: start + mark.start, end: start + mark.end }));
    return rest + this.#count(gap + evidence.text);
  }

  #count(text: string): string {
    this.#length += text.length;
    this.#end = (this.#end + text).slice(-2);
    this.#code.add(text);
    return text;
  }
}
