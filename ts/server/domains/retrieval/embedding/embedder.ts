/** What makes vectors of texts. */

/** A model of this node, or one of the service at `data.embedding_url`. */
export type EmbeddingSource = 'local' | 'remote';

/** What vectors can be compared with each other. */
export interface EmbeddingBinding {
  readonly embeddingModel: string;
  readonly embeddingSource: EmbeddingSource;
  /** Undefined until the first text is embedded. */
  readonly dimensions: number | undefined;
  /** The family of prefixes that its texts are embedded with, as prefixFamilyOf() names it; undefined: without any. */
  readonly prefixes?: string | undefined;
}

export interface EmbedOptions {
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Nobody waits for it: what somebody waits for goes first. */
  readonly isBackground?: boolean;
}

export interface Embedded {
  /** One of length 1 for each text, in their order. */
  readonly vectors: readonly Float32Array[];
  /** How many tokens each text has; undefined where the service does not say. */
  readonly nTokens: readonly number[] | undefined;
}

/** Models of this node, as the module inference has them. */
export interface LocalModels<Resolved extends ResolvedModel = ResolvedModel> {
  models(use: typeof WORK): Promise<readonly ModelCard[]>;
  resolve(wanted: { readonly ability: 'embeddings' | 'rerank'; readonly model: string }, use: typeof WORK): Promise<Resolved>;
  embed(model: Resolved, texts: string[], options: EmbedOptions): Promise<Required<Embedded>>;
  /** SHA-256 of the model's file; undefined: nobody knows. Without the method, nothing is measured of models. */
  contentHash?(model: Resolved, signal: AbortSignal): Promise<string | undefined>;
  rank(
    model: Resolved,
    question: string,
    texts: string[],
    options: EmbedOptions,
  ): Promise<{ readonly scores: ArrayLike<number> }>;
}

export interface ResolvedModel {
  readonly card: Pick<ModelCard, 'id' | 'capabilities' | 'title'>;
}

interface ModelCard {
  readonly id: string;
  readonly state: string;
  readonly sizeBytes?: number;
  readonly demonstration?: unknown;
  /** What its file calls itself. */
  readonly title?: string;
  readonly capabilities: { readonly embeddings: boolean; readonly rerank: boolean };
}

/** A collection has its model for all who use it, whichever models they may ask themselves. */
export const WORK = { kind: 'work' } as const;

export interface Embedder {
  /** Throws DomainError `embedding_failed`, or what the model's queue refuses with. */
  embed(model: string, texts: readonly string[], options: EmbedOptions): Promise<Embedded>;
}

/** Vectors of length 1: the product of two is then their cosine. A vector of zeros stays. */
export function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return vector;
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}

/** A vector as it is stored: little-endian, whatever the machine. */
export function floatBytes(floats: Float32Array): Uint8Array {
  const bytes = new Uint8Array(4 * floats.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < floats.length; i++) view.setFloat32(4 * i, floats[i] ?? 0, true);
  return bytes;
}

export function floatsOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array(Math.floor(bytes.byteLength / 4));
  for (let i = 0; i < floats.length; i++) floats[i] = view.getFloat32(4 * i, true);
  return floats;
}
