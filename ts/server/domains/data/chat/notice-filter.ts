/** Puts a sentence in front of an answer, whatever the model says, even nothing. An answer that begins with it keeps its own. */
import type { AnswerFilter, CitationMark } from '../knowledge-context.ts';

export class NoticeFilter implements AnswerFilter {
  readonly #notice: string;
  readonly #inner: AnswerFilter;
  /** The beginning of the answer, as long as it may become the sentence. */
  #head = '';
  #isSaid = false;

  /** @param inner without passages, no citation of it holds. */
  constructor(notice: string, inner: AnswerFilter) {
    this.#notice = notice;
    this.#inner = inner;
  }

  get marks(): readonly CitationMark[] {
    return [];
  }

  get unsupported(): readonly [] {
    return [];
  }

  push(piece: string): string {
    const passed = this.#inner.push(piece);
    if (this.#isSaid) return passed;
    this.#head = (this.#head + passed).trimStart();
    return this.#notice.startsWith(this.#head) ? '' : this.#say();
  }

  end(): string {
    const rest = this.#inner.end();
    if (this.#isSaid) return rest;
    this.#head = (this.#head + rest).trimStart();
    return this.#say();
  }

  conclude(): string {
    return this.end();
  }

  #say(): string {
    this.#isSaid = true;
    if (this.#head === '') return this.#notice;
    return this.#head.startsWith(this.#notice) ? this.#head : `${this.#notice}\n\n${this.#head}`;
  }
}
