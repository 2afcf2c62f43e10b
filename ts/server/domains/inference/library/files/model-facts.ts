/** Reads what a model file says about itself, without loading it. */
import { open } from 'node:fs/promises';
import { type GgufFile, readGguf } from '../../../../platform/gguf/gguf-reader.ts';
import { findBoolean, findNumber, findString, type GgufMetadata } from '../../../../platform/gguf/gguf-value.ts';
import type { ModelKind } from '../../models/model-source.ts';
import { LibraryError } from './library-error.ts';
import { type ProjectorFacts, projectorFacts } from './projector-facts.ts';
import { readSpeechFacts } from './speech-facts.ts';

/** `projector` and `adapter` files belong to another model; `speech` is a whisper file. */
export type FileKind = ModelKind | 'projector' | 'adapter' | 'speech';

export interface ModelFacts {
  kind: FileKind;
  architecture: string;
  family: string;
  nParams: number;
  nCtxTrain: number;
  quantisation?: string;
  title?: string;
  license?: string;
  demonstration?: string;
  /** It writes, and has no chat template. */
  isBase?: true;
  split?: { index: number; count: number };
  /** The facts of a projector file. */
  projector?: ProjectorFacts;
}

/** Architectures without a decoder: src/llama-arch.cpp and the converters of llama.cpp. */
const encoders =
  /^(bert|modern-bert|neo-bert|nomic-bert|nomic-bert-moe|jina-bert-v2|jina-bert-v3|eurobert|t5encoder|gemma-embedding)$/;

/** Magic of whisper.cpp's own format: 0x67676d6c in little-endian order. */
const whisperMagic = 'lmgg';

/** Throws LibraryError not_a_model for a file that is neither a sound GGUF nor a whisper model. */
export async function readModelFacts(path: string): Promise<ModelFacts> {
  const magic = await readMagic(path);
  try {
    return magic === whisperMagic ? await speechFactsOf(path) : factsOf(await readGguf(path));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LibraryError(
      'not_a_model',
      `${path}: ${reason}`,
      'the file is damaged or no model: fetch it again, or convert it first',
      error,
    );
  }
}

async function speechFactsOf(path: string): Promise<ModelFacts> {
  return { kind: 'speech', architecture: 'whisper', family: 'whisper', nCtxTrain: 0, ...(await readSpeechFacts(path)) };
}

export function isModelMagic(magic: string): boolean {
  return magic === 'GGUF' || magic === whisperMagic;
}

async function readMagic(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function factsOf(gguf: GgufFile): ModelFacts {
  const { metadata, tensors, split } = gguf;
  const architecture = findString(metadata, 'general.architecture') ?? 'unknown';
  const nParams = tensors.reduce((sum, { dims }) => sum + dims.reduce((product, dim) => product * dim, 1), 0);
  const fileType = findNumber(metadata, 'general.file_type');
  const quantisation = fileType === undefined ? undefined : fileTypeName(fileType);
  const title = findString(metadata, 'general.name');
  const license = findString(metadata, 'general.license');
  const demonstration = findDemonstration(metadata);
  const kind = kindOf(gguf, architecture);
  return {
    kind,
    architecture,
    family: familyOf(metadata, architecture),
    nParams,
    nCtxTrain: findNumber(metadata, `${architecture}.context_length`) ?? 0,
    ...(quantisation !== undefined && { quantisation }),
    ...(title !== undefined && { title }),
    ...(license !== undefined && { license }),
    ...(demonstration !== undefined && { demonstration }),
    ...(kind === 'chat' && findString(metadata, 'tokenizer.chat_template') === undefined && { isBase: true }),
    ...(split && { split }),
    ...(kind === 'projector' && { projector: projectorFacts(metadata) }),
  };
}

/** The models of this repository mark themselves; their description says what to expect of them. */
function findDemonstration(metadata: GgufMetadata): string | undefined {
  if (!findBoolean(metadata, 'svc.demonstration')) return undefined;
  return `${findString(metadata, 'general.description') ?? 'A demonstration model.'} \`svc models pull\` gets a real one.`;
}

function kindOf({ metadata, tensors }: GgufFile, architecture: string): FileKind {
  const type = findString(metadata, 'general.type');
  if (architecture === 'clip' || type === 'mmproj') return 'projector';
  if (type === 'adapter') return 'adapter';
  if (tensors.length === 0 && !metadata.has('split.count')) return 'vocab';
  // Numbers of enum llama_pooling_type (include/llama.h): none 0, mean 1, cls 2, last 3, rank 4.
  const pooling = findNumber(metadata, `${architecture}.pooling_type`);
  const hasRankHead = encoders.test(architecture) && tensors.some(({ name }) => name === 'cls.output.weight');
  if (pooling === 4 || hasRankHead) return 'rerank';
  return (pooling ?? 0) > 0 || encoders.test(architecture) ? 'embedding' : 'chat';
}

/** Letters that the architecture starts with: qwen2, qwen3moe -> qwen. Many models share the llama architecture; their base name tells more. */
function familyOf(metadata: GgufMetadata, architecture: string): string {
  const letters = (text: string | undefined) => /^[a-z]+/.exec(text?.toLowerCase() ?? '')?.[0];
  const base = architecture === 'llama' ? letters(findString(metadata, 'general.basename')) : undefined;
  return base ?? letters(architecture) ?? architecture;
}

/** Names for general.file_type: include/llama.h of llama.cpp, enum llama_ftype; gaps are numbers that were withdrawn. */
const names: readonly (string | undefined)[] = [
  ...['F32', 'F16', 'Q4_0', 'Q4_1', undefined, undefined, undefined, 'Q8_0', 'Q5_0', 'Q5_1'],
  ...['Q2_K', 'Q3_K_S', 'Q3_K_M', 'Q3_K_L', 'Q4_K_S', 'Q4_K_M', 'Q5_K_S', 'Q5_K_M', 'Q6_K', 'IQ2_XXS'],
  ...['IQ2_XS', 'Q2_K_S', 'IQ3_XS', 'IQ3_XXS', 'IQ1_S', 'IQ4_NL', 'IQ3_S', 'IQ3_M', 'IQ2_S', 'IQ2_M'],
  ...['IQ4_XS', 'IQ1_M', 'BF16', undefined, undefined, undefined, 'TQ1_0', 'TQ2_0', 'MXFP4_MOE', 'NVFP4'],
  ...['Q1_0', 'Q2_0'],
];

function fileTypeName(fileType: number): string | undefined {
  return names[fileType];
}
