/**
 * The index of one file of a copy: for each frame where it lies, which times and severities it has, and which tokens. It is only ever appended to, each
 * record with a checksum, so that it may be read while it grows; whatever is behind the last good record is as if it were not there.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

export interface IndexedFrame {
  /** The place in the file of the copy. */
  offset: number;
  /** Its size as it lies in the file: packed, or of lines. */
  sizeBytes: number;
  /** The size of its lines. */
  rawBytes: number;
  nLines: number;
  nBad: number;
  nRedacted: number;
  minMs: number;
  maxMs: number;
  /** Bits. */
  severities: number;
  filter: Uint8Array;
}

const HEAD_BYTES = 8;
const FIXED_BYTES = 52;
const MOST_RECORD_BYTES = 16 * 1024 * 1024;
const MOST_HEAD_BYTES = 256;
/** The first and the last bytes of a packed file tell it from others. */
const SAMPLE_BYTES = 64 * 1024;

/** Names what an index was made of: a file that grows, by its inode; or a packed one by its bytes, since both copies have the same. */
export async function sourceOf(file: FileHandle, isPacked: boolean): Promise<string> {
  const { ino, size } = await file.stat();
  if (!isPacked) return `open ${ino}`;
  const sample = Buffer.alloc(Math.min(SAMPLE_BYTES, size));
  await file.read(sample, 0, sample.length, 0);
  const first = crc32(sample);
  await file.read(sample, 0, sample.length, Math.max(0, size - sample.length));
  return `packed ${size} ${crc32(sample, first)}`;
}

export function encodeFrame(frame: IndexedFrame): Buffer {
  const record = Buffer.alloc(HEAD_BYTES + FIXED_BYTES + frame.filter.length);
  const body = record.subarray(HEAD_BYTES);
  body.writeDoubleLE(frame.offset, 0);
  body.writeUInt32LE(frame.sizeBytes, 8);
  body.writeUInt32LE(frame.rawBytes, 12);
  body.writeUInt32LE(frame.nLines, 16);
  body.writeUInt32LE(frame.nBad, 20);
  body.writeUInt32LE(frame.nRedacted, 24);
  body.writeDoubleLE(frame.minMs, 28);
  body.writeDoubleLE(frame.maxMs, 36);
  body.writeUInt32LE(frame.severities, 44);
  body.set(frame.filter, FIXED_BYTES);
  record.writeUInt32LE(body.length, 0);
  record.writeUInt32LE(crc32(body), 4);
  return record;
}

function decodeFrame(body: Buffer): IndexedFrame {
  return {
    offset: body.readDoubleLE(0),
    sizeBytes: body.readUInt32LE(8),
    rawBytes: body.readUInt32LE(12),
    nLines: body.readUInt32LE(16),
    nBad: body.readUInt32LE(20),
    nRedacted: body.readUInt32LE(24),
    minMs: body.readDoubleLE(28),
    maxMs: body.readDoubleLE(36),
    severities: body.readUInt32LE(44),
    filter: body.subarray(FIXED_BYTES),
  };
}

/** An index as far as it was read. */
export class HourIndex {
  readonly path: string;
  source: string | undefined;
  frames: IndexedFrame[] = [];
  /** The bytes of the index up to its last good record. */
  goodBytes = 0;
  /** The size of the file when it was read last. */
  #sizeBytes = 0;
  #changedMs = 0;
  #head: string | undefined;
  /** Searches that run beside each other read it once. */
  #refreshing: Promise<void> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Up to here its frames cover the file, without a gap. */
  get covered(): number {
    const last = this.frames.at(-1);
    return last === undefined ? 0 : last.offset + last.sizeBytes;
  }

  /** Bytes that it holds in memory. */
  get sizeBytes(): number {
    return this.goodBytes;
  }

  /** Reads what has come; all of it where the index was begun again, or is gone. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #read(): Promise<void> {
    const found = await stat(this.path).catch(() => undefined);
    if (found === undefined) return this.#forget();
    if (found.size === this.#sizeBytes && found.mtimeMs === this.#changedMs) return;
    const file = await open(this.path, 'r').catch(() => undefined);
    if (file === undefined) return this.#forget();
    try {
      const { size, mtimeMs } = await file.stat();
      const head = headOf((await readAt(file, 0, Math.min(size, MOST_HEAD_BYTES))).toString('latin1'));
      if (head !== this.#head || size < this.goodBytes) this.#forget();
      if (head === undefined) return;
      if (this.#head === undefined) this.#begin(head);
      this.#take(await readAt(file, this.goodBytes, Math.max(0, size - this.goodBytes)));
      [this.#sizeBytes, this.#changedMs] = [size, mtimeMs];
    } finally {
      await file.close();
    }
  }

  #begin(head: string): void {
    this.#head = head;
    this.source = head.slice(head.indexOf(' ') + 1);
    this.goodBytes = head.length + 1;
  }

  #forget(): void {
    this.#head = undefined;
    this.source = undefined;
    this.frames = [];
    this.goodBytes = 0;
    this.#sizeBytes = 0;
    this.#changedMs = 0;
  }

  #take(bytes: Buffer): void {
    let at = 0;
    while (bytes.length >= at + HEAD_BYTES) {
      const size = bytes.readUInt32LE(at);
      const end = at + HEAD_BYTES + size;
      if (size < FIXED_BYTES || size > MOST_RECORD_BYTES || end > bytes.length) break;
      const body = bytes.subarray(at + HEAD_BYTES, end);
      if (crc32(body) !== bytes.readUInt32LE(at + 4)) break;
      const frame = decodeFrame(body);
      if (frame.offset !== this.covered) break;
      this.frames.push(frame);
      at = end;
    }
    this.goodBytes += at;
  }
}

/** The first line of an index that begins: a name of its own, since another file may take its place, and what it is made of. */
export function newHead(source: string): string {
  return `${randomUUID()} ${source}\n`;
}

function headOf(text: string): string | undefined {
  const end = text.indexOf('\n');
  return end < 0 ? undefined : text.slice(0, end);
}

async function readAt(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  return bytes.subarray(0, bytesRead);
}
