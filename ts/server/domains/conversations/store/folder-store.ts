/** Folders of conversations: names that conversations carry. One without a conversation is none. */
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import type { Owner } from '../owner.ts';
import type { ConversationTables } from './tables.ts';

const MAX_FOLDERS = 1_000;

export interface Folder {
  readonly folder: string;
  readonly nConversations: number;
}

export class FolderStore {
  readonly #access: StorageAccess<ConversationTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
  }

  /** By name, without temporary and archived conversations. */
  async list(owner: Owner): Promise<Folder[]> {
    const rows = await this.#access.read(owner, (db) =>
      db
        .selectFrom('conversations')
        .select(['folder', ({ fn }) => fn.countAll<number>().as('n')])
        .where('tenant', '=', owner.tenant)
        .where('subject', '=', owner.subject)
        .where('folder', 'is not', null)
        .where('temporary', '=', 0)
        .where('archived', '=', 0)
        .groupBy('folder')
        .orderBy('folder')
        .limit(MAX_FOLDERS)
        .execute(),
    );
    return rows.flatMap(({ folder, n }) => (folder === null ? [] : [{ folder, nConversations: Number(n) }]));
  }

  /** Null takes the conversations out of it. Returns how many there were. */
  async rename(owner: Owner, folder: string, name: string | null): Promise<number> {
    const [result] = await this.#access.writeUnit(owner, (db) => [
      db
        .updateTable('conversations')
        .set(({ eb }) => ({ folder: name, version: eb('version', '+', 1) }))
        .where('tenant', '=', owner.tenant)
        .where('subject', '=', owner.subject)
        .where('folder', '=', folder),
    ]);
    return result?.affectedRows ?? 0;
  }
}
