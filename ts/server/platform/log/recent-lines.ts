/** The last lines of the log, in memory, for those who may read them. They are redacted as the log is. */
import type { LogLevel } from './log.ts';

export interface RecentLine {
  /** Counts the lines of the process from 1. */
  seq: number;
  level: LogLevel;
  /** An object as JSON: `time`, `level`, `message`, and whatever else the line says. */
  json: string;
}

const MAX_LINES = 2_000;
const MAX_CHARS = 2 * 1024 * 1024;

export class RecentLines {
  readonly #slots: RecentLine[] = [];
  readonly #listeners = new Set<(line: RecentLine) => void>();
  #oldest = 1;
  #next = 1;
  #nChars = 0;

  add(level: LogLevel, json: string): void {
    const line = { seq: this.#next++, level, json };
    if (line.seq - this.#oldest >= MAX_LINES) this.#dropOldest();
    this.#slots[line.seq % MAX_LINES] = line;
    this.#nChars += json.length;
    while (this.#nChars > MAX_CHARS && this.#oldest < line.seq) this.#dropOldest();
    for (const listener of this.#listeners) listener(line);
  }

  /** Oldest first. */
  list(): RecentLine[] {
    const lines: RecentLine[] = [];
    for (let seq = this.#oldest; seq < this.#next; seq++) {
      const line = this.#slots[seq % MAX_LINES];
      if (line?.seq === seq) lines.push(line);
    }
    return lines;
  }

  /** `listener` must not throw, and must not log. Returns how to stop. */
  follow(listener: (line: RecentLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #dropOldest(): void {
    this.#nChars -= this.#slots[this.#oldest % MAX_LINES]?.json.length ?? 0;
    this.#oldest++;
  }
}
