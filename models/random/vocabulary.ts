import { join } from 'node:path';
import { fetchSource, readPins } from '../../scripts/setup/sources.mjs';
import { readGguf } from '../../ts/server/platform/gguf/gguf-reader.ts';
import { findStrings, type GgufMetadata } from '../../ts/server/platform/gguf/gguf-value.ts';
import type { Vocabulary } from './shapes.ts';

export interface Tokenizer {
  metadata: GgufMetadata;
  nVocab: number;
}

/** Folder of the vocabulary files and tokenizer cases that the pinned llama.cpp carries; fetched when it is not there yet. */
export async function vocabularyFolder(): Promise<string> {
  const pin = readPins()['llama.cpp'];
  if (!pin) throw new Error('native/sources.json has no entry llama.cpp');
  return join(await fetchSource(pin), 'models');
}

/** The tokenizer's keys of models/ggml-vocab-<name>.gguf, without its chat template. */
export async function readTokenizer(name: Vocabulary): Promise<Tokenizer> {
  const path = join(await vocabularyFolder(), `ggml-vocab-${name}.gguf`);
  const { metadata } = await readGguf(path, { arrays: 'load' });
  const kept = [...metadata].filter(([key]) => key.startsWith('tokenizer.') && key !== 'tokenizer.chat_template');
  const nVocab = findStrings(metadata, 'tokenizer.ggml.tokens')?.length;
  if (nVocab === undefined) throw new Error(`${path} has no tokens`);
  return { metadata: new Map(kept), nVocab };
}
