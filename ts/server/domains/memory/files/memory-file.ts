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

/** Sections of a file by its directory alone: the bytes of sections are not read. Throws as readMemoryFile does. */
export function listSections(path: string): FileSection[] {
  return withFile(path, (file, size) => [...placesIn(file, size)]);
}

/** These sections of a file; the bytes of others are not read. Throws as readMemoryFile does. */
export function readSections(path: string, isWanted: (section: FileSection) => boolean): SectionData[] {
  return withFile(path, (file, fileSize) =>
    placesIn(file, fileSize)
      .filter(isWanted)
      .map(({ kind, name, offset, size, sha256 }) => {
        const bytes = readBytes(file, offset, size);
        if (!isHashOf(sha256, bytes)) throw new MemoryFileFault(`its section ${name} is damaged`);
        return { kind, name, bytes };
      }),
  );
}

/** Throws a MemoryFileFault where the bytes are no memory file that is whole. */
export function checkedSections(bytes: Uint8Array): FileSection[] {
  const sections = checkedPlaces(bytes, bytes.length);
  let lastEnd = HEADER_BYTES + directoryBytes(bytes);
  for (const { name, offset, size, sha256 } of sections) {
    if (bytes.subarray(lastEnd, offset).some((byte) => byte !== 0))
      throw new MemoryFileFault(`its section ${name} is not where it should be`);
    if (!isHashOf(sha256, bytes.subarray(offset, offset + size))) throw new MemoryFileFault(`its section ${name} is damaged`);
    lastEnd = offset + size;
  }
  return sections;
}

function placesIn(file: number, fileSize: number): FileSection[] {
  const header = readBytes(file, 0, Math.min(fileSize, HEADER_BYTES));
  const nBytes = header.length < HEADER_BYTES ? 0 : Math.min(directoryBytes(header), MAX_DIRECTORY_BYTES);
  return checkedPlaces(readBytes(file, 0, Math.min(fileSize, HEADER_BYTES + nBytes)), fileSize);
}

function directoryBytes(head: Uint8Array): number {
  return new DataView(head.buffer, head.byteOffset, HEADER_BYTES).getUint32(12, true);
}

/** @param head the header and the directory, or more. */
function checkedPlaces(head: Uint8Array, fileSize: number): FileSection[] {
  if (head.length < HEADER_BYTES || new TextDecoder('latin1').decode(head.subarray(0, 8)) !== MAGIC)
    throw new MemoryFileFault('it is no memory file');
  if (new DataView(head.buffer, head.byteOffset, HEADER_BYTES).getUint32(8, true) !== FORMAT)
    throw new MemoryFileFault(`it is of another format than ${FORMAT}`);
  const nBytes = directoryBytes(head);
  if (nBytes > MAX_DIRECTORY_BYTES || HEADER_BYTES + nBytes > head.length) throw new MemoryFileFault('its directory is cut off');
  const directory = head.subarray(HEADER_BYTES, HEADER_BYTES + nBytes);
  if (!isHashOf(head.subarray(16, 48), directory)) throw new MemoryFileFault('its directory is damaged');
  if (head.subarray(48, HEADER_BYTES).some((byte) => byte !== 0)) throw new MemoryFileFault('its header is damaged');
  const sections = readDirectory(directory);
  let lastEnd = HEADER_BYTES + nBytes;
  for (const { name, offset, size } of sections) {
    if (offset !== aligned(lastEnd, ALIGNMENT) || offset + size > fileSize)
      throw new MemoryFileFault(`its section ${name} is not where it should be`);
    lastEnd = offset + size;
  }
  const places = sections.map(({ kind, name }) => `${kind} ${name}`);
  if (new Set(places).size < places.length) throw new MemoryFileFault('two of its sections have one name');
  if (fileSize !== lastEnd) throw new MemoryFileFault('it is longer than its sections');
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
  writeWhole(path, bytes);
}

/** The file appears by rename: at each moment it is the old one or the new one. */
export function writeWhole(path: string, bytes: Uint8Array): void {
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

/** The bytes of a file that is not too large; no link is followed. */
export function readWhole(path: string): Uint8Array {
  return withFile(path, (file, size) => readBytes(file, 0, size));
}

function withFile<T>(path: string, read: (file: number, size: number) => T): T {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(file);
    if (size > MAX_FILE_BYTES) throw new MemoryFileFault(`it has more than ${MAX_FILE_BYTES} bytes`);
    return read(file, size);
  } finally {
    closeSync(file);
  }
}

function readBytes(file: number, from: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (let n = 1; at < size && n > 0; at += n) n = readSync(file, bytes, at, size - at, from + at);
  return bytes.subarray(0, at);
}

function hashOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

function isHashOf(hash: Uint8Array, bytes: Uint8Array): boolean {
  return Buffer.compare(hash, hashOf(bytes)) === 0;
}
