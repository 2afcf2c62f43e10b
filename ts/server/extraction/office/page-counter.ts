/**
 * Pages of a word processor's file. It has none, but for marks that the program left where pages began when it last showed them. They are
 * believed where they come to as many pages as the program counted: a wrong page in a citation is worse than none.
 */
import type { Block } from '../extracted-document.ts';

export class PageCounter {
  page = 1;
  /** A break that was written already and must not count again where the program marks the page that it began. */
  #isBreakOpen = false;
  #hasMarks = false;

  /** The author's own break. */
  pageBreak(): void {
    this.page++;
    this.#isBreakOpen = true;
  }

  /** The program's mark of a page that began here. */
  mark(): void {
    this.#hasMarks = true;
    if (!this.#isBreakOpen) this.page++;
    this.#isBreakOpen = false;
  }

  text(): void {
    this.#isBreakOpen = false;
  }

  /** Takes the pages from all blocks where they cannot be believed. Returns the number of pages, where it can. */
  confirm(blocks: readonly Block[], nPages: number | undefined): number | undefined {
    const isConfirmed = nPages === undefined ? this.#hasMarks : nPages === this.page;
    if (isConfirmed) return this.page;
    for (const block of blocks) delete block.page;
    return undefined;
  }
}
