/** A packed file: zstd frames of whole lines, each of which can be read alone, and which `zstdcat` reads as one (RFC 8878). */
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

/** Bytes of lines in a frame; a line that is longer has a frame of its own. */
export const FRAME_BYTES = 256 * 1024;
/** Frames of more are damage, or not ours. */
export const MOST_FRAME_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Writes lines as frames, in their order. */
export class FrameWriter {
  readonly #file: FileHandle;
  #lines: Buffer[] = [];
  #nBytes = 0;
  #nFrames = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<FrameWriter> {
    return new FrameWriter(await open(path, 'w', 0o640));
  }

  /** `line`: bytes as latin1, without its newline. */
  async add(line: string): Promise<void> {
    const bytes = Buffer.from(`${line}\n`, 'latin1');
    if (this.#nBytes > 0 && this.#nBytes + bytes.length > FRAME_BYTES) await this.#flush();
    this.#lines.push(bytes);
    this.#nBytes += bytes.length;
  }

  /** Resolves when all is on the disk. */
  async end(): Promise<void> {
    // A file without any frame would be no packed file.
    if (this.#nBytes > 0 || this.#nFrames === 0) await this.#flush();
    await this.#file.sync();
    await this.#file.close();
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#lines);
    this.#lines = [];
    this.#nBytes = 0;
    this.#nFrames += 1;
    await this.#file.write(await compress(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
  }
}

/** Opens a file for reading, and closes it whatever happens. */
export async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** The place of a frame in its file. */
export interface FramePlace {
  offset: number;
  sizeBytes: number;
}

const READ_BYTES = 1024 * 1024;

/** The frames of a file from an offset on, without what they hold. Throws where bytes are no frame, and where the last one is cut. */
export async function* framesOf(file: FileHandle, from = 0): AsyncGenerator<FramePlace> {
  const { size } = await file.stat();
  let buffer = Buffer.alloc(Math.min(READ_BYTES, Math.max(1, size - from)));
  for (let offset = from; offset < size; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    let at = 0;
    for (
      let end = endOfFrame(buffer.subarray(0, bytesRead), at);
      end !== undefined;
      end = endOfFrame(buffer.subarray(0, bytesRead), at)
    ) {
      yield { offset: offset + at, sizeBytes: end - at };
      at = end;
      if (at === bytesRead) break;
    }
    if (at === 0) {
      if (offset + bytesRead >= size) throw new Error(`the frame at ${offset} is cut`);
      if (buffer.length >= MOST_FRAME_BYTES) throw new Error(`the frame at ${offset} is too large`);
      buffer = Buffer.alloc(Math.min(buffer.length * 4, MOST_FRAME_BYTES));
    }
    offset += at;
  }
}

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;

/** Undefined: more bytes are needed. Throws where no frame begins. */
function endOfFrame(bytes: Buffer, begin: number): number | undefined {
  if (bytes.length < begin + 5) return undefined;
  const magic = bytes.readUInt32LE(begin);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE)
    return endWithin(bytes, bytes.length < begin + 8 ? Infinity : begin + 8 + bytes.readUInt32LE(begin + 4));
  if (magic !== MAGIC) throw new Error('these bytes are no zstd frame');
  const descriptor = bytes[begin + 4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const contentBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  let at = begin + 5 + (isSingle ? 0 : 1) + dictionaryBytes + contentBytes;
  for (let isLast = false; !isLast; ) {
    if (bytes.length < at + 3) return undefined;
    const header = bytes.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    const type = (header >> 1) & 3;
    if (type === 3) throw new Error('a block of a zstd frame has no type');
    at += 3 + (type === 1 ? 1 : header >> 3);
  }
  return endWithin(bytes, at + ((descriptor & 4) === 0 ? 0 : 4));
}

function endWithin(bytes: Buffer, end: number): number | undefined {
  return end <= bytes.length ? end : undefined;
}

/** Reads what a frame holds. Throws where its checksum, which every one of ours has, is wrong. */
export async function readFrame(file: FileHandle, { offset, sizeBytes }: FramePlace): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  if (bytesRead < sizeBytes) throw new Error(`the frame at ${offset} is cut`);
  return await decompress(bytes, { maxOutputLength: MOST_FRAME_BYTES });
}

/** Returns where the lines end that fit into a frame: at a newline, or behind the one line that is longer. Undefined: no line has ended. */
export function endOfLines(bytes: Buffer): number | undefined {
  const end = bytes.subarray(0, FRAME_BYTES).lastIndexOf(NEWLINE);
  const found = end >= 0 ? end : bytes.indexOf(NEWLINE, FRAME_BYTES);
  return found < 0 ? undefined : found + 1;
}
