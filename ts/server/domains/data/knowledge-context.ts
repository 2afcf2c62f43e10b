/** What knowledge bases give to an answer. Worker threads read requests by it, so what is imported here is pure. */

import type { Principal } from '../../platform/http/principal.ts';
import type { ProbedModel } from '../inference/index.ts';

/** What an answer asks of knowledge bases. */
export interface KnowledgePort {
  /** Finds what the answer may stand on. Throws DomainErrors of `answerErrors`. */
  consult(caller: Principal, question: KnowledgeQuestion, signal: AbortSignal): Promise<KnowledgeContext>;
  /**
   * The knowledge bases that the caller may use, and how near each turn is to each. Throws DomainErrors of `answerErrors`, and those of a caller who may
   * not read.
   */
  nearness(caller: Principal, turns: readonly string[], signal: AbortSignal): Promise<NearBases>;
  /** Whether the caller has files there: they may have been deleted since. */
  holdsFiles(caller: Principal, place: ConversationFilesPlace): Promise<boolean>;
  /** Throws as `consult` would for knowledge bases that the caller may not ask, without a search. */
  admit(caller: Principal, question: Pick<KnowledgeQuestion, 'namespaces' | 'bounds'>): Promise<void>;
  /** Whether the caller may use all of them. A base or a file that is gone is none that it may. */
  reaches(caller: Principal, used: UsedKnowledge): Promise<boolean>;
  /** The text of a file. Throws DomainErrors of `inputFileErrors`. */
  readFile(caller: Principal, file: InputFile, signal: AbortSignal): Promise<InputFileText>;
  /** Erases the files of conversations that are erased. It may be called again for the same ones. */
  eraseFiles(keys: readonly string[]): Promise<void>;
}

export interface NearBases {
  readonly names: readonly string[];
  /** A row for each turn, with a cosine for each name; no row where there is nothing to choose from. */
  readonly cosines: readonly (readonly number[])[];
}

/** What the search is narrowed to; as OpenAI's `file_search` has it. */
export interface SearchBounds {
  /** Most passages of all knowledge bases together. */
  readonly maxResults?: number | undefined;
  /** As the client sent it. The port checks it. */
  readonly filters?: unknown;
  /** As the client sent it. */
  readonly rankingOptions?: unknown;
}

/** Where files that belong to one conversation lie. */
export interface ConversationFilesPlace {
  readonly conversationId: string;
  readonly key: string;
}

export interface KnowledgeQuestion {
  /** Names of knowledge bases, or ids of vector stores. */
  readonly namespaces: readonly string[];
  /** The files of the caller's conversation, which are looked up as well. */
  readonly files?: ConversationFilesPlace | undefined;
  /** What the user says, the last message last. */
  readonly turns: readonly string[];
  readonly bounds?: SearchBounds | undefined;
  /** The answer is JSON, follows a grammar, or continues another one: no sentence may be put in front of it. */
  readonly keepsForm?: boolean | undefined;
  /** The request offers tools, so the answer may be a step of a program: nothing may be put behind it. */
  readonly offersTools?: boolean | undefined;
  /** Whether the model answers where nothing was found, behind the sentence that says so; default: nobody does. */
  readonly fallback?: 'none' | 'model' | undefined;
}

/** What an answer was made of. */
export interface UsedKnowledge {
  /** Names of knowledge bases, or ids of vector stores. */
  readonly namespaces: readonly string[];
  /** Ids of stored files. */
  readonly files: readonly string[];
}

