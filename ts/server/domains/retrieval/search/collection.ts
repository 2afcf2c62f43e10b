/**
 * What is indexed and searched together: passages of documents whose vectors one model makes. A module that has such documents (knowledge bases,
 * memories, logs) keeps them in tables of its own and says by a CollectionStore how they are read; the index is made of them and follows them.
 */
import type { SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { EmbeddingBinding } from '../embedding/embedder.ts';
import type { IndexPassage } from '../index/index-messages.ts';

export interface Collection extends EmbeddingBinding {
  /** Unique in the database, also among collections of other modules, and fit for a folder's name. */
  readonly id: string;
  /** Counts the changes of its documents. */
  readonly version: number;
  /** Deletions up to this version are forgotten: an index that has not seen them is compared with all documents. */
  readonly sweptVersion: number;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

export interface ChangedDocument {
  readonly no: number;
  readonly id: string;
  /** False: it was deleted. */
  readonly isReady: boolean;
  readonly nChunks: number;
}

export interface PassageKey {
  /** Of the document, unique among those of all collections of the module. */
  readonly documentNo: number;
  readonly seq: number;
}

/** A passage as the module reads it for an answer; it may add what it knows of the document. */
export interface FoundPassage extends PassageKey {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly page?: number | undefined;
  readonly sheet?: string | undefined;
  readonly slide?: number | undefined;
  readonly startSeconds?: number | undefined;
  readonly endSeconds?: number | undefined;
}

/** How well a passage answers a question. */
export interface PassageScores {
  /** 0 to 1, the higher the better; comparable within one search. */
  readonly score: number;
  /** BM25. */
  readonly lexicalScore: number;
  /** Cosine; undefined where vectors did not count. */
  readonly denseScore: number | undefined;
  /** 0 to 1: how sure it is that the passage is about the question at all; comparable between searches. */
  readonly relevance: number;
}

/** What the index reads of documents. */
export interface IndexedDocuments<C extends Collection> {
  /** Documents that were published or deleted behind `version`, up to the collection's own. */
  listChanges(scope: TenantScope, collection: C, version: number): Promise<ChangedDocument[]>;
  /** All passages of these documents, in pages. */
  readForIndex(scope: TenantScope, documentNos: readonly number[]): AsyncIterable<IndexPassage[]>;
}

export interface CollectionStore<C extends Collection, P extends FoundPassage, Filter> extends IndexedDocuments<C> {
  /** The collection as it is now; undefined: it is gone. */
  find(scope: TenantScope, collection: C): Promise<C | undefined>;
  /** Of all tenants, those with documents. */
  listFilled(everyone: SystemScope): Promise<{ readonly tenant: string; readonly collection: C }[]>;
  /** Numbers of the documents that a search may find. */
  listMatching(scope: TenantScope, collection: C, filter: Filter): Promise<number[]>;
  /** Those of the passages whose documents are still there, in no order. */
  readPassages(scope: TenantScope, collection: C, keys: readonly PassageKey[]): Promise<P[]>;
}
