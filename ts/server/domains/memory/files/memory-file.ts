/**
 * Memory files (`.exmm`): a header of 64 bytes, a directory, and sections at multiples of 64 bytes, each with its SHA-256. A file appears by rename. It is checked
 * whole before anything in it is read; worker threads do that, never the thread of the server.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  aligned,
  type FileSection,
  MAX_DIRECTORY_BYTES,
  MAX_SECTIONS,
  MemoryFileFault,
  readDirectory,
  type SectionKind,
  writeDirectory,
} from './directory.ts';

export interface SectionData {
  readonly kind: SectionKind;
  readonly name: string;
  readonly bytes: Uint8Array;
}

const MAGIC = 'SVC EXMM';
const FORMAT = 1;
const HEADER_BYTES = 64;
const ALIGNMENT = 64;
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** All sections of a file that is whole. Throws a MemoryFileFault, and what the file system throws. */
export function readMemoryFile(path: string): SectionData[] {
  const bytes = readWhole(path);
  return checkedSections(bytes).map(({ kind, name, offset, size }) => ({
    kind,
    name,
    bytes: bytes.subarray(offset, offset + size),
  }));
}

/** Throws a MemoryFileFault where the bytes are no memory file that is whole. */
export function checkedSections(bytes: Uint8Array): FileSection[] {
  const header = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES));
  if (bytes.length < HEADER_BYTES || new TextDecoder('latin1').decode(bytes.subarray(0, 8)) !== MAGIC)
    throw new MemoryFileFault('it is no memory file');
  if (header.getUint32(8, true) !== FORMAT) throw new MemoryFileFault(`it is of another format than ${FORMAT}`);
  const nBytes = header.getUint32(12, true);
  if (nBytes > MAX_DIRECTORY_BYTES || HEADER_BYTES + nBytes > bytes.length) throw new MemoryFileFault('its directory is cut off');
  const directory = bytes.subarray(HEADER_BYTES, HEADER_BYTES + nBytes);
  if (!isHashOf(bytes.subarray(16, 48), directory)) throw new MemoryFileFault('its directory is damaged');
  if (bytes.subarray(48, HEADER_BYTES).some((byte) => byte !== 0)) throw new MemoryFileFault('its header is damaged');
  const sections = readDirectory(directory);
  let lastEnd = HEADER_BYTES + nBytes;
  let end = aligned(lastEnd, ALIGNMENT);
  for (const { name, offset, size, sha256 } of sections) {
    if (offset !== end || offset + size > bytes.length || bytes.subarray(lastEnd, end).some((byte) => byte !== 0))
      throw new MemoryFileFault(`its section ${name} is not where it should be`);
    if (!isHashOf(sha256, bytes.subarray(offset, offset + size))) throw new MemoryFileFault(`its section ${name} is damaged`);
    lastEnd = offset + size;
    end = aligned(lastEnd, ALIGNMENT);
  }
  const places = sections.map(({ kind, name }) => `${kind} ${name}`);
  if (new Set(places).size < places.length) throw new MemoryFileFault('two of its sections have one name');
  if (bytes.length !== lastEnd) throw new MemoryFileFault('it is longer than its sections');
  return sections;
}

export function memoryFileBytes(sections: readonly SectionData[], created: number): Uint8Array {
  if (sections.length > MAX_SECTIONS) throw new MemoryFileFault(`it would have more than ${MAX_SECTIONS} sections`);
  const placed = (from: number): FileSection[] => {
    let end = from;
    return sections.map(({ kind, name, bytes }) => {
      const offset = aligned(end, ALIGNMENT);
      end = offset + bytes.length;
      return { kind, name, offset, size: bytes.length, sha256: hashOf(bytes) };
    });
  };
  // Its length does not depend on where the sections lie.
  const nBytes = writeDirectory(created, placed(0)).length;
  if (nBytes > MAX_DIRECTORY_BYTES) throw new MemoryFileFault('its directory would be too long');
  const places = placed(HEADER_BYTES + nBytes);
  const directory = writeDirectory(created, places);
  const last = places.at(-1);
  const bytes = new Uint8Array(last === undefined ? HEADER_BYTES + nBytes : last.offset + last.size);
  bytes.set(new TextEncoder().encode(MAGIC));
  const header = new DataView(bytes.buffer);
  header.setUint32(8, FORMAT, true);
  header.setUint32(12, nBytes, true);
  bytes.set(hashOf(directory), 16);
  bytes.set(directory, HEADER_BYTES);
  for (const [i, { offset }] of places.entries()) bytes.set((sections[i] as SectionData).bytes, offset);
  return bytes;
}

/** The file has the new sections or the old ones, at each moment. */
export function writeMemoryFile(path: string, sections: readonly SectionData[], created: number): void {
  const bytes = memoryFileBytes(sections, created);
  if (bytes.length > MAX_FILE_BYTES) throw new MemoryFileFault('it would be too large');
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function readWhole(path: string): Uint8Array {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(file);
    if (size > MAX_FILE_BYTES) throw new MemoryFileFault(`it has more than ${MAX_FILE_BYTES} bytes`);
    const bytes = new Uint8Array(size);
    let at = 0;
    for (let n = 1; at < size && n > 0; at += n) n = readSync(file, bytes, at, size - at, at);
    return bytes.subarray(0, at);
  } finally {
    closeSync(file);
  }
}

function hashOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

function isHashOf(hash: Uint8Array, bytes: Uint8Array): boolean {
  return Buffer.compare(hash, hashOf(bytes)) === 0;
}
