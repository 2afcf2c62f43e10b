/** Messages in the database. A write that resolved is on disk, and found by a search. */
import type { Kysely } from 'kysely';
import { readPage, type Storage, type StorageAccess } from '../../../platform/storage/index.ts';
import type { Message, NewMessage } from '../conversation.ts';
import { conversationError, conversationNotFound, messageNotFound } from '../errors.ts';
import { MAX_MESSAGES } from '../limits.ts';
import type { Owner } from '../owner.ts';
import { listTerms } from '../search/terms.ts';
import { lockRow, requireVersion, rowOf } from './conversation-store.ts';
import { type ConversationRow, type ConversationTables, type MessageTable, toMessage } from './tables.ts';
import { bytesOfTexts, type TenantSpace } from './tenant-space.ts';
import { addTerms } from './term-index.ts';

interface AppendOptions {
  readonly expectedVersion?: number | undefined;
  /** Of a temporary conversation. */
  readonly expiresAt?: number;
}

export interface Appended {
  readonly message: Message;
  /** The conversation's, after it. */
  readonly version: number;
  /** False: it was there already. */
  readonly isNew: boolean;
}

/** Messages after one and before another, by their `seq`. With `fromEnd`, the last of them. */
export interface MessageRange {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly fromEnd?: boolean;
  readonly limit: number;
}

interface MessageLink {
  readonly seq: number;
  readonly id: string;
  readonly parent_id: string | null;
}

export class MessageStore {
  readonly #access: StorageAccess<ConversationTables>;

  readonly #space: TenantSpace;

  constructor(storage: Storage, space: TenantSpace) {
    this.#access = storage.access<ConversationTables>();
    this.#space = space;
  }

  /**
   * Appends a message, once for each id. Throws `conversation_not_found`, `version_conflict`, `message_not_found` for a parent that is not
   * there, `message_conflict` for a known id with other content, `conversation_full` and `conversation_quota_exceeded`.
   */
  async append(owner: Owner, conversationId: string, message: NewMessage, options: AppendOptions = {}): Promise<Appended> {
    const [appended] = await this.appendAll(owner, conversationId, [message], options);
    if (appended === undefined) throw new Error('a message was neither appended nor refused');
    return appended;
  }

  /** Appends all of the messages or none, each by default behind the one before; like append() otherwise. */
  async appendAll(
    owner: Owner,
    conversationId: string,
    messages: readonly NewMessage[],
    options: AppendOptions = {},
  ): Promise<Appended[]> {
    const terms = messages.map(({ content }) => listTerms(content));
    return await this.#access.write(owner, async (tx) => {
      let conversation = await lockRow(tx, this.#access.dialect, owner, conversationId);
      const { expectedVersion, expiresAt } = options;
      const appended: Appended[] = [];
      for (const [index, message] of messages.entries()) {
        const before = await messageOf(tx, conversation.no, message.id).selectAll().executeTakeFirst();
        if (before !== undefined) {
          appended.push(repeated(conversation, before, message));
          continue;
        }
        if (index === 0) requireVersion(conversation, expectedVersion);
        const row = await this.#insert(tx, owner, conversation, message, terms[index] ?? []);
        conversation = await touch(tx, conversation, row, { expiresAt });
        appended.push({ message: toMessage(conversationId, row), version: conversation.version, isNew: true });
      }
      return appended;
    });
  }

  /** Whether the conversation has a message of this id. */
  async has(owner: Owner, conversationId: string, id: string): Promise<boolean> {
    return await this.#access.read(owner, async (db) => {
      const conversation = await rowOf(db, owner, conversationId).executeTakeFirst();
      if (conversation === undefined) return false;
      return (await messageOf(db, conversation.no, id).select('id').executeTakeFirst()) !== undefined;
    });
  }

  /** In their order, as far as they fit into a page: at least one if there is any. Throws `conversation_not_found`. */
  async list(owner: Owner, conversationId: string, range: MessageRange): Promise<{ messages: Message[]; isWhole: boolean }> {
    return await this.#access.read(owner, async (db) => {
      const conversation = await rowOf(db, owner, conversationId).executeTakeFirst();
      if (conversation === undefined) throw conversationNotFound();
      const query = within(db, conversation.no, range).selectAll();
      const { rows, hasMore } = await readPage(query, range.limit, ['content', 'citations', 'metadata']);
      const inOrder = rows.sort((a, b) => a.seq - b.seq);
      return { messages: inOrder.map((row) => toMessage(conversationId, row)), isWhole: !hasMore };
    });
  }

  async #insert(
    tx: Kysely<ConversationTables>,
    owner: Owner,
    conversation: ConversationRow,
    message: NewMessage,
    terms: ReturnType<typeof listTerms>,
  ): Promise<MessageTable> {
    requireSpace(conversation);
    const row = toRow(conversation, message, await parentOf(tx, conversation, message));
    await this.#space.require(tx, owner, bytesOfMessage(row));
    await tx.insertInto('conversation_messages').values(row).execute();
    if (conversation.temporary === 0)
      await addTerms(tx, this.#access.dialect, owner, { conversationNo: conversation.no, seq: row.seq }, terms);
    return row;
  }

  /** How the messages hang together; empty for a conversation that is not there. */
  async listLinks(owner: Owner, conversationId: string): Promise<MessageLink[]> {
    return await this.#access.read(owner, async (db) => {
      const conversation = await rowOf(db, owner, conversationId).executeTakeFirst();
      if (conversation === undefined) return [];
      return await messagesOf(db, conversation.no).select(['seq', 'id', 'parent_id']).orderBy('seq').execute();
    });
  }
}

