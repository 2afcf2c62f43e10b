/** Small sound model files for tests. */
import { readFile } from 'node:fs/promises';
import type { GgufMetadata, GgufValue } from '../../../../platform/gguf/gguf-value.ts';
import { writeGguf } from '../../../../platform/gguf/gguf-writer.ts';

export interface TinyModelOptions {
  architecture?: string;
  /** Bytes of the single tensor; a multiple of four. */
  tensorBytes?: number;
  fill?: number;
  metadata?: Record<string, GgufValue>;
  withoutTensors?: boolean;
}

export const text = (value: string): GgufValue => ({ type: 'string', value });
export const number = (value: number): GgufValue => ({ type: 'uint32', value });

export async function writeTinyModel(path: string, options: TinyModelOptions = {}): Promise<Buffer> {
  const { architecture = 'qwen3', tensorBytes = 4096, fill = 7, metadata = {}, withoutTensors = false } = options;
  const all: GgufMetadata = new Map(
    Object.entries({
      'general.architecture': text(architecture),
      'general.file_type': number(0),
      [`${architecture}.context_length`]: number(512),
      ...metadata,
    }),
  );
  const data = () => [Buffer.alloc(tensorBytes, fill)];
  const tensors = withoutTensors ? [] : [{ name: 'blk.0.weight', dims: [tensorBytes / 4], type: 'f32', data }];
  await writeGguf(path, { metadata: all, tensors });
  return readFile(path);
}
