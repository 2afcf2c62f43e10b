/**
 * What a chat asks of knowledge bases. The module that has them is of a higher tier: it connects itself when it starts, and a chat that names
 * a knowledge base while none is connected is refused.
 */
import type { Principal } from '../../../platform/http/principal.ts';
import { inferenceError } from '../errors.ts';
import type {
  ConversationFilesPlace,
  InputFile,
  InputFileText,
  KnowledgeContext,
  KnowledgeQuestion,
  UsedKnowledge,
} from './knowledge-context.ts';

export interface KnowledgePort {
  /** Finds what the answer may stand on. Throws DomainErrors that the chat route declares. */
  consult(caller: Principal, question: KnowledgeQuestion, signal: AbortSignal): Promise<KnowledgeContext>;
  /** Whether the caller has files there: they may have been deleted since. */
  holdsFiles(caller: Principal, place: ConversationFilesPlace): Promise<boolean>;
  /** Throws as `consult` would for knowledge bases that the caller may not ask, without a search. */
  admit(caller: Principal, question: Pick<KnowledgeQuestion, 'namespaces' | 'bounds'>): Promise<void>;
  /** Whether the caller may use all of them. A base or a file that is gone is none that it may. */
  reaches(caller: Principal, used: UsedKnowledge): Promise<boolean>;
  /** The text of a file. Throws DomainErrors that the routes declare. */
  readFile(caller: Principal, file: InputFile, signal: AbortSignal): Promise<InputFileText>;
  /** Erases the files of conversations that are erased. It may be called again for the same ones. */
  eraseFiles(keys: readonly string[]): Promise<void>;
}

export class KnowledgeSlot {
  #port: KnowledgePort | undefined;

  /** Undefined: the module stops. */
  connect(port: KnowledgePort | undefined): void {
    this.#port = port;
  }

  get isConnected(): boolean {
    return this.#port !== undefined;
  }

  /** Throws InferenceError `knowledge_unavailable`. */
  get port(): KnowledgePort {
    if (this.#port !== undefined) return this.#port;
    throw inferenceError(
      'knowledge_unavailable',
      'The module data, which has the knowledge bases, does not run on this node; leave `knowledge` out, or switch the role data on.',
      { retryAfterMs: 30_000 },
    );
  }
}
