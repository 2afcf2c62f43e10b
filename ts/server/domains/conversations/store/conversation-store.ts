/** Conversations in the database. A write that resolved is on disk. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import type { Conversation, ConversationChanges, ListedConversation, NewConversation } from '../conversation.ts';
import { type ConversationError, conversationError, conversationNotFound, messageNotFound } from '../errors.ts';
import { MAX_CONVERSATIONS } from '../limits.ts';
import type { Owner } from '../owner.ts';
import { listTerms } from '../search/terms.ts';
import { type ConversationRow, type ConversationTables, LISTED_COLUMNS, toConversation, toListedConversation } from './tables.ts';
import { bytesOfTexts, type TenantSpace } from './tenant-space.ts';
import { addTerms, type Dialect, removeTerms, TITLE_SEQ } from './term-index.ts';

export interface ConversationFilter {
  readonly isArchived?: boolean | undefined;
  readonly isPinned?: boolean | undefined;
  readonly folder?: string | undefined;
}

/** The last one of the page before, in the order of the list. */
export interface ConversationCursor {
  readonly updatedAt: number;
  readonly id: string;
}

export class ConversationStore {
  readonly #access: StorageAccess<ConversationTables>;

  readonly #space: TenantSpace;

  constructor(storage: Storage, space: TenantSpace) {
    this.#access = storage.access<ConversationTables>();
    this.#space = space;
  }

  /** One that the owner has already under this id is left as it is. Throws `too_many_conversations` and `conversation_quota_exceeded`. */
  async insert(owner: Owner, conversation: NewConversation): Promise<{ conversation: Conversation; isNew: boolean }> {
    return await this.#access.write(owner, async (tx) => {
      const before = await rowOf(tx, owner, conversation.id).executeTakeFirst();
      if (before !== undefined) return { conversation: toConversation(before), isNew: false };
      await checkCount(tx, owner);
      const metadata = conversation.metadata === undefined ? null : JSON.stringify(conversation.metadata);
      const bytes = bytesOfRow({ title: conversation.title, metadata });
      await this.#space.require(tx, owner, bytes);
      const row = await insertRow(tx, owner, conversation, { metadata, bytes });
      if (row.temporary === 0) await this.#indexTitle(tx, owner, row);
      return { conversation: toConversation(row), isNew: true };
    });
  }

  /** Throws `too_many_conversations` when the owner can have no more. */
  async requireSpace(owner: Owner): Promise<void> {
    await this.#access.read(owner, (db) => checkCount(db, owner));
  }

  async find(owner: Owner, id: string): Promise<Conversation | undefined> {
    const row = await this.#access.read(owner, (db) => rowOf(db, owner, id).executeTakeFirst());
    return row && toConversation(row);
  }

  /** Newest first, without temporary ones. */
  async list(owner: Owner, filter: ConversationFilter, limit: number, after?: ConversationCursor): Promise<ListedConversation[]> {
    const rows = await this.#access.read(owner, async (db) => {
      let query = rowsOf(db, owner).clearSelect().select(LISTED_COLUMNS).where('temporary', '=', 0);
      if (filter.isArchived !== undefined) query = query.where('archived', '=', Number(filter.isArchived));
      if (filter.isPinned !== undefined) query = query.where('pinned', '=', Number(filter.isPinned));
      if (filter.folder !== undefined) query = query.where('folder', '=', filter.folder);
      if (after !== undefined) query = query.where(sql<boolean>`(updated_at, id) < (${after.updatedAt}, ${after.id})`);
      return await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
    });
    return rows.map(toListedConversation);
  }

  /** Throws `conversation_not_found`, `message_not_found`, `conversation_quota_exceeded`, and `version_conflict` at another version. */
  async update(owner: Owner, id: string, changes: ConversationChanges, now: number, expected?: number): Promise<Conversation> {
    return await this.#access.write(owner, async (tx) => {
      const before = requireVersion(await lockRow(tx, this.#access.dialect, owner, id), expected);
      if (changes.currentMessageId !== undefined) await requireMessage(tx, before.no, changes.currentMessageId);
      const isKept = changes.isTemporary === false && before.temporary === 1;
      if (isKept && before.last_seq > 0) throw alreadyBegun();
      const columns = toColumns(changes);
      const more = bytesOfRow({ ...before, ...columns }) - bytesOfRow(before);
      await this.#space.require(tx, owner, more);
      const isRenamed = changes.title !== undefined && changes.title !== before.title;
      const row = await tx
        .updateTable('conversations')
        .set({ ...columns, version: before.version + 1, bytes: before.bytes + more })
        .$if(isRenamed, (query) => query.set({ updated_at: Math.max(now, before.updated_at) }))
        .where('no', '=', before.no)
        .where('tenant', '=', owner.tenant)
        .returningAll()
        .executeTakeFirstOrThrow();
      if ((isRenamed || isKept) && row.temporary === 0) await this.#indexTitle(tx, owner, row, isKept ? '' : before.title);
      return toConversation(row);
    });
  }

  /** Under which key its files lie; undefined: it has none. Throws `conversation_not_found`. */
  async filesKey(owner: Owner, id: string): Promise<string | undefined> {
    const row = await this.#access.read(owner, (db) => rowOf(db, owner, id).executeTakeFirst());
    if (row === undefined) throw conversationNotFound();
    return row.files_key ?? undefined;
  }

  /** The one that it has, else this one. Throws `conversation_not_found`. */
  async makeFilesKey(owner: Owner, id: string, key: string): Promise<string> {
    return await this.#access.write(owner, async (tx) => {
      const { no, files_key: there } = await lockRow(tx, this.#access.dialect, owner, id);
      if (there !== null) return there;
      await tx.updateTable('conversations').set({ files_key: key }).where('no', '=', no).execute();
      return key;
    });
  }

  async #indexTitle(tx: Kysely<ConversationTables>, owner: Owner, row: ConversationRow, titleBefore = ''): Promise<void> {
    const place = { conversationNo: row.no, seq: TITLE_SEQ };
    await removeTerms(tx, this.#access.dialect, owner, place, listTerms(titleBefore));
    await addTerms(tx, this.#access.dialect, owner, place, listTerms(row.title));
  }
}