function messagesOf(db: Kysely<ConversationTables>, conversationNo: number) {
  return db.selectFrom('conversation_messages').where('conversation_no', '=', conversationNo);
}

function messageOf(db: Kysely<ConversationTables>, conversationNo: number, id: string) {
  return messagesOf(db, conversationNo).where('id', '=', id);
}

function within(db: Kysely<ConversationTables>, conversationNo: number, { after, before, fromEnd = false }: MessageRange) {
  let query = messagesOf(db, conversationNo).orderBy('seq', fromEnd ? 'desc' : 'asc');
  if (after !== undefined) query = query.where('seq', '>', after);
  if (before !== undefined) query = query.where('seq', '<', before);
  return query;
}

function repeated({ id, version }: ConversationRow, before: MessageTable, message: NewMessage): Appended {
  const isSame = before.role === message.role && before.content === message.content;
  if (isSame) return { message: toMessage(id, before), version, isNew: false };
  const detail = 'A message with this `id` and other content is in the conversation already. Use a new id for a new message.';
  throw conversationError('message_conflict', detail);
}

function requireSpace({ last_seq }: ConversationRow): void {
  if (last_seq < MAX_MESSAGES) return;
  throw conversationError('conversation_full', `The conversation has ${last_seq} messages, which is the limit. Begin another.`);
}

async function parentOf(
  tx: Kysely<ConversationTables>,
  { no, current_message_id }: ConversationRow,
  { parentId }: NewMessage,
): Promise<string | null> {
  if (parentId === null) return null;
  if (parentId === undefined) return current_message_id;
  const parent = await messageOf(tx, no, parentId).select('id').executeTakeFirst();
  if (parent === undefined) throw messageNotFound('parent_id');
  return parent.id;
}

/** The next message of a conversation. */
export function toRow(conversation: ConversationRow, message: NewMessage, parentId: string | null): MessageTable {
  return {
    tenant: conversation.tenant,
    conversation_no: conversation.no,
    seq: conversation.last_seq + 1,
    id: message.id,
    parent_id: parentId,
    role: message.role,
    content: message.content,
    model: message.model ?? null,
    citations: message.citations === undefined ? null : JSON.stringify(message.citations),
    metadata: message.metadata === undefined ? null : JSON.stringify(message.metadata),
    // Searches rely on it: no message is earlier than one before it.
    ts: Math.max(message.ts, conversation.updated_at),
  };
}

export function bytesOfMessage({ content, citations, metadata }: MessageTable): number {
  return bytesOfTexts(content, citations, metadata);
}

/** The conversation with its new last message. */
async function touch(
  tx: Kysely<ConversationTables>,
  conversation: ConversationRow,
  row: MessageTable,
  { expiresAt }: { expiresAt: number | undefined },
): Promise<ConversationRow> {
  const changes = {
    last_seq: row.seq,
    version: conversation.version + 1,
    current_message_id: row.id,
    updated_at: row.ts,
    bytes: conversation.bytes + bytesOfMessage(row),
  };
  await tx
    .updateTable('conversations')
    .set(changes)
    .$if(conversation.temporary === 1 && expiresAt !== undefined, (query) => query.set({ expires_at: expiresAt ?? null }))
    .where('no', '=', conversation.no)
    .where('tenant', '=', conversation.tenant)
    .execute();
  return { ...conversation, ...changes };
}
