/** What the index thread is told of vectors, and what it tells of them. */
import type { KeptVectors } from './vector-index.ts';

/** How numbers of vectors lie in memory: half floats, or bytes or bits beside half floats on the disk. */
export type VectorStorageKind = 'f16' | 'i8' | 'b1';

export interface VectorStorageOptions {
  readonly kind: VectorStorageKind;
  /** For what need not be in memory; of kinds other than f16. */
  readonly exactFolder: string;
}

/** What an operator should know. */
export interface VectorNotice {
  readonly code: 'vector_addon_unavailable' | 'vector_folder_unavailable';
  readonly reason: string;
}

/** Where native indexes of vectors come from. */
export interface OpenVectors {
  /** Undefined: addons cannot be loaded here. */
  create(dimensions: number, label: string): KeptVectors | undefined;
  /** Of a file that stays mapped. Rejects with NativeError, and as loading the addon does. */
  open(path: string, dimensions: number, label: string): Promise<KeptVectors>;
}
