/** A tar archive (POSIX ustar) of small files that are in memory. */

const BLOCK = 512;
const MAX_NAME = 100;

export interface ArchivedFile {
  /** Plain names with slashes, at most 100 bytes. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** `modifiedAt` in Unix milliseconds. */
export function tarArchive(files: readonly ArchivedFile[], modifiedAt: number): Buffer {
  const parts = files.flatMap(({ name, bytes }) => [header(name, bytes.length, modifiedAt), bytes, padding(bytes.length)]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, sizeBytes: number, modifiedAt: number): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME) throw new RangeError(`${name} is too long a name for the archive`);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  writeOctal(block, 0o600, 100, 8);
  writeOctal(block, 0, 108, 8);
  writeOctal(block, 0, 116, 8);
  writeOctal(block, sizeBytes, 124, 12);
  writeOctal(block, Math.floor(modifiedAt / 1000), 136, 12);
  block.write('        0', 148);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function writeOctal(block: Buffer, value: number, offset: number, length: number): void {
  block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset);
}

function padding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK);
}
