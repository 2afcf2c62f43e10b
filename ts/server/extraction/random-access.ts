/** A file that is read by ranges, so that a large archive need not be in memory. Reading is synchronous: it happens in a thread of its own. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ExtractionRefusal } from './extraction-refusal.ts';

export interface RandomAccess {
  readonly sizeBytes: number;
  /** As many bytes as there are, at most `length`. */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

export function bytesAccess(bytes: Uint8Array): RandomAccess {
  return { sizeBytes: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length), close: () => {} };
}

export function fileAccess(path: string): RandomAccess {
  const file = openSync(path, 'r');
  const sizeBytes = fstatSync(file).size;
  return {
    sizeBytes,
    read: (offset, length) => {
      const buffer = new Uint8Array(Math.max(0, Math.min(length, sizeBytes - offset)));
      let filled = 0;
      while (filled < buffer.length) {
        const n = readSync(file, buffer, filled, buffer.length - filled, offset + filled);
        if (n === 0) break;
        filled += n;
      }
      return buffer.subarray(0, filled);
    },
    close: () => closeSync(file),
  };
}

/** Throws `file_too_large`. */
export function readWhole(source: RandomAccess, maxBytes: number): Uint8Array {
  if (source.sizeBytes <= maxBytes) return source.read(0, source.sizeBytes);
  throw new ExtractionRefusal(
    'file_too_large',
    `The file has ${source.sizeBytes} bytes, and at most ${maxBytes} of this kind are read.`,
  );
}
