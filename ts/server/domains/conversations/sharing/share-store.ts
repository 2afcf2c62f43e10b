/** Links to conversations in the database. A conversation that was erased has none. */
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import { conversationError } from '../errors.ts';
import type { Owner } from '../owner.ts';
import { lockRow, rowsOf } from '../store/conversation-store.ts';
import type { ConversationTables } from '../store/tables.ts';
import type { Share } from './share.ts';

interface FoundShare extends Share {
  /** Whose conversation it is. */
  readonly subject: string;
}

export class ShareStore {
  readonly #access: StorageAccess<ConversationTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
  }

  /** The branch that is shown now; one that is shared already keeps its link. Throws `conversation_not_found`, `invalid_request`. */
  async insert(owner: Owner, conversationId: string, id: string, createdAt: number): Promise<{ share: Share; isNew: boolean }> {
    return await this.#access.write(owner, async (tx) => {
      const { no, current_message_id: leafId } = await lockRow(tx, this.#access.dialect, owner, conversationId);
      if (leafId === null) throw conversationError('invalid_request', 'The conversation has no message to be shared yet.');
      const before = await tx
        .selectFrom('conversation_shares')
        .select(['id', 'created_at'])
        .where('tenant', '=', owner.tenant)
        .where('conversation_no', '=', no)
        .where('leaf_id', '=', leafId)
        .executeTakeFirst();
      if (before !== undefined)
        return { share: { id: before.id, conversationId, leafId, createdAt: before.created_at }, isNew: false };
      const row = { tenant: owner.tenant, id, conversation_no: no, leaf_id: leafId, created_at: createdAt };
      await tx.insertInto('conversation_shares').values(row).execute();
      return { share: { id, conversationId, leafId, createdAt }, isNew: true };
    });
  }

  /** For any caller of the tenant. */
  async find(scope: TenantScope, id: string): Promise<FoundShare | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('conversation_shares as s')
        .innerJoin('conversations as c', 'c.no', 's.conversation_no')
        .select(['s.id', 's.leaf_id', 's.created_at', 'c.id as conversation_id', 'c.subject'])
        .where('s.tenant', '=', scope.tenant)
        .where('c.tenant', '=', scope.tenant)
        .where('s.id', '=', id)
        .where('c.subject', '!=', '')
        .executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    const { conversation_id: conversationId, leaf_id: leafId, created_at: createdAt, subject } = row;
    return { id: row.id, conversationId, leafId, createdAt, subject };
  }

  /** Of one conversation of the owner, or of all, newest first. */
  async list(owner: Owner, limit: number, conversationId?: string): Promise<Share[]> {
    const rows = await this.#access.read(owner, (db) =>
      db
        .selectFrom('conversation_shares as s')
        .innerJoin('conversations as c', 'c.no', 's.conversation_no')
        .select(['s.id', 's.leaf_id', 's.created_at', 'c.id as conversation_id'])
        .where('s.tenant', '=', owner.tenant)
        .where('c.tenant', '=', owner.tenant)
        .where('c.subject', '=', owner.subject)
        .$if(conversationId !== undefined, (query) => query.where('c.id', '=', conversationId ?? ''))
        .orderBy('s.created_at', 'desc')
        .orderBy('s.id')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({
      id: row.id,
      conversationId: row.conversation_id,
      leafId: row.leaf_id,
      createdAt: row.created_at,
    }));
  }

  /** False: the owner has shared nothing under this id. */
  async remove(owner: Owner, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(owner, (db) => [
      db
        .deleteFrom('conversation_shares')
        .where('tenant', '=', owner.tenant)
        .where('id', '=', id)
        .where('conversation_no', 'in', rowsOf(db, owner).clearSelect().select('no')),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }
}