export function rowsOf(db: Kysely<ConversationTables>, { tenant, subject }: Owner) {
  return db.selectFrom('conversations').selectAll().where('tenant', '=', tenant).where('subject', '=', subject);
}

export function rowOf(db: Kysely<ConversationTables>, owner: Owner, id: string) {
  return rowsOf(db, owner).where('id', '=', id);
}

/** The row, kept from other writers until the transaction ends. Throws `conversation_not_found`. */
export async function lockRow(
  tx: Kysely<ConversationTables>,
  dialect: Dialect,
  owner: Owner,
  id: string,
): Promise<ConversationRow> {
  // Without the lock, PostgreSQL reports what two writers insert at once as a violated key instead of a conflict to be retried.
  const query = rowOf(tx, owner, id).$if(dialect === 'postgres', (locking) => locking.forUpdate());
  const row = await query.executeTakeFirst();
  if (row === undefined) throw conversationNotFound();
  return row;
}

/** Throws `version_conflict`. */
export function requireVersion(row: ConversationRow, expected: number | undefined): ConversationRow {
  if (expected === undefined || expected === row.version) return row;
  const detail = `The conversation is at version ${row.version}, and version ${expected} was expected: read it again, then repeat the change.`;
  throw conversationError('version_conflict', detail, { extra: { version: row.version } });
}

/** Its messages are in no index. */
function alreadyBegun(): ConversationError {
  return conversationError(
    'invalid_request',
    'The temporary conversation has messages already, and stays temporary; begin another to keep what is said.',
  );
}

async function checkCount(db: Kysely<ConversationTables>, owner: Owner): Promise<void> {
  const count = await rowsOf(db, owner)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  if (count.n < MAX_CONVERSATIONS) return;
  const detail = `You have ${count.n} conversations, and no more than ${MAX_CONVERSATIONS} are kept. Delete some first.`;
  throw conversationError('too_many_conversations', detail);
}

async function requireMessage(db: Kysely<ConversationTables>, conversationNo: number, id: string): Promise<void> {
  const query = db.selectFrom('conversation_messages').select('seq').where('conversation_no', '=', conversationNo);
  if ((await query.where('id', '=', id).executeTakeFirst()) === undefined) throw messageNotFound('current_message_id');
}

function bytesOfRow({ title, metadata }: Pick<ConversationRow, 'title' | 'metadata'>): number {
  return bytesOfTexts(title, metadata);
}

async function insertRow(
  tx: Kysely<ConversationTables>,
  owner: Owner,
  given: NewConversation,
  stored: Pick<ConversationRow, 'metadata' | 'bytes'>,
): Promise<ConversationRow> {
  return await tx
    .insertInto('conversations')
    .values({
      tenant: owner.tenant,
      subject: owner.subject,
      id: given.id,
      title: given.title,
      folder: given.folder ?? null,
      pinned: Number(given.isPinned ?? false),
      archived: Number(given.isArchived ?? false),
      temporary: Number(given.isTemporary ?? false),
      model: given.model ?? null,
      current_message_id: null,
      created_at: given.createdAt,
      updated_at: given.createdAt,
      expires_at: given.expiresAt ?? null,
      version: 1,
      last_seq: 0,
      files_key: null,
      ...stored,
    })
    // To PostgreSQL a row of a concurrent transaction is then a conflict to be retried; there was none before.
    .onConflict((conflict) => conflict.columns(['tenant', 'subject', 'id']).doNothing())
    .returningAll()
    .executeTakeFirstOrThrow();
}

function toColumns(changes: ConversationChanges) {
  const { title, folder, isPinned, isArchived, isTemporary, model, metadata, currentMessageId } = changes;
  return {
    ...(isTemporary === false ? { temporary: 0, expires_at: null } : {}),
    ...(title === undefined ? {} : { title }),
    ...(folder === undefined ? {} : { folder }),
    ...(isPinned === undefined ? {} : { pinned: Number(isPinned) }),
    ...(isArchived === undefined ? {} : { archived: Number(isArchived) }),
    ...(model === undefined ? {} : { model }),
    ...(metadata === undefined ? {} : { metadata: metadata === null ? null : JSON.stringify(metadata) }),
    ...(currentMessageId === undefined ? {} : { current_message_id: currentMessageId }),
  };
}
