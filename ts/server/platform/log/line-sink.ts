/** Where log lines go. Writes are gathered per turn of the event loop: a line per request must not cost a system call per request. */
import { writeSync } from 'node:fs';

export interface LineSink {
  write(line: string): void;
  /** Writes what is gathered now; called before the process ends. */
  flush(): void;
}

const FLUSH_CHARS = 64 * 1024;
const MAX_HELD_CHARS = 4 * 1024 * 1024;

export class FileDescriptorSink implements LineSink {
  readonly #fd: number;
  #held: string[] = [];
  #heldChars = 0;
  #scheduled = false;
  #droppedLines = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#heldChars > MAX_HELD_CHARS) {
      this.#droppedLines += 1;
      return;
    }
    this.#held.push(line);
    this.#heldChars += line.length;
    if (this.#heldChars >= FLUSH_CHARS) this.flush();
    else this.#schedule();
  }

  flush(): void {
    if (this.#held.length === 0) return;
    if (this.#droppedLines > 0)
      this.#held.push(`{"level":"warn","message":"${this.#droppedLines} log lines dropped: the reader is too slow"}\n`);
    const bytes = Buffer.from(this.#held.join(''));
    this.#held = [];
    this.#heldChars = 0;
    this.#droppedLines = 0;
    this.#writeAll(bytes);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  #writeAll(bytes: Buffer): void {
    let offset = 0;
    try {
      while (offset < bytes.length) offset += writeSync(this.#fd, bytes, offset);
    } catch (error) {
      // A full non-blocking pipe: keep the rest for the next turn. A closed one: nobody is left to tell.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      this.#held.unshift(bytes.subarray(offset).toString('utf8'));
      this.#heldChars += bytes.length - offset;
      setTimeout(() => this.#schedule(), 20).unref();
    }
  }
}
