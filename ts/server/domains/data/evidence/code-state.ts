/** Whether the end of a Markdown text stands in code, told piece by piece. */
export class CodeState {
  #isFenced = false;
  #isInline = false;
  /** Backticks at the end of what came. */
  #nTicks = 0;

  add(text: string): void {
    if (!/[`\n]/.test(text) && this.#nTicks === 0) return;
    for (const character of text) {
      if (character === '`') {
        this.#nTicks += 1;
        continue;
      }
      this.#settle();
      if (character === '\n') this.#isInline = false;
    }
  }

  /** What comes next must be no backtick. */
  get isCode(): boolean {
    this.#settle();
    return this.#isFenced || this.#isInline;
  }

  #settle(): void {
    if (this.#nTicks >= 3) this.#isFenced = !this.#isFenced;
    else if (this.#nTicks > 0 && !this.#isFenced) this.#isInline = !this.#isInline;
    this.#nTicks = 0;
  }
}
