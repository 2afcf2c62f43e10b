/**
 * Stores conversations that come whole. Their messages are written in steps under a subject that nobody is, and the conversation becomes its
 * owner's with the last step: a crash leaves all of it or nothing.
 */
import { randomUUID } from 'node:crypto';
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import type { Owner } from '../owner.ts';
import { type ImportStep, type PackedConversation, unpackStep } from '../transfer/packed-conversation.ts';
import { ConversationStore, lockRow, rowOf } from './conversation-store.ts';
import { toRow } from './message-store.ts';
import type { ConversationTables } from './tables.ts';
import { addTerms } from './term-index.ts';

/** What a crash leaves is removed after this time. */
const STAGED_MS = 24 * 3_600_000;

export class ImportStore {
  readonly #access: StorageAccess<ConversationTables>;
  readonly #conversations: ConversationStore;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
    this.#conversations = new ConversationStore(storage);
  }

  /** False: the owner has a conversation with this id already, and it stays as it is. Throws `too_many_conversations`. */
  async insert(owner: Owner, imported: PackedConversation, now: number): Promise<boolean> {
    const { id } = imported.conversation;
    if ((await this.#conversations.find(owner, id)) !== undefined) return false;
    await this.#conversations.requireSpace(owner);
    const staged = { ...owner, subject: `import:${randomUUID()}` };
    await this.#conversations.insert(staged, { ...imported.conversation, expiresAt: now + STAGED_MS });
    for (const step of imported.steps) await this.#append(staged, id, unpackStep(step));
    return await this.#publish(staged, owner, imported);
  }

  async #append(staged: Owner, id: string, { messages, terms }: ImportStep): Promise<void> {
    const { dialect } = this.#access;
    await this.#access.write(staged, async (tx) => {
      let conversation = await lockRow(tx, dialect, staged, id);
      for (const [i, message] of messages.entries()) {
        const row = toRow(conversation, message, message.parentId);
        await tx.insertInto('conversation_messages').values(row).execute();
        await addTerms(tx, dialect, staged, { conversationNo: conversation.no, seq: row.seq }, terms[i] ?? []);
        conversation = { ...conversation, last_seq: row.seq, updated_at: row.ts };
      }
      const { no, last_seq, updated_at } = conversation;
      await tx.updateTable('conversations').set({ last_seq, updated_at }).where('no', '=', no).execute();
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
