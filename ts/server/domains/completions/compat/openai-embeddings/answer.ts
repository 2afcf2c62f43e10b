/** The body of an embedding answer, made in pieces: thousands of vectors are tens of megabytes of text, beside which streams go on. */

import { endianness } from 'node:os';
import { maxFloatBytes, writeFloat } from './float-text.ts';

export interface EmbeddingAnswer {
  model: string;
  vectors: readonly Float32Array[];
  /** Little-endian floats in base64 in place of numbers. */
  isBase64: boolean;
  nTokens: number;
}

/** Longest time between two turns of the event loop, milliseconds; one vector more may come on top. */
const sliceMs = 2;

/** A chunk for each vector, with a turn of the event loop between those that took a while. The client's pace may be slower still. */
export async function* embeddingChunks({ model, vectors, isBase64, nTokens }: EmbeddingAnswer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"object":"list","model":${JSON.stringify(model)},"data":[`);
  let beganAt = performance.now();
  for (const [index, vector] of vectors.entries()) {
    if (performance.now() - beganAt > sliceMs) {
      await new Promise((resolve) => setImmediate(resolve));
      beganAt = performance.now();
    }
    yield vectorEntry(index, vector, isBase64);
  }
  yield Buffer.from(`],"usage":${JSON.stringify({ prompt_tokens: nTokens, total_tokens: nTokens })}}`);
}

function vectorEntry(index: number, vector: Float32Array, isBase64: boolean): Uint8Array {
  const head = `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":`;
  if (isBase64) return Buffer.from(`${head}"${encodeVector(vector)}"}`, 'latin1');
  const bytes = Buffer.allocUnsafe(head.length + (maxFloatBytes + 1) * vector.length + 3);
  let end = bytes.write(`${head}[`, 'latin1');
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) bytes[end++] = 0x2c;
    end = writeFloat(vector[i] as number, bytes, end);
  }
  end += bytes.write(']}', end, 'latin1');
  // A copy, since what waits for a slow client should not hold the room that no digit took.
  return Uint8Array.prototype.slice.call(bytes, 0, end);
}

/** The first nDimensions of a vector, of length 1 again (Matryoshka embeddings keep their meaning so). */
export function shortenVector(vector: Float32Array, nDimensions: number): Float32Array {
  const kept = vector.slice(0, nDimensions);
  let sum = 0;
  for (const value of kept) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? kept.map((value) => value / length) : kept;
}

/** Base64 of little-endian 32-bit floats, what OpenAI's SDKs ask for unless told. */
function encodeVector(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}
