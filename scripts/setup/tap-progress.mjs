const fileEnded = /^(not )?ok \d+ - (.*?)(?: # time=([\d.]+)ms)?$/;
const testSkipped = /^\s+ok \d+ - (.*?) # SKIP ?(.*)$/;

/**
 * Shows how far a run is, from its TAP: a line for each test file that has ended, and above it one for each test in it that was
 * skipped, with the reason. What failed, and why, is for `readTapFailures`.
 */
export class TapProgress {
  #show;
  #rest = '';

  /** @param {(line: string) => void} show */
  constructor(show) {
    this.#show = show;
  }

  /** @param {string} text the next piece of the output, cut anywhere */
  write(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  /** @param {string} line */
  #read(line) {
    const skipped = testSkipped.exec(line);
    if (skipped) this.#show(`skipped  ${skipped[1]}: ${skipped[2] || 'no reason given'}`);
    const ended = fileEnded.exec(line);
    if (!ended) return;
    const seconds = ended[3] === undefined ? '' : ` (${(Number(ended[3]) / 1000).toFixed(1)} s)`;
    this.#show(`${ended[1] ? 'FAILED  ' : 'ok      '} ${ended[2]}${seconds}`);
  }
}
