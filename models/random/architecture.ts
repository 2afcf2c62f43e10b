import type { Hyperparameter } from './layers.ts';
import type { Shape, Vocabulary } from './shapes.ts';
import type { TensorSpec } from './tensor-spec.ts';

export interface Architecture {
  /** general.architecture, and the prefix of its keys. */
  name: string;
  vocabulary: Vocabulary;
  purpose: 'chat' | 'embedding' | 'rerank';
  /** Where positions are a table, the longest context that keeps it small. */
  maxContext?: number;
  hyperparameters(shape: Shape): Hyperparameter[];
  tensors(shape: Shape, nVocab: number): TensorSpec[];
}
