/** Makes GGUF models with a real tokenizer and random weights: they load and run like any other and talk nonsense. */
import { readFileSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import type { GgufMetadata, GgufValue } from '../../ts/server/platform/gguf/gguf-value.ts';
import { ggufLayout, type TensorToWrite, writeGguf } from '../../ts/server/platform/gguf/gguf-writer.ts';
import type { Architecture } from './architecture.ts';
import { type ArchitectureName, architectures, describeShape } from './architectures.ts';
import { RandomSource } from './random-source.ts';
import { type Shape, type ShapeName, shapes, type Vocabulary } from './shapes.ts';
import { encodeTensor, type WeightType } from './tensor-encoder.ts';
import type { TensorSpec } from './tensor-spec.ts';
import { readTokenizer, type Tokenizer } from './vocabulary.ts';

export interface RandomModelOptions {
  arch?: ArchitectureName;
  shape?: ShapeName;
  seed?: number;
  type?: WeightType;
  /** Another tokenizer than the architecture's or the shape's own. */
  vocabulary?: Vocabulary;
  /** Another context length than the shape's. */
  nContext?: number;
  /** How the file says that embeddings are made of those of tokens. */
  pooling?: Pooling;
  /** What the file names as its default temperature. */
  temperature?: number;
  /** It gets no chat template. */
  isBase?: true;
  /** How many tokens the file's penalties look back at. */
  penaltyLastN?: number;
}

/** Numbers of enum llama_pooling_type (include/llama.h). */
const poolings = { none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;
type Pooling = keyof typeof poolings;

/** Part of every recipe: raise it whenever the same options give another file. */
export const generatorVersion = 1;

/** All options filled in: the same recipe gives the same bytes. */
export function recipe({ arch = 'llama', shape = 'tiny', seed = 1, type = 'f16', vocabulary, ...more }: RandomModelOptions) {
  const sizes: Shape = shapes[shape];
  const { vocabulary: own } = architectures[arch];
  const isEncoder = architectures[arch].purpose !== 'chat';
  const tokenizer = vocabulary ?? (isEncoder ? own : (sizes.vocabulary ?? own));
  return { arch, shape, seed, type, vocabulary: tokenizer, ...more, generatorVersion };
}

/** Writes the model; `path` appears only when it is whole. */
export async function writeRandomModel(path: string, options: RandomModelOptions = {}): Promise<void> {
  const { arch, shape, seed, type, vocabulary, nContext = shapes[shape].nContext } = recipe(options);
  const architecture = architectures[arch];
  const sizes = limitContext({ ...shapes[shape], nContext }, architecture.maxContext);
  const tokenizer = await readTokenizer(vocabulary);
  const metadata = describeModel(architecture, sizes, tokenizer, recipe(options));
  const specs = architecture.tensors(sizes, tokenizer.nVocab);
  await writeGguf(path, { metadata, tensors: specs.map((spec) => randomTensor(spec, seed, spec.isWeight ? type : 'f32')) });
}

function limitContext(shape: Shape, maxContext = shape.nContext): Shape {
  return { ...shape, nContext: Math.min(shape.nContext, maxContext) };
}

/** Writes a model of any size that takes no space: its weights are a hole in the file, which reads as zeros. */
export async function writeHollowModel(path: string, sizes: Shape): Promise<void> {
  const made = recipe({ arch: 'llama' });
  const architecture = architectures[made.arch];
  const tokenizer = await readTokenizer(made.vocabulary);
  const tensors = architecture.tensors(sizes, tokenizer.nVocab).map(({ isWeight, ...spec }) => ({
    ...spec,
    type: isWeight ? made.type : 'f32',
  }));
  const { header, sizeBytes } = ggufLayout(describeModel(architecture, sizes, tokenizer, made), tensors);
  await writeFile(path, header);
  await truncate(path, sizeBytes);
}

/** file_type: enum llama_ftype in include/llama.h. */
const fileTypes: Record<WeightType, number> = { f32: 0, f16: 1, q4_0: 2, q8_0: 7 };

function describeModel(
  architecture: Architecture,
  shape: Shape,
  tokenizer: Tokenizer,
  made: ReturnType<typeof recipe>,
): GgufMetadata {
  const tags: GgufValue = { type: 'array', elementType: 'string', length: 2, values: ['random-weights', 'demonstration'] };
  return new Map<string, GgufValue>([
    ['general.architecture', text(architecture.name)],
    ['general.type', text('model')],
    ['general.name', text(`svc random ${made.shape} ${made.arch}`)],
    ['general.description', text('Random weights with a real tokenizer, for demonstration and tests: it talks nonsense.')],
    ['general.tags', tags],
    ['general.file_type', { type: 'uint32', value: fileTypes[made.type] }],
    ['general.quantization_version', { type: 'uint32', value: 2 }],
    ['svc.demonstration', { type: 'bool', value: true }],
    ['svc.random.recipe', text(JSON.stringify(made))],
    ...(made.temperature === undefined
      ? []
      : [['general.sampling.temp', { type: 'float32', value: made.temperature } satisfies GgufValue] as const]),
    ...(made.penaltyLastN === undefined
      ? []
      : [['general.sampling.penalty_last_n', { type: 'int32', value: made.penaltyLastN } satisfies GgufValue] as const]),
    ...describeShape(architecture, shape, tokenizer.nVocab),
    ...(made.pooling === undefined
      ? []
      : [[`${architecture.name}.pooling_type`, { type: 'uint32', value: poolings[made.pooling] } satisfies GgufValue] as const]),
    ...tokenizer.metadata,
    ...(architecture.purpose === 'chat' && !made.isBase ? [['tokenizer.chat_template', text(readChatTemplate())] as const] : []),
  ]);
}

function readChatTemplate(): string {
  return readFileSync(new URL('chat-template.jinja', import.meta.url), 'utf8').trimEnd();
}

function text(value: string): GgufValue {
  return { type: 'string', value };
}

/** Every tensor has its own stream of numbers, so adding one changes no other. */
export function randomTensor({ name, dims, mean, deviation }: TensorSpec, seed: number, type: WeightType): TensorToWrite {
  const nValues = dims.reduce((product, dim) => product * dim, 1);
  const chunkLength = 65_536;
  function* data(): Iterable<Uint8Array> {
    const source = new RandomSource(`${seed}/${name}`);
    for (let done = 0; done < nValues; done += chunkLength) {
      const values = new Float32Array(Math.min(chunkLength, nValues - done));
      source.fillNormal(values, mean, deviation);
      yield encodeTensor[type](values);
    }
  }
  return { name, dims, type, data };
}
