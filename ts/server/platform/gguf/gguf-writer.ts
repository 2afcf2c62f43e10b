/** Writes GGUF version 3. Format: ggml/include/gguf.h. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { getGgmlType, tensorBytes } from './ggml-type.ts';
import { findNumber, type GgufMetadata } from './gguf-value.ts';
import { align } from './tensor-reader.ts';
import { encodeString, encodeValue, u32, u64 } from './value-writer.ts';

export interface TensorToWrite {
  name: string;
  /** Fastest-varying dimension first. */
  dims: readonly number[];
  /** ggml's name of the number format, for example q4_0. */
  type: string;
  /** Called once, when it is this tensor's turn; yields exactly the bytes that dims and type imply. */
  data: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * Writes beside `path` and renames when all is on disk, so `path` is never half a file.
 * Throws RangeError when dims, type and data disagree.
 */
export async function writeGguf(
  path: string,
  { metadata, tensors }: { metadata: GgufMetadata; tensors: readonly TensorToWrite[] },
): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`;
  const file = await open(partial, 'wx');
  try {
    await writeAll(file, metadata, tensors);
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeAll(file: FileHandle, metadata: GgufMetadata, tensors: readonly TensorToWrite[]): Promise<void> {
  const alignment = findNumber(metadata, 'general.alignment') ?? 32;
  const header = encodeHeader(metadata, tensors, alignment);
  await file.writeFile(header);
  await file.writeFile(Buffer.alloc(align(header.length, alignment) - header.length));
  for (const tensor of tensors) {
    const bytes = sizeOf(tensor);
    await writeData(file, tensor, bytes);
    await file.writeFile(Buffer.alloc(align(bytes, alignment) - bytes));
  }
}

/** Everything before the tensors' data, which begins at the next multiple of the alignment, and where that data ends. */
export function ggufLayout(
  metadata: GgufMetadata,
  tensors: readonly Omit<TensorToWrite, 'data'>[],
): { header: Buffer; sizeBytes: number } {
  const alignment = findNumber(metadata, 'general.alignment') ?? 32;
  const header = encodeHeader(metadata, tensors, alignment);
  const dataBytes = tensors.reduce((sum, tensor) => sum + align(sizeOf(tensor), alignment), 0);
  return { header, sizeBytes: align(header.length, alignment) + dataBytes };
}

function encodeHeader(metadata: GgufMetadata, tensors: readonly Omit<TensorToWrite, 'data'>[], alignment: number): Buffer {
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.size)];
  for (const [key, value] of metadata) parts.push(encodeString(key), encodeValue(value));
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(encodeString(tensor.name), u32(tensor.dims.length), ...tensor.dims.map(u64));
    parts.push(u32(getGgmlType(tensor.type).id), u64(offset));
    offset += align(sizeOf(tensor), alignment);
  }
  return Buffer.concat(parts);
}

function sizeOf({ name, type, dims }: Omit<TensorToWrite, 'data'>): number {
  const bytes = tensorBytes(getGgmlType(type), dims);
  if (bytes === undefined) throw new RangeError(`tensor ${name}: ${dims.join(' x ')} is no shape for ${type}`);
  return bytes;
}

async function writeData(file: FileHandle, tensor: TensorToWrite, bytes: number): Promise<void> {
  let written = 0;
  for await (const chunk of tensor.data()) {
    written += chunk.length;
    await file.writeFile(chunk);
  }
  if (written !== bytes) throw new RangeError(`tensor ${tensor.name}: needs ${bytes} bytes of data, got ${written}`);
}
