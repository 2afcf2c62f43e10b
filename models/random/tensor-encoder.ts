/** Number formats that the generator can write. Layouts: block_q4_0 and block_q8_0 in ggml/src/ggml-common.h. */
import { toHalf } from './half.ts';

export type WeightType = 'f32' | 'f16' | 'q8_0' | 'q4_0';

const blockLength = 32;

/** Bytes of `values` in a format; for the quantised ones their number must be a multiple of 32. */
export const encodeTensor: Record<WeightType, (values: Float32Array) => Uint8Array> = {
  f32: (values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength),
  f16: encodeF16,
  q8_0: (values) => encodeBlocks(values, 34, quantiseQ8),
  q4_0: (values) => encodeBlocks(values, 18, quantiseQ4),
};

function encodeF16(values: Float32Array): Uint8Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) halves[i] = toHalf(values[i] as number);
  return Buffer.from(halves.buffer);
}

type Quantiser = (values: Float32Array, from: number, block: Buffer, at: number) => void;

function encodeBlocks(values: Float32Array, blockBytes: number, quantise: Quantiser): Uint8Array {
  if (values.length % blockLength !== 0)
    throw new RangeError(`${values.length} values are no whole number of blocks of ${blockLength}`);
  const bytes = Buffer.allocUnsafe((values.length / blockLength) * blockBytes);
  for (let from = 0, at = 0; from < values.length; from += blockLength, at += blockBytes) quantise(values, from, bytes, at);
  return bytes;
}

/** A half scale, then 32 signed bytes. */
function quantiseQ8(values: Float32Array, from: number, block: Buffer, at: number): void {
  const scale = Math.abs(extreme(values, from)) / 127;
  const inverse = scale === 0 ? 0 : 1 / scale;
  block.writeUInt16LE(toHalf(scale), at);
  for (let i = 0; i < blockLength; i++) block[at + 2 + i] = Math.round((values[from + i] as number) * inverse);
}

/** A half scale, then 32 numbers of 4 bits with an offset of 8: values 0-15 in the low nibbles, 16-31 in the high ones. */
function quantiseQ4(values: Float32Array, from: number, block: Buffer, at: number): void {
  const scale = extreme(values, from) / -8;
  const inverse = scale === 0 ? 0 : 1 / scale;
  block.writeUInt16LE(toHalf(scale), at);
  for (let i = 0; i < blockLength / 2; i++) {
    const low = nibble((values[from + i] as number) * inverse);
    const high = nibble((values[from + i + blockLength / 2] as number) * inverse);
    block[at + 2 + i] = low | (high << 4);
  }
}

function nibble(steps: number): number {
  return Math.min(15, (steps + 8.5) | 0);
}

/** The value farthest from zero, with its sign. */
function extreme(values: Float32Array, from: number): number {
  let found = 0;
  for (let i = from; i < from + blockLength; i++) {
    const value = values[i] as number;
    if (Math.abs(value) > Math.abs(found)) found = value;
  }
  return found;
}
