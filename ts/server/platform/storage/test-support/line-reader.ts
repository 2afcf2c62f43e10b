/** The JSON lines that a child process prints, one at a time. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

export class LineReader<Line> {
  readonly lines: Line[] = [];
  readonly ended: Promise<void>;
  #wake: () => void = () => undefined;
  #isOver = false;

  constructor(child: ChildProcess) {
    if (!child.stdout) throw new Error('the child has no stdout');
    const reader = createInterface({ input: child.stdout });
    reader.on('line', (line) => {
      // A child that is killed leaves half a line at most, which says nothing.
      if (line.endsWith('}')) this.lines.push(JSON.parse(line) as Line);
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      reader.once('close', () => {
        this.#isOver = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** The first line from `start` on that fits; throws when the child ends without one. */
  async find(fits: (line: Line) => boolean, start = 0): Promise<Line> {
    for (let i = start; ; i += 1) {
      while (i >= this.lines.length) {
        if (this.#isOver)
          throw new Error(`the child ended without the line that was waited for: ${JSON.stringify(this.lines.at(-1))}`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const line = this.lines[i];
      if (line !== undefined && fits(line)) return line;
    }
  }
}
