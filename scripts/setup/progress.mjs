const lineEveryMs = 10_000;

/** Shows numbered steps with what they are doing and for how long: one live line on a terminal, plain lines elsewhere. */
export class Progress {
  #total;
  #out;
  #current = 0;

  /**
   * @param {number} total
   * @param {{ isTTY?: boolean, write(text: string): unknown }} out
   */
  constructor(total, out = process.stderr) {
    this.#total = total;
    this.#out = out;
  }

  /**
   * Runs one step. The work gets a function that says how far it is.
   * @param {string} title
   * @param {(report: (text: string) => void) => Promise<unknown>} work
   */
  async step(title, work) {
    this.#current += 1;
    const startedMs = Date.now();
    let detail = '';
    const show = () => this.#show(title, detail, Date.now() - startedMs);
    show();
    const timer = setInterval(show, this.#out.isTTY ? 250 : lineEveryMs);
    try {
      await work((text) => {
        detail = text;
      });
    } finally {
      clearInterval(timer);
    }
    this.#show(title, 'done', Date.now() - startedMs);
    if (this.#out.isTTY) this.#out.write('\n');
  }

  /**
   * @param {string} title
   * @param {string} detail
   * @param {number} elapsedMs
   */
  #show(title, detail, elapsedMs) {
    const line = `[${this.#current}/${this.#total}] ${title}${detail ? ` ${detail}` : ''} (${Math.round(elapsedMs / 1000)} s)`;
    this.#out.write(this.#out.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  }
}
