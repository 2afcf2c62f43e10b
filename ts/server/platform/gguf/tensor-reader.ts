import type { FileCursor } from './file-cursor.ts';
import { findGgmlType, type GgmlType, ggmlTypes, tensorBytes } from './ggml-type.ts';
import { GgufError } from './gguf-error.ts';
import { maxTensorDims, maxTensorNameBytes } from './gguf-limits.ts';
import type { ValueReader } from './value-reader.ts';

export interface GgufTensor {
  name: string;
  /** Fastest-varying dimension first, as ggml counts. */
  dims: number[];
  /** ggml's name of the number format, for example q4_0. */
  type: string;
  /** Bytes from the start of the data section. */
  offset: number;
  sizeBytes: number;
}

/** Reads the tensor table; whether the data lies inside the file is for the caller, who knows where data begins. */
export async function readTensors(
  cursor: FileCursor,
  values: ValueReader,
  count: number,
  alignment: number,
): Promise<GgufTensor[]> {
  const tensors: GgufTensor[] = [];
  const names = new Set<string>();
  let nextOffset = 0;
  for (let i = 0; i < count; i++) {
    const offset = cursor.offset;
    const tensor = await readTensor(cursor, values, nextOffset);
    if (names.has(tensor.name)) {
      throw new GgufError({ code: 'invalid', offset, expected: 'every tensor name once', found: `${tensor.name} twice` });
    }
    names.add(tensor.name);
    tensors.push(tensor);
    nextOffset = align(tensor.offset + tensor.sizeBytes, alignment);
  }
  return tensors;
}

export function align(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

async function readTensor(cursor: FileCursor, values: ValueReader, expectedOffset: number): Promise<GgufTensor> {
  const name = await values.name('a tensor name', maxTensorNameBytes);
  await cursor.need(4, `the dimension count of ${name}`);
  const start = cursor.offset;
  const nDims = cursor.u32();
  if (nDims > maxTensorDims) {
    const expected = `${name} with at most ${maxTensorDims} dimensions`;
    throw new GgufError({ code: 'invalid', offset: start, expected, found: String(nDims) });
  }
  await cursor.need(nDims * 8 + 12, `the shape of ${name}`);
  const dims = Array.from({ length: nDims }, () => dimension(cursor, name));
  const type = tensorType(cursor, name);
  const sizeBytes = tensorBytes(type, dims);
  if (sizeBytes === undefined) {
    const expected = `${name} with rows of whole ${type.name} blocks (${type.blockLength}) and a size below 2^53 bytes`;
    throw new GgufError({ code: 'invalid', offset: start, expected, found: `dimensions ${dims.join(' x ')}` });
  }
  return { name, dims, type: type.name, offset: tensorOffset(cursor, name, expectedOffset), sizeBytes };
}

function dimension(cursor: FileCursor, name: string): number {
  const offset = cursor.offset;
  const dim = cursor.u64(`a dimension of ${name}`);
  if (dim === 0) throw new GgufError({ code: 'invalid', offset, expected: `${name} with dimensions of 1 or more`, found: '0' });
  return dim;
}

function tensorType(cursor: FileCursor, name: string): GgmlType {
  const offset = cursor.offset;
  const id = cursor.u32();
  const type = findGgmlType(id);
  const expected = `${name} in a known ggml type (0 to ${ggmlTypes.at(-1)?.id}, none of the removed ones)`;
  if (!type) throw new GgufError({ code: 'invalid', offset, expected, found: String(id) });
  return type;
}

/** llama.cpp accepts only tensors that follow each other in table order (ggml/src/gguf.cpp); that also excludes overlaps. */
function tensorOffset(cursor: FileCursor, name: string, expected: number): number {
  const offset = cursor.offset;
  const found = cursor.u64(`the data offset of ${name}`);
  if (found !== expected) {
    throw new GgufError({ code: 'invalid', offset, expected: `${name} at data offset ${expected}`, found: String(found) });
  }
  return found;
}
