import { formatBytes } from './format.ts';
import type { OutputStream } from './terminal.ts';

export interface Progress {
  update(label: string, done: number, total: number | undefined): void;
  end(): void;
}

const redrawMs = 100;
/** A log gets a line for every tenth, or every half minute where the total is unknown or the progress slow. */
const lineMs = 30_000;

export class ProgressBar implements Progress {
  readonly #stream: OutputStream;
  readonly #now: () => number;
  #label = '';
  #startedMs = 0;
  #startedAt = 0;
  #shownMs = Number.NEGATIVE_INFINITY;
  #shownTenth = 0;
  #drawn = false;

  constructor(stream: OutputStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  update(label: string, done: number, total: number | undefined): void {
    const now = this.#now();
    if (label !== this.#label) this.#begin(label, done, now);
    const isLast = done === total;
    if (this.#stream.isTTY) {
      if (isLast || now - this.#shownMs >= redrawMs) this.#draw(done, total, now);
    } else this.#print(done, total, now, isLast);
  }

  end(): void {
    if (this.#drawn) this.#stream.write('\n');
    this.#drawn = false;
    this.#label = '';
  }

  #begin(label: string, done: number, now: number): void {
    this.end();
    this.#label = label;
    this.#startedMs = now;
    this.#startedAt = done;
    this.#shownMs = this.#stream.isTTY ? Number.NEGATIVE_INFINITY : now;
    this.#shownTenth = 0;
  }

  #draw(done: number, total: number | undefined, now: number): void {
    this.#shownMs = now;
    this.#drawn = true;
    const facts = this.#facts(done, total, now);
    const width = Math.max(0, (this.#stream.columns ?? 80) - this.#label.length - facts.length - 5);
    const filled = total ? Math.round((Math.min(done, total) / total) * width) : 0;
    const bar = total && width >= 5 ? `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ` : '';
    this.#stream.write(`\r\x1b[K${this.#label} ${bar}${facts}`);
  }

  #print(done: number, total: number | undefined, now: number, isLast: boolean): void {
    const tenth = total ? Math.floor((10 * done) / total) : 0;
    if (!isLast && tenth <= this.#shownTenth && now - this.#shownMs < lineMs) return;
    this.#shownTenth = tenth;
    this.#shownMs = now;
    this.#stream.write(`${this.#label} ${this.#facts(done, total, now)}\n`);
  }

  #facts(done: number, total: number | undefined, now: number): string {
    const seconds = (now - this.#startedMs) / 1000;
    const rate = seconds > 0.5 ? (done - this.#startedAt) / seconds : 0;
    const percent = total ? `${Math.floor((100 * done) / total)}% ` : '';
    const speed = rate > 0 ? ` ${formatBytes(rate)}/s` : '';
    const left = total && rate > 0 && done < total ? ` ${Math.ceil((total - done) / rate)} s left` : '';
    return `${percent}${formatBytes(done)}${total ? ` of ${formatBytes(total)}` : ''}${speed}${left}`;
  }
}
