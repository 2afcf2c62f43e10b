/** Puts a quotation with its citation behind an answer that ends without any citation that holds. */
import type { AnswerFilter, CitationMark } from '../../../inference/index.ts';
import { CodeState } from '../code-state.ts';
import type { Quotation } from './quotation.ts';

export class QuotationFilter implements AnswerFilter {
  readonly #inner: AnswerFilter;
  readonly #quote: () => Quotation | undefined;
  readonly #code = new CodeState();
  #length = 0;
  #end = '';
  #mark: CitationMark | undefined;

  /** @param quote is asked once, when it is needed. */
  constructor(inner: AnswerFilter, quote: () => Quotation | undefined) {
    this.#inner = inner;
    this.#quote = quote;
  }

  get marks(): readonly CitationMark[] {
    return this.#mark === undefined ? this.#inner.marks : [this.#mark];
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
    // A fence that was never closed would take the quotation in.
    const quotation = this.#code.isCode ? undefined : this.#quote();
    if (quotation === undefined) return rest;
    const { n, text } = quotation;
    const added = `${gap}${text} [${n}]`;
    this.#count(added);
    this.#mark = { n, start: this.#length - `[${n}]`.length, end: this.#length };
    return rest + added;
  }

  #count(text: string): string {
    this.#length += text.length;
    this.#end = (this.#end + text).slice(-2);
    this.#code.add(text);
    return text;
  }
}
