/** Stores chats that name a conversation of the caller: the question and its answer together, once the answer is there. */
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hasScope, type Principal } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import { StorageError } from '../../../platform/storage/index.ts';
import {
  type Conversation,
  type ConversationService,
  conversationError,
  MAX_CONTENT_LENGTH,
  MAX_JSON_LENGTH,
  MAX_MESSAGES,
  MAX_MODEL_LENGTH,
  type MessageInput,
  messageNotFound,
  type Owner,
  ownerOf,
} from '../../conversations/index.ts';
import type { ConversationAnswer, ConversationQuestion, OpenConversation } from './open-conversation.ts';

const SCOPE = 'account:manage';

/** Its `api` throws while the module does not run. */
interface ConversationModule {
  readonly api: { readonly service: Conversations };
}

type Conversations = Pick<
  ConversationService,
  'get' | 'appendAll' | 'hasMessage' | 'filesKey' | 'makeFilesKey' | 'requireCapacity'
>;

export class ChatStorage {
  readonly #chats: ConversationModule;
  readonly #log: Log;

  constructor(chats: ConversationModule, log: Log) {
    this.#chats = chats;
    this.#log = log;
  }

  async filesKey(caller: Principal, id: string, { makes }: { readonly makes: boolean }): Promise<string | undefined> {
    const { service } = this.#chats.api;
    requireScope(caller);
    const owner = ownerOf(caller);
    return await refusing(() => (makes ? service.makeFilesKey(owner, id) : service.filesKey(owner, id)));
  }

  async open(caller: Principal, question: ConversationQuestion): Promise<OpenConversation> {
    const { service } = this.#chats.api;
    requireScope(caller);
    requireStorable(question.text);
    const owner = ownerOf(caller);
    const conversation = await refusing(() => service.get(owner, question.id));
    if (conversation.messageCount + 2 > MAX_MESSAGES)
      throw new DomainError('conversation_full', 'The conversation has as many messages as are kept; begin another.');
    await refusing(() => requireFitting(service, owner, question));
    await refusing(() => service.requireCapacity(owner, Buffer.byteLength(question.text)));
    const store = (answer: ConversationAnswer) => refusing(() => append(service, owner, conversation, question, answer));
    return {
      owner: { tenant: owner.tenant, subject: owner.subject },
      filesKey: await refusing(() => service.filesKey(owner, question.id)),
      store,
      storePart: (answer) =>
        store(answer).catch((error: unknown) => this.#log.error('a part of an answer was not stored', { error: String(error) })),
    };
  }
}

/** Told now, and not when the answer is there. */
async function requireFitting(
  service: Conversations,
  owner: Owner,
  { id, answerId, parentId }: ConversationQuestion,
): Promise<void> {
  if (parentId !== undefined && !(await service.hasMessage(owner, id, parentId)))
    throw messageNotFound('conversation_answer.parent_id');
  if (answerId !== undefined && (await service.hasMessage(owner, id, answerId)))
    throw conversationError(
      'message_conflict',
      'The conversation has a message with the id in `conversation_answer.id` already.',
    );
}

/** Without a message to follow, behind the one that was the last when the question came: what came meanwhile is another branch. */
async function append(
  service: Conversations,
  owner: Owner,
  { id, currentMessageId }: Conversation,
  { text, answerId, parentId }: ConversationQuestion,
  answer: ConversationAnswer,
): Promise<void> {
  const question = { id: randomUUID(), role: 'user', content: text, parentId: currentMessageId ?? null } as const;
  const message = { id: answerId, role: 'assistant', parentId: parentId ?? question.id, ...storedAnswer(answer) } as const;
  await service.appendAll(owner, id, parentId === undefined ? [question, message] : [message]);
}

/** Throws when the credential lacks the scope. Once there are accounts, nobody gets here without a credential. */
function requireScope(caller: Principal): void {
  if (caller.kind === 'anonymous' || hasScope(caller, SCOPE)) return;
  throw new DomainError('insufficient_scope', `The credential lacks the scope ${SCOPE}, which \`conversation_id\` needs.`, {
    extra: { scope: SCOPE },
  });
}

function requireStorable(text: string): void {
  const fault =
    text.length > MAX_CONTENT_LENGTH
      ? `has ${text.length} characters, and a conversation keeps at most ${MAX_CONTENT_LENGTH} of one`
      : text.includes('\0') && 'holds a NUL character (U+0000), which cannot be stored';
  if (fault)
    throw new DomainError('invalid_request', `The last user message ${fault}; change it, or leave \`conversation_id\` out.`);
}

/** Refusals under the codes that the chat route declares. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError)
      throw new DomainError('storage_unavailable', 'The database does not take the conversation now; retry in a moment.', {
        retryAfterMs: 1_000,
        cause: error,
      });
    throw error;
  }
}

/** Where all facts together are too long, the first of these goes first. */
const LONG_FACTS = ['reasoning', 'tool_calls', 'tool_events'] as const;
/** Of what a tool returned, no more is stored; the whole of a long result is an artifact. */
const MAX_STORED_RESULT = 4_000;

type Stored = Pick<MessageInput, 'content' | 'model' | 'metadata' | 'citations'>;

/** Leaves out what the database or the limits of a message would refuse, since the answer is there already. */
function storedAnswer({ content, model, facts, citations, cutBy }: ConversationAnswer): Stored {
  const metadata: Record<string, unknown> = {
    ...withoutNul(shortened(facts)),
    ...(cutBy !== undefined && { incomplete: cutBy }),
  };
  for (const name of LONG_FACTS) if (isTooLong(metadata)) delete metadata[name];
  return {
    content: content.replaceAll('\0', '\uFFFD'),
    model: model.slice(0, MAX_MODEL_LENGTH),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(citations !== undefined && citations.length > 0 && !isTooLong(citations) && { citations: withoutNul(citations) }),
  };
}

function shortened(facts: ConversationAnswer['facts']): ConversationAnswer['facts'] {
  const { tool_events: events } = facts;
  if (events === undefined) return facts;
  const shown = events.map((event) => {
    const text = JSON.stringify(event.result ?? null);
    return text.length <= MAX_STORED_RESULT ? event : { ...event, result: `${text.slice(0, MAX_STORED_RESULT)}…` };
  });
  return { ...facts, tool_events: shown };
}

function isTooLong(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_JSON_LENGTH;
}

/** PostgreSQL keeps no NUL in JSON either, escaped or not. */
function withoutNul<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? each.replaceAll('\0', '\uFFFD').toWellFormed() : each,
  ) as T;
}
