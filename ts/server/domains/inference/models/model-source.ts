/** The port through which inference sees the model files on disk; the library implements it. */

import type { ProjectorFacts } from '../library/files/projector-facts.ts';

export type ModelKind = 'chat' | 'embedding' | 'rerank' | 'vocab';

export interface StoredAdapter {
  /** The name by which requests call it in `lora`. */
  name: string;
  /** Absolute path of the adapter's GGUF file. */
  path: string;
}

export interface StoredModel {
  /** The name that requests use; unique, stable across restarts. */
  id: string;
  /** Absolute path of the GGUF file (for a split model: its first part). */
  path: string;
  sizeBytes: number;
  kind: ModelKind;
  /** GGUF general.architecture, for example qwen3. */
  architecture: string;
  /** Models that may stand in for each other when tools are needed, for example qwen. */
  family: string;
  nParams?: number;
  quantisation?: string;
  /** What the file calls itself. */
  title?: string;
  /** Context length that the model was trained for, tokens. */
  nCtxTrain: number;
  /** Projector GGUF for images and sounds, and what it takes. */
  projectorPath?: string;
  projector?: ProjectorFacts;
  /** LoRA adapters that requests may name. */
  adapters?: StoredAdapter[];
  sha256?: string;
  license?: string;
  /** Unix seconds. */
  createdAt: number;
  /** It writes, and has no chat template. */
  isBase?: true;
  /** A plain sentence, present when the model is a demonstration. */
  demonstration?: string;
}

export interface ModelSource {
  /** Every usable model, in a stable order. */
  list(): Promise<StoredModel[]>;
  /** Exact id; undefined when there is none. */
  find(name: string): Promise<StoredModel | undefined>;
}
