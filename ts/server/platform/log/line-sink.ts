/** Where log lines go. Writes are gathered per turn of the event loop: a line per request must not cost a system call per request. */
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

export interface LineSink {
  /** Never waits for whoever reads the lines. */
  write(line: string): void;
  /** Writes what is gathered now; called before the process ends. */
  flush(): void;
}

const gatheredChars = 64 * 1024;
const mostHeldChars = 4 * 1024 * 1024;
/** A full pipe is tried again after so long. */
const retryMs = 20;
/** So long the end of the process waits for a reader that is slow. */
const flushWaitMs = 250;

/** Writes to a file, a terminal or a pipe. Lines beyond 4 Mi characters that nobody has read yet are lost; a line says how many. */
export class FileDescriptorSink implements LineSink {
  readonly #fd: number;
  /** Keeps a pipe from blocking; never written to, and never let go, since its end would close the descriptor. */
  readonly #pipe: Socket | undefined;
  #held: string[] = [];
  #heldChars = 0;
  #nDroppedLines = 0;
  /** What is being written, and how much of it is out. */
  #bytes = Buffer.alloc(0);
  #nWritten = 0;
  #isScheduled = false;
  /** The pipe was full. */
  #isWaiting = false;

  constructor(fd: number) {
    this.#fd = fd;
    this.#pipe = openPipe(fd);
    this.#pipe?.unref();
  }

  write(line: string): void {
    if (this.#heldChars + line.length > mostHeldChars) {
      this.#nDroppedLines += 1;
      return;
    }
    this.#held.push(line);
    this.#heldChars += line.length;
    if (this.#heldChars >= gatheredChars && !this.#isWaiting) this.#advance();
    else this.#schedule();
  }

  flush(): void {
    const deadline = performance.now() + flushWaitMs;
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (!this.#advance() && performance.now() < deadline) Atomics.wait(clock, 0, 0, retryMs);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const advance = (): void => {
      this.#isScheduled = false;
      this.#advance();
    };
    if (this.#isWaiting) setTimeout(advance, retryMs).unref();
    else setImmediate(advance);
  }

  /** Writes as much as is taken; the rest follows later. True: nothing is left. */
  #advance(): boolean {
    this.#isWaiting = false;
    while (this.#nWritten < this.#bytes.length || this.#takeHeld()) {
      if (this.#writeSome()) continue;
      this.#isWaiting = true;
      this.#schedule();
      return false;
    }
    return true;
  }

  #takeHeld(): boolean {
    if (this.#nDroppedLines > 0)
      this.#held.push(`{"level":"warn","message":"${this.#nDroppedLines} log lines dropped: the reader is too slow"}\n`);
    this.#bytes = Buffer.from(this.#held.join(''));
    this.#nWritten = 0;
    this.#held = [];
    this.#heldChars = 0;
    this.#nDroppedLines = 0;
    return this.#bytes.length > 0;
  }

  /** False: the pipe is full. */
  #writeSome(): boolean {
    try {
      this.#nWritten += writeSync(this.#fd, this.#bytes, this.#nWritten);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
      // The reader is gone, or the disk is full: nobody is left to tell, and later lines may find it otherwise.
      this.#nWritten = this.#bytes.length;
      return true;
    }
  }
}

/**
 * Pipes and sockets block by default, and one that nobody reads would hold every request up. Node offers no other way to change that
 * than to open a stream on them; at its end it puts back what it changed of the standard streams.
 */
function openPipe(fd: number): Socket | undefined {
  const kind = fstatSync(fd);
  return kind.isFIFO() || kind.isSocket() ? new Socket({ fd, readable: false, writable: true }) : undefined;
}
