/** What the server asks of the index thread, and what comes back. */
import type { SimilarityScale } from '../embedding/similarity-scale.ts';
import type { DocumentSource, PreparedPassage } from '../passages/cut-source.ts';
import type { VectorNotice } from './vector-index.ts';

export interface IndexPassage {
  readonly documentNo: number;
  readonly seq: number;
  /** As `packTerms` made them. */
  readonly terms: Uint8Array;
  readonly vector: Float32Array | undefined;
  /** Only where the terms are of another version. */
  readonly text?: string;
  /** Of its document, where the index is to be saved. */
  readonly mark?: number | undefined;
}

/** The documents of a collection, in columns. */
export interface DocumentColumns {
  readonly numbers: Float64Array;
  /** What tells each from others that had its number. */
  readonly marks: Float64Array;
  /** Passages of each. */
  readonly counts: Uint32Array;
}

/** Where the index of a collection is saved, and what it must be of. */
export interface SavedPlace {
  readonly folder: string;
  readonly label: string;
}

export interface IndexQuery {
  readonly question: string;
  /** Of length 1; undefined: terms alone count. */
  readonly vector: Float32Array | undefined;
  /** 0 to 1. */
  readonly denseWeight: number;
  /** It holds whatever the terms say. */
  readonly isWeightStated?: boolean;
  /** How cosines are compared; default: as they are. */
  readonly scale?: SimilarityScale;
  /** Terms and vectors are joined by their ranks, and the weight says only whether vectors count. */
  readonly isByRanks?: boolean;
  readonly k: number;
  /** Documents that may be found; undefined: all of the collection. */
  readonly documents: readonly number[] | undefined;
}

export interface IndexHit {
  readonly documentNo: number;
  readonly seq: number;
  readonly score: number;
  readonly lexical: number;
  readonly dense: number | undefined;
  readonly coverage: number;
}

export interface IndexSize {
  readonly sizeBytes: number;
  readonly nPassages: number;
}

export interface OpenedIndex extends IndexSize {
  /** Documents that are not in it. */
  readonly missing: readonly number[];
  readonly isSparse: boolean;
  /** `new`: nothing was saved. */
  readonly origin: 'kept' | 'new' | 'refused';
  /** Why what was saved is not used. */
  readonly refusal?: string;
}

/** Each operation of the thread: what it takes and what it answers. */
export interface IndexOperations {
  /** Cuts a document, which stays in the thread under `key` until it is released. */
  cut: { input: { key: string; source: DocumentSource }; output: { nPassages: number; title: string | undefined } };
  take: { input: { key: string; from: number; count: number }; output: { passages: readonly PreparedPassage[] } };
  release: { input: { key: string }; output: Record<string, never> };
  /** Before anything else is asked of a collection: a new index, or the one that was saved, brought in line with the documents that there are. */
  open: {
    input: { key: number; label: string; saved: SavedPlace | undefined; documents: DocumentColumns };
    output: OpenedIndex;
  };
  /** The same for an index that is open. */
  reconcile: { input: { key: number; documents: DocumentColumns }; output: { missing: readonly number[]; isSparse: boolean } };
  add: { input: { key: number; passages: readonly IndexPassage[] }; output: IndexSize };
  remove: { input: { key: number; documentNos: readonly number[] }; output: { isSparse: boolean } };
  drop: { input: { key: number }; output: Record<string, never> };
  /** Resolves when searches are as fast as they will be. */
  link: { input: { key: number }; output: IndexSize };
  /** Writes the index to its place. False: it is of a kind that has no files, or was dropped meanwhile. */
  save: { input: { key: number; place: SavedPlace }; output: { isSaved: boolean } };
  /** Undefined: the collection is not open, because it was dropped a moment ago. */
  search: { input: { key: number; query: IndexQuery }; output: { hits: readonly IndexHit[] | undefined } };
}

export type IndexOperation = keyof IndexOperations;

export interface IndexRequest<O extends IndexOperation = IndexOperation> {
  readonly id: number;
  readonly operation: O;
  readonly input: IndexOperations[O]['input'];
}

export type IndexReply =
  | { readonly id: number; readonly output: IndexOperations[IndexOperation]['output'] }
  | { readonly id: number; readonly failure: string };

/** What the thread says without being asked. */
export interface IndexNotice {
  readonly notice: VectorNotice;
}
