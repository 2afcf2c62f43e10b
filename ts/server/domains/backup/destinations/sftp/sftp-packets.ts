/** Packets of SFTP version 3 (draft-ietf-secsh-filexfer-02), which OpenSSH speaks. */

export const request = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  fstat: 8,
  setstat: 9,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rename: 18,
  extended: 200,
} as const;

export const response = { version: 2, status: 101, handle: 102, data: 103, name: 104, attributes: 105 } as const;
export const status = { ok: 0, eof: 1, noSuchFile: 2, permissionDenied: 3 } as const;
export const openFlags = { read: 1, write: 2, create: 8, truncate: 16, exclusive: 32 } as const;

/** OpenSSH sends at most 256 KiB and a little. */
const MAX_PACKET = 300 * 1024;
const REGULAR_FILE = 0o100000;
const FOLDER = 0o040000;
const KIND = 0o170000;

export interface Attributes {
  readonly sizeBytes: number | undefined;
  readonly kind: 'file' | 'folder' | 'other';
  /** Unix milliseconds. */
  readonly modifiedAt: number | undefined;
}

/** A number of 32 bits, or bytes behind their length. */
export type Field = number | string | Uint8Array | { readonly long: number };

/** A whole packet with its length. */
export function packet(type: number, ...fields: readonly Field[]): Buffer {
  const parts = fields.flatMap(encode);
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  return Buffer.concat([uint32(length), Buffer.from([type]), ...parts]);
}

function encode(field: Field): Uint8Array[] {
  if (typeof field === 'number') return [uint32(field)];
  if (typeof field === 'string') return encode(Buffer.from(field));
  if (field instanceof Uint8Array) return [uint32(field.length), field];
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(field.long));
  return [bytes];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Cuts what arrives into packets. Throws RangeError for one that is too long: nothing behind it can be read. */
export class PacketReader {
  #chunks: Buffer[] = [];
  #length = 0;

  *feed(chunk: Buffer): Generator<PacketBody> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= 4) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      this.#chunks = [all];
      const length = all.readUInt32BE(0);
      if (length < 1 || length > MAX_PACKET) throw new RangeError(`a packet of ${length} bytes`);
      if (all.length < 4 + length) return;
      this.#chunks = [all.subarray(4 + length)];
      this.#length = all.length - 4 - length;
      yield new PacketBody(all.subarray(4, 4 + length));
    }
  }
}

/** Reads one packet from its beginning. Every member throws RangeError at its end. */
export class PacketBody {
  readonly type: number;
  readonly #bytes: Buffer;
  #at = 1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.type = bytes.readUInt8(0);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    const value = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  bytes(): Buffer {
    const length = this.number();
    if (length > this.#bytes.length - this.#at) throw new RangeError('a text that is longer than its packet');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  attributes(): Attributes {
    const flags = this.number();
    const sizeBytes = flags & 1 ? this.#long() : undefined;
    if (flags & 2) this.#at += 8;
    const mode = flags & 4 ? this.number() & KIND : undefined;
    let modifiedAt: number | undefined;
    if (flags & 8) {
      this.number();
      modifiedAt = this.number() * 1000;
    }
    if (flags & 0x80000000) for (let n = this.number(); n > 0; n -= 1) [this.bytes(), this.bytes()];
    const kind = mode === REGULAR_FILE ? 'file' : mode === FOLDER ? 'folder' : 'other';
    return { sizeBytes, kind, modifiedAt };
  }

  #long(): number {
    const value = this.#bytes.readBigUInt64BE(this.#at);
    this.#at += 8;
    return Number(value);
  }
}
