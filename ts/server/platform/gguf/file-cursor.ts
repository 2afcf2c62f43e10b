import type { FileHandle } from 'node:fs/promises';
import { GgufError } from './gguf-error.ts';
import { ggufLimits } from './gguf-limits.ts';

const windowBytes = 256 * 1024;

/**
 * Walks a GGUF header forward through a window of 256 KiB. `need(n)` brings the next n bytes into the window (and throws GgufError
 * `truncated` when the file ends before, `too_large` beyond the longest header); the read methods after it are synchronous.
 * `skip` reads nothing.
 */
export class FileCursor {
  readonly fileBytes: number;
  readonly #file: FileHandle;
  readonly #maxBytes: number;
  #window = Buffer.alloc(0);
  #windowStart = 0;
  #at = 0;

  /** @param maxBytes what is walked at most */
  constructor(file: FileHandle, fileBytes: number, maxBytes: number = ggufLimits.maxHeaderBytes) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.fileBytes = fileBytes;
  }

  get offset(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.fileBytes - this.#at;
  }

  /** True when the next n bytes are already in the window: then awaiting need() can be left out. */
  has(bytes: number): boolean {
    return this.#at + bytes <= this.#windowStart + this.#window.length;
  }

  async need(bytes: number, what: string): Promise<void> {
    if (this.has(bytes)) return;
    this.#check(bytes, what);
    const want = Math.min(Math.max(bytes, windowBytes), this.remaining);
    const window = Buffer.allocUnsafe(want);
    let filled = 0;
    while (filled < want) {
      const { bytesRead } = await this.#file.read(window, filled, want - filled, this.#at + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    this.#window = window.subarray(0, filled);
    this.#windowStart = this.#at;
    if (filled < bytes) throw this.#truncated(bytes, what, filled);
  }

  skip(bytes: number, what: string): void {
    this.#check(bytes, what);
    this.#at += bytes;
  }

  /** Skips up to `count` strings that begin in the window and have at most `maxBytes`; returns how many it skipped. */
  skipStrings(count: number, maxBytes: number): number {
    const { buffer, byteOffset, length } = this.#window;
    const view = new DataView(buffer, byteOffset, length);
    let at = this.#at - this.#windowStart;
    let n = 0;
    while (n < count && at + 8 <= length) {
      const bytes = view.getUint32(at, true);
      if (bytes > maxBytes || view.getUint32(at + 4, true) !== 0) break;
      at += 8 + bytes;
      n++;
    }
    const next = this.#windowStart + at;
    // Beyond the file or the longest header: the last of them is left to skip(), which says so.
    if (next > Math.min(this.fileBytes, this.#maxBytes)) return 0;
    this.#at = next;
    return n;
  }

  take(bytes: number): Buffer {
    const start = this.#at - this.#windowStart;
    this.#at += bytes;
    return this.#window.subarray(start, start + bytes);
  }

  u32(): number {
    const value = this.#window.readUInt32LE(this.#at - this.#windowStart);
    this.#at += 4;
    return value;
  }

  /** A u64 that must be a safe integer; `what` names it in the error. */
  u64(what: string): number {
    const at = this.#at - this.#windowStart;
    const high = this.#window.readUInt32LE(at + 4);
    if (high >= 2 ** 21) {
      const found = String(this.#window.readBigUInt64LE(at));
      throw new GgufError({ code: 'invalid', offset: this.#at, expected: `${what} below 2^53`, found });
    }
    this.#at += 8;
    return high * 2 ** 32 + this.#window.readUInt32LE(at);
  }

  #check(bytes: number, what: string): void {
    if (bytes > this.remaining) throw this.#truncated(bytes, what, this.remaining);
    const max = this.#maxBytes;
    if (this.#at + bytes <= max) return;
    throw new GgufError({
      code: 'too_large',
      offset: this.#at,
      expected: `a header within ${max} bytes`,
      found: `${bytes} bytes of ${what}`,
    });
  }

  #truncated(bytes: number, what: string, left: number): GgufError {
    return new GgufError({
      code: 'truncated',
      offset: this.#at,
      expected: `${bytes} bytes of ${what}`,
      found: `${left} bytes before the end of the file`,
    });
  }
}
