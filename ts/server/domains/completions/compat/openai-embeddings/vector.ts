/** Embedding vectors on the wire. */
import { endianness } from 'node:os';

/** The first nDimensions of a vector, of length 1 again (Matryoshka embeddings keep their meaning so). */
export function shortenVector(vector: Float32Array, nDimensions: number): Float32Array {
  const kept = vector.slice(0, nDimensions);
  let sum = 0;
  for (const value of kept) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? kept.map((value) => value / length) : kept;
}

/** Base64 of little-endian 32-bit floats, what OpenAI's SDKs ask for unless told. */
export function encodeVector(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}
