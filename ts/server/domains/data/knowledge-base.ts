/** A knowledge base and its documents, as the module sees them. */
import type { Collection, PassageKey, PassageScores } from '../retrieval/index.ts';

/** Its id is what OpenAI’s routes call it. */
export interface KnowledgeBase extends Collection {
  /** Stands for the base inside the program; no client sees it. */
  readonly no: number;
  readonly namespace: string;
  readonly createdAt: number;
  /** As OpenAI's routes show it: the namespace unless it was given a name. */
  readonly title: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Days without use after which it is removed. */
  readonly expiresDays: number | undefined;
  /** Of the last search or added file, to the hour. */
  readonly usedAt: number;
  /** Whose files of a conversation it holds; undefined: a base of the tenant. */
  readonly owner: string | undefined;
}

/** A base with what it holds. */
export interface ListedBase extends KnowledgeBase {
  readonly nDocuments: number;
  readonly nChunks: number;
  /** Of the documents' text, UTF-8. */
  readonly sizeBytes: number;
}

export interface NewDocument {
  readonly id: string;
  readonly source: string;
  readonly title: string | undefined;
  readonly sha256: string;
  readonly kind: string;
  readonly tags: readonly string[];
  readonly datedAt: number;
  readonly sizeBytes: number;
  /** Sentences about what of the file was not read. */
  readonly warnings?: readonly string[] | undefined;
  /** Of the stored file that it is made of, with what searches filter by. */
  readonly attached?: Attachment | undefined;
}

export interface Attachment {
  readonly fileId: string;
  readonly attributes: Attributes;
  readonly batchId: string | undefined;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface StoredDocument extends NewDocument {
  readonly no: number;
  readonly nChunks: number;
  readonly changedAt: number;
}

/** A passage that was found, with the document that it stands in. */
export interface KnowledgePassage extends PassageKey {
  readonly namespace: string;
  readonly documentId: string;
  readonly source: string;
  readonly title: string | undefined;
  /** As OpenAI's routes name the document's file. */
  readonly fileId: string;
  readonly attributes: Attributes;
  /** Of the stored text, from `start` to before `end`, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  readonly sheet?: string | undefined;
  readonly slide?: number | undefined;
  /** The time in a recording at which it is said. */
  readonly startSeconds?: number | undefined;
  readonly endSeconds?: number | undefined;
}

export type PassageResult = KnowledgePassage & PassageScores;

/** Whether a document of these attributes may be found. */
export type AttributeTest = (attributes: Attributes) => boolean;

/** What a search may be narrowed to; all that are given must hold. */
export interface DocumentFilter {
  readonly sources?: readonly string[] | undefined;
  /** All of them. */
  readonly tags?: readonly string[] | undefined;
  /** Documents dated at or behind it, milliseconds since 1970. */
  readonly from?: number | undefined;
  /** And before it. */
  readonly to?: number | undefined;
  readonly attributes?: AttributeTest | undefined;
}
