/** A conversation that an answer is stored in: what is asked, and what is stored of the answer. */
import type { CutReason, StreamOwner } from '../resumable-streams/resumable-stream.ts';
import type { AnswerFacts } from './answer-facts.ts';

export interface ConversationQuestion {
  /** Of a conversation of the caller. */
  readonly id: string;
  /** What the user says: the text of the last user message. */
  readonly text: string;
  /** Of the answer's message; undefined: any. */
  readonly answerId?: string | undefined;
  /** A message of the conversation that the answer follows; undefined: the question is stored before it. */
  readonly parentId?: string | undefined;
}

export interface ConversationAnswer {
  readonly content: string;
  readonly model: string;
  /** Why the answer is only the part that was generated; undefined: it is whole. */
  readonly cutBy: CutReason | undefined;
  /** What is kept beside the text, as `metadata` of the message. */
  readonly facts: AnswerFacts;
  readonly citations: readonly unknown[] | undefined;
}

/** A conversation that waits for an answer. Nothing of the question is stored before. */
export interface OpenConversation {
  readonly owner: StreamOwner;
  /** Where the files of the conversation lie; undefined: it has none. */
  readonly filesKey: string | undefined;
  /** Resolves once both sides are on disk. Throws DomainErrors that the chat route declares. */
  store(answer: ConversationAnswer): Promise<void>;
  /** For a part that has no client to tell of a failure, which goes to the log. */
  storePart(answer: ConversationAnswer): Promise<void>;
}