export interface KnowledgeContext {
  /** For the system message: how the passages are to be used; empty where they are not needed. */
  readonly instruction: string;
  /** The numbered passages, for the front of the last message; empty when nothing was found. */
  readonly passages: string;
  /** What was searched for. */
  readonly query: string;
  /** The passages, as `[1]` and so on count them. */
  readonly found: readonly FoundPassage[];
  /** Files of the knowledge bases that are kept and cannot be found; at most a few, with how many there are. */
  readonly unindexed: UnindexedFiles;
  /** What the model itself said in an earlier answer, without what a filter put around it. */
  ownWords(answer: string): string;
  /** The same with as many passages as the model takes; where none fits, without what would be said of them. */
  fit(space: TokenSpace): Promise<KnowledgeContext>;
  /** The same for a request whose tools are left out, so that its answer is no step of a program. */
  withoutTools(): KnowledgeContext;
  /** True: what the filters say is the whole answer, and this model is not asked. */
  silences(model: ProbedModel): boolean;
  /** One for each choice of an answer. */
  newFilter(): AnswerFilter;
  /** Does no I/O. */
  citationsOf(found: Pick<AnswerFilter, 'marks' | 'unsupported'>): CheckedCitations;
}

/** How much a model's prompt has left for passages, in its tokens; less than 0 where it has too much already. */
export interface TokenSpace {
  readonly nTokens: number;
  count(text: string): Promise<number>;
}

/**
 * Passes the text of an answer on, without the citations that do not hold; where nothing was found, behind a sentence that says so; and where
 * something was found and none holds, with quotations behind it. Does no I/O.
 */
export interface AnswerFilter {
  /** What can be passed on; some text is held back until it is known whether a citation in it holds. */
  push(piece: string): string;
  /** The rest. More may follow where there was some already. */
  end(): string;
  /** In the place of `end`, of an answer that ended by itself, in words: nothing follows. What it has too little of stands behind the rest. */
  conclude(): string;
  /** Citations that hold, by their places in what was passed on. */
  readonly marks: readonly CitationMark[];
  /** Names, numbers, dates and units beside them that the passages do not say. */
  readonly unsupported: readonly UnsupportedClaim[];
}

export interface FoundPassage {
  readonly fileId: string;
  readonly fileName: string;
  /** 0 to 1. */
  readonly score: number;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface UnindexedFiles {
  readonly count: number;
  readonly files: readonly UnindexedFile[];
}

interface UnindexedFile {
  /** Undefined: a file of the conversation. */
  readonly namespace: string | undefined;
  readonly documentId: string;
  readonly source: string;
  /** Why, and what to do. */
  readonly detail: string;
}

export interface CheckedCitations {
  /** By number, each once. */
  readonly citations: readonly Citation[];
  /** Where they stand in the answer, in its order. */
  readonly marks: readonly CitationMark[];
}

export interface Citation {
  /** The number in square brackets. */
  readonly n: number;
  /** Undefined: the passage stands in a file of the conversation. */
  readonly namespace: string | undefined;
  /** Of that conversation. */
  readonly conversationId?: string | undefined;
  readonly documentId: string;
  /** As OpenAI's routes name it. */
  readonly fileId: string;
  readonly source: string;
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  readonly slide: number | undefined;
  /** The time in a recording at which it is said. */
  readonly startSeconds: number | undefined;
  readonly endSeconds: number | undefined;
  /** In the stored text of the document, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly score: number;
  /** Of the sentences that cite it; by their places in the answer. */
  readonly unsupported?: readonly Omit<UnsupportedClaim, 'n'>[] | undefined;
  /** The source where it is a web address, else the path of the document on this server. */
  readonly url: string;
}

/** From `start` to before `end`, UTF-16 code units. */
export interface CitationMark {
  readonly n: number;
  readonly start: number;
  readonly end: number;
}

/** What a sentence says and neither a passage that it cites nor the question does. */
export interface UnsupportedClaim extends CitationMark {
  readonly text: string;
}

/** A file whose text goes into a message as it is. */
export interface InputFile {
  /** Of a file that is stored; else `data` has it. */
  readonly fileId: string | undefined;
  readonly fileName: string | undefined;
  readonly data: Uint8Array | undefined;
}

export interface InputFileText {
  readonly fileName: string;
  readonly text: string;
}
