/** Reads the two files of a voice: a text model, and the projector that turns its states into sound. */
import { readGguf } from '../../../../platform/gguf/gguf-reader.ts';
import { findString, findStrings, type GgufMetadata } from '../../../../platform/gguf/gguf-value.ts';
import { type HeldFile, VoiceFault } from './file-checks.ts';
import { readPocket } from './pocket-files.ts';
import { readQwen } from './qwen-files.ts';

export interface VoiceFacts {
  architecture: string;
  sampleRate: number;
  /** Codes of those that the model is told; undefined: it is told none. */
  languages: readonly string[] | undefined;
  /** The model's file names it. */
  license: string | undefined;
}

/** Throws VoiceFault; returns the languages that the model is told. */
type VoiceReader = (model: HeldFile, projector: HeldFile, tokens: readonly string[]) => readonly string[] | undefined;

/** Samples a second of all that the library makes. */
const RATE = 24_000;

/** Throws an error whose message says what is amiss. */
export async function readVoiceFiles(modelPath: string, projectorPath: string): Promise<VoiceFacts> {
  const model = await readGguf(modelPath, { arrays: 'load' });
  const projector = await readGguf(projectorPath, { arrays: 'load' });
  for (const { split } of [model, projector])
    if (split !== undefined) throw new VoiceFault('a voice has no files of several parts');
  const architecture = findString(model.metadata, 'general.architecture') ?? 'none';
  const tokens = readTokens(model.metadata);
  const readers: Readonly<Record<string, VoiceReader>> = { pockettts: readPocket, qwen3tts: readQwen };
  const readAs = readers[architecture];
  if (readAs === undefined) throw new VoiceFault(`its model is of the architecture ${architecture}, which does not speak`);
  const languages = readAs(model, projector, tokens);
  return { architecture, sampleRate: RATE, languages, license: findString(model.metadata, 'general.license') };
}

/** The tokens are named once each, and everything that there is for each token is there for all. */
function readTokens(metadata: GgufMetadata): readonly string[] {
  const tokens = findStrings(metadata, 'tokenizer.ggml.tokens') ?? [];
  if (tokens.length < 8) throw new VoiceFault(`its vocabulary has ${tokens.length} tokens`);
  if (new Set(tokens).size !== tokens.length || tokens.some((token) => token === '' || token.includes('\0')))
    throw new VoiceFault('its vocabulary names a token twice, or one that is empty');
  for (const key of ['scores', 'token_type']) {
    const value = metadata.get(`tokenizer.ggml.${key}`);
    if (value?.type === 'array' && value.length !== tokens.length)
      throw new VoiceFault(`it has ${value.length} ${key} for ${tokens.length} tokens`);
  }
  const map = metadata.get('tokenizer.ggml.precompiled_charsmap');
  if (map?.type === 'array' && !isCharacterMap(Uint8Array.from((map.values ?? []) as readonly number[])))
    throw new VoiceFault('its map of characters is damaged');
  return tokens;
}

/** The length of a table of words of four bytes, the table, and texts that each end with a zero. */
function isCharacterMap(bytes: Uint8Array): boolean {
  if (bytes.length < 5) return false;
  const nBytes = new DataView(bytes.buffer).getUint32(0, true);
  return nBytes % 4 === 0 && nBytes <= bytes.length - 5 && bytes.at(-1) === 0;
}
