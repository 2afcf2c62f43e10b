/**
 * Stores conversations that come whole. Their messages are written in steps under a subject that nobody is, and the conversation becomes its
 * owner's with the last step: a crash leaves all of it or nothing.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import type { Owner } from '../owner.ts';
import { type ImportStep, type PackedConversation, unpackStep } from '../transfer/packed-conversation.ts';
import { ConversationStore, lockRow, rowOf } from './conversation-store.ts';
import { bytesOfMessage, toRow } from './message-store.ts';
import type { ConversationTables } from './tables.ts';
import type { TenantSpace } from './tenant-space.ts';
import { addTerms } from './term-index.ts';

/** What a crash leaves is removed after this time. */
const STAGED_MS = 24 * 3_600_000;

export class ImportStore {
  readonly #access: StorageAccess<ConversationTables>;
  readonly #conversations: ConversationStore;
  readonly #space: TenantSpace;

  constructor(storage: Storage, space: TenantSpace) {
    this.#access = storage.access<ConversationTables>();
    this.#space = space;
    this.#conversations = new ConversationStore(storage, space);
  }

  /** False: the owner has a conversation with this id already, and it stays as it is. Throws `too_many_conversations` and the quota's refusal. */
  async insert(owner: Owner, imported: PackedConversation, now: number): Promise<boolean> {
    const { id } = imported.conversation;
    if ((await this.#conversations.find(owner, id)) !== undefined) return false;
    await this.#conversations.requireSpace(owner);
    const staged = { ...owner, subject: `import:${randomUUID()}` };
    await this.#conversations.insert(staged, { ...imported.conversation, expiresAt: now + STAGED_MS });
    try {
      for (const step of imported.steps) await this.#append(staged, id, unpackStep(step));
    } catch (error) {
      await this.#giveUp(staged);
      throw error;
    }
    return await this.#publish(staged, owner, imported);
  }

  /** What was written is erased with the next sweep, and takes no space of the tenant's any more. */
  async #giveUp(staged: Owner): Promise<void> {
    await this.#access.writeUnit(staged, (db) => [
      db
        .updateTable('conversations')
        .set({ subject: '', id: sql`cast(no as text)`, bytes: 0 })
        .where('tenant', '=', staged.tenant)
        .where('subject', '=', staged.subject),
    ]);
  }

  async #append(staged: Owner, id: string, { messages, terms }: ImportStep): Promise<void> {
    const { dialect } = this.#access;
    await this.#access.write(staged, async (tx) => {
      let conversation = await lockRow(tx, dialect, staged, id);
      let more = 0;
      for (const [i, message] of messages.entries()) {
        const row = toRow(conversation, message, message.parentId);
        await tx.insertInto('conversation_messages').values(row).execute();
        more += bytesOfMessage(row);
        await addTerms(tx, dialect, staged, { conversationNo: conversation.no, seq: row.seq }, terms[i] ?? []);
        conversation = { ...conversation, last_seq: row.seq, updated_at: row.ts };
      }
      await this.#space.require(tx, staged, more);
      const { no, last_seq, updated_at } = conversation;
      const bytes = conversation.bytes + more;
      await tx.updateTable('conversations').set({ last_seq, updated_at, bytes }).where('no', '=', no).execute();
    });
  }

  /** Another import of the same file may have been quicker: what was written is then removed by the sweep. */
  async #publish(staged: Owner, owner: Owner, { conversation, currentMessageId }: PackedConversation): Promise<boolean> {
    return await this.#access.write(owner, async (tx) => {
      const row = await lockRow(tx, this.#access.dialect, staged, conversation.id);
      const other = await rowOf(tx, owner, conversation.id).executeTakeFirst();
      const change =
        other === undefined
          ? { subject: owner.subject, expires_at: null, current_message_id: currentMessageId ?? null }
          : { subject: '', id: String(row.no) };
      await tx.updateTable('conversations').set(change).where('no', '=', row.no).execute();
      return other === undefined;
    });
  }
}
