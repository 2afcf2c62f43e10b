/**
 * Where a chat with `conversation_id` is stored. The module that has the conversations is of a higher tier: it connects itself when it starts,
 * and a chat that names a conversation while none is connected is refused.
 */
import type { Principal } from '../../../platform/http/principal.ts';
import { inferenceError } from '../errors.ts';
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

export interface ConversationPort {
  /**
   * Under which key the files of a conversation of the caller lie; undefined: it never had one. `makes` has it get a key. Throws DomainErrors,
   * for a foreign conversation as for an unknown one.
   */
  filesKey(caller: Principal, id: string, options: { readonly makes: boolean }): Promise<string | undefined>;
  /** Before anything is generated. Throws DomainErrors that the chat route declares, for a foreign conversation as for an unknown one. */
  open(caller: Principal, question: ConversationQuestion): Promise<OpenConversation>;
}

export class ConversationSlot {
  #port: ConversationPort | undefined;

  /** Undefined: the module stops. */
  connect(port: ConversationPort | undefined): void {
    this.#port = port;
  }

  /** Throws InferenceError `conversations_unavailable`. */
  get port(): ConversationPort {
    if (this.#port !== undefined) return this.#port;
    throw inferenceError(
      'conversations_unavailable',
      'The module conversations does not run on this node; leave `conversation_id` out, or switch the role edge on.',
      { retryAfterMs: 30_000 },
    );
  }
}
