/** Reads the parts of a ZIP file (PKWARE APPNOTE 6.3) by its central directory. Everything that the file says of itself is checked. */
import { crc32, createInflateRaw } from 'node:zlib';
import type { ExtractionLimits } from '../extraction-limits.ts';
import { damaged, ExtractionRefusal } from '../extraction-refusal.ts';
import type { RandomAccess } from '../random-access.ts';
import { readCentralDirectory } from './central-directory.ts';
import type { ZipEntry } from './zip-entry.ts';

const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
const READ_BYTES = 256 * 1024;

export class ZipArchive {
  readonly #source: RandomAccess;
  readonly #limits: ExtractionLimits;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  #expandedBytes = 0;

  /** Throws `damaged_file`, `encrypted_document`, `expands_too_much`. */
  constructor(source: RandomAccess, limits: ExtractionLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#entries = readCentralDirectory(source, limits.maxArchiveEntries);
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The unpacked bytes of a part, as they come. What all reads unpack together is limited. */
  async *chunks(name: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw damaged(`The document has no part ${JSON.stringify(name.slice(0, 100))}.`);
    if (entry.isEncrypted) throw new ExtractionRefusal('encrypted_document', 'The document is protected by a password.');
    let crc = 0;
    let sizeBytes = 0;
    for await (const chunk of this.#unpacked(entry)) {
      this.#count(chunk.length);
      sizeBytes += chunk.length;
      crc = crc32(chunk, crc);
      yield chunk;
    }
    if (sizeBytes !== entry.sizeBytes || crc !== entry.crc)
      throw damaged('A part of the document is damaged: its checksum is wrong.');
  }

  /** A whole part that is known to be small. */
  async bytes(name: string, maxBytes: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of this.chunks(name)) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes)
        throw new ExtractionRefusal('expands_too_much', `A part of the document has more than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async *#unpacked(entry: ZipEntry): AsyncGenerator<Uint8Array> {
    const start = this.#dataOffset(entry);
    if (entry.method === 'stored') return yield* this.#packed(entry, start);
    const inflate = createInflateRaw();
    const feed = async () => {
      for (const chunk of this.#packed(entry, start)) {
        if (inflate.destroyed) return;
        if (!inflate.write(chunk)) await new Promise<void>((resolve) => inflate.once('drain', resolve).once('close', resolve));
      }
      inflate.end();
    };
    const fed = feed().catch((error: unknown) => inflate.destroy(error as Error));
    try {
      for await (const chunk of inflate) yield chunk as Uint8Array;
      await fed;
    } catch (error) {
      if (error instanceof ExtractionRefusal) throw error;
      throw damaged('A part of the document cannot be unpacked.', error);
    } finally {
      inflate.destroy();
    }
  }

  *#packed(entry: ZipEntry, start: number): Generator<Uint8Array> {
    for (let at = 0; at < entry.packedBytes; at += READ_BYTES) {
      const chunk = this.#source.read(start + at, Math.min(READ_BYTES, entry.packedBytes - at));
      if (chunk.length === 0) throw damaged('The document ends in the middle of a part.');
      yield chunk;
    }
  }

  /** The local header repeats the name and has an extra field of its own, so its length is not known from the directory. */
  #dataOffset({ headerOffset }: ZipEntry): number {
    const header = this.#source.read(headerOffset, LOCAL_HEADER_BYTES);
    const view = new DataView(header.buffer, header.byteOffset, header.length);
    if (header.length < LOCAL_HEADER_BYTES || view.getUint32(0, true) !== LOCAL_HEADER)
      throw damaged('A part of the document has no header.');
    return headerOffset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
  }

  #count(nBytes: number): void {
    this.#expandedBytes += nBytes;
    const { maxExpandedBytes } = this.#limits;
    if (this.#expandedBytes > maxExpandedBytes)
      throw new ExtractionRefusal('expands_too_much', `The document unpacks to more than ${maxExpandedBytes} bytes.`);
  }
}
