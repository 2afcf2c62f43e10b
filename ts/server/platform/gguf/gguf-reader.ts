/**
 * Reads the header of a GGUF file (versions 2 and 3) that may have been made to do harm: every count, length and offset is held
 * against the file's size and fixed limits before anything is allocated. Format: ggml/include/gguf.h and ggml/src/gguf.cpp.
 */
import { open } from 'node:fs/promises';
import { FileCursor } from './file-cursor.ts';
import { GgufError } from './gguf-error.ts';
import { ggufLimits, maxKeptBytesWithArrays } from './gguf-limits.ts';
import { findNumber, type GgufMetadata } from './gguf-value.ts';
import { align, type GgufTensor, readTensors } from './tensor-reader.ts';
import { ValueReader } from './value-reader.ts';

export interface GgufFile {
  version: number;
  metadata: GgufMetadata;
  tensors: GgufTensor[];
  /** Byte of the file at which tensor data begins. */
  dataOffset: number;
  fileBytes: number;
  /** Present when the file is one part of a split model; index counts from 0. */
  split?: { index: number; count: number };
}

interface GgufReadOptions {
  /** 'skip' (the default) leaves the values of arrays with more than 1,024 elements out. */
  arrays?: 'skip' | 'load';
}

/** Throws GgufError for a file that is no sound GGUF, and Node's own error when it cannot be opened or read. */
export async function readGguf(path: string, { arrays = 'skip' }: GgufReadOptions = {}): Promise<GgufFile> {
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new GgufError({ code: 'not_gguf', offset: 0, expected: 'a regular file', found: 'something else' });
    return await readHeader(new FileCursor(file, stat.size), arrays === 'load');
  } finally {
    await file.close();
  }
}

async function readHeader(cursor: FileCursor, loadBigArrays: boolean): Promise<GgufFile> {
  const version = await readVersion(cursor);
  const limits = loadBigArrays ? { ...ggufLimits, maxKeptBytes: maxKeptBytesWithArrays } : ggufLimits;
  await cursor.need(16, 'the tensor and key counts');
  // The smallest tensor entry has 8 + 1 + 4 + 4 + 8 bytes, the smallest key 8 + 1 + 4 + 1.
  const nTensors = readCount(cursor, 'tensors', limits.maxTensors, 25);
  const nKeys = readCount(cursor, 'metadata keys', limits.maxKeys, 14);
  const values = new ValueReader(cursor, limits, loadBigArrays);
  const metadata = await readMetadata(cursor, values, nKeys);
  const alignment = getAlignment(metadata, cursor.offset);
  const tensors = await readTensors(cursor, values, nTensors, alignment);
  const dataOffset = align(cursor.offset, alignment);
  checkDataInside(tensors, dataOffset, cursor.fileBytes);
  const split = findSplit(metadata, cursor.offset);
  return { version, metadata, tensors, dataOffset, fileBytes: cursor.fileBytes, ...(split && { split }) };
}

async function readVersion(cursor: FileCursor): Promise<number> {
  if (cursor.fileBytes < 4)
    throw new GgufError({ code: 'not_gguf', offset: 0, expected: '"GGUF"', found: `${cursor.fileBytes} bytes` });
  await cursor.need(4, 'the magic');
  const magic = cursor.take(4).toString('latin1');
  if (magic !== 'GGUF') throw new GgufError({ code: 'not_gguf', offset: 0, expected: '"GGUF"', found: JSON.stringify(magic) });
  await cursor.need(4, 'the version');
  const version = cursor.u32();
  if (version === 2 || version === 3) return version;
  const hint = (version & 0xffff) === 0 ? ' (a big-endian file?)' : '';
  throw new GgufError({ code: 'unsupported_version', offset: 4, expected: 'version 2 or 3', found: `${version}${hint}` });
}

function readCount(cursor: FileCursor, what: string, max: number, leastBytes: number): number {
  const offset = cursor.offset;
  const count = cursor.u64(`the number of ${what}`);
  const found = String(count);
  if (count > max) throw new GgufError({ code: 'too_large', offset, expected: `at most ${max} ${what}`, found });
  if (count * leastBytes > cursor.remaining) {
    const expected = `a number of ${what} that fits into ${cursor.remaining} bytes`;
    throw new GgufError({ code: 'truncated', offset, expected, found });
  }
  return count;
}

async function readMetadata(cursor: FileCursor, values: ValueReader, count: number): Promise<GgufMetadata> {
  const metadata: GgufMetadata = new Map();
  for (let i = 0; i < count; i++) {
    const offset = cursor.offset;
    const key = await values.name('a metadata key', ggufLimits.maxKeyBytes);
    if (metadata.has(key)) throw new GgufError({ code: 'invalid', offset, expected: 'every key once', found: `${key} twice` });
    metadata.set(key, await values.value(key));
  }
  return metadata;
}

function getAlignment(metadata: GgufMetadata, offset: number): number {
  const value = metadata.get('general.alignment');
  if (value === undefined) return 32;
  const alignment = value.type === 'uint32' ? value.value : 0;
  const isPowerOfTwo = alignment > 0 && (alignment & (alignment - 1)) === 0;
  if (isPowerOfTwo && alignment <= ggufLimits.maxAlignment) return alignment;
  const expected = `general.alignment as uint32, a power of two up to ${ggufLimits.maxAlignment}`;
  throw new GgufError({ code: 'invalid', offset, expected, found: value.type === 'uint32' ? String(alignment) : value.type });
}

function checkDataInside(tensors: readonly GgufTensor[], dataOffset: number, fileBytes: number): void {
  for (const { name, offset, sizeBytes } of tensors) {
    const end = dataOffset + offset + sizeBytes;
    if (end <= fileBytes) continue;
    const expected = `${sizeBytes} bytes of tensor ${name}`;
    const found = `a file of ${fileBytes} bytes`;
    throw new GgufError({ code: 'truncated', offset: dataOffset + offset, expected, found });
  }
}

function findSplit(metadata: GgufMetadata, offset: number): { index: number; count: number } | undefined {
  const count = findNumber(metadata, 'split.count') ?? 0;
  if (!metadata.has('split.count') || count === 1) return undefined;
  const index = findNumber(metadata, 'split.no') ?? -1;
  const isSound =
    Number.isInteger(count) && count >= 0 && count <= 65_535 && Number.isInteger(index) && index >= 0 && index < count;
  if (isSound) return { index, count };
  // llama.cpp writes split.count = 0 into a model that was merged again (tools/gguf-split).
  if (count === 0 && metadata.get('split.count')?.type === 'uint16') return undefined;
  throw new GgufError({
    code: 'invalid',
    offset,
    expected: 'split.no from 0 to below split.count',
    found: `${index} of ${count}`,
  });
}
