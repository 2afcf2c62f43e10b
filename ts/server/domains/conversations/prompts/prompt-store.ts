/** Prompts in the database: those of one subject, or of the whole tenant. */
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import { conversationError } from '../errors.ts';
import { MAX_PROMPTS } from '../limits.ts';
import type { Owner } from '../owner.ts';
import type { ConversationTables } from '../store/tables.ts';

/** No caller is named so: see owner.ts. */
const EVERYBODY = 'tenant';

export interface Prompt {
  readonly id: string;
  readonly title: string;
  readonly content: string;
  /** It is the tenant's, and everybody of it has it. */
  readonly isShared: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PromptChanges {
  readonly title?: string | undefined;
  readonly content?: string | undefined;
}

/** Whose list a prompt stands in. */
export function tenantList(scope: TenantScope): Owner {
  return { ...scope, subject: EVERYBODY };
}

export class PromptStore {
  readonly #access: StorageAccess<ConversationTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
  }

  /** The owner's and the tenant's, by title. */
  async list(owner: Owner): Promise<Prompt[]> {
    const rows = await this.#access.read(owner, (db) =>
      db
        .selectFrom('prompts')
        .selectAll()
        .where('tenant', '=', owner.tenant)
        .where('subject', 'in', [owner.subject, EVERYBODY])
        .orderBy('title')
        .orderBy('id')
        .limit(2 * MAX_PROMPTS)
        .execute(),
    );
    return rows.map(toPrompt);
  }

  /** One with this id is left as it is. Throws `too_many_prompts`. */
  async insert(list: Owner, prompt: Omit<Prompt, 'isShared'>): Promise<{ prompt: Prompt; isNew: boolean }> {
    return await this.#access.write(list, async (tx) => {
      const own = tx.selectFrom('prompts').where('tenant', '=', list.tenant).where('subject', '=', list.subject);
      const before = await own.selectAll().where('id', '=', prompt.id).executeTakeFirst();
      if (before !== undefined) return { prompt: toPrompt(before), isNew: false };
      const { n } = await own.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      if (n >= MAX_PROMPTS)
        throw conversationError('too_many_prompts', `There are ${n} prompts, which is the limit. Delete some first.`);
      const { id, title, content, createdAt, updatedAt } = prompt;
      const { tenant, subject } = list;
      const row = { tenant, subject, id, title, content, created_at: createdAt, updated_at: updatedAt };
      await tx.insertInto('prompts').values(row).execute();
      return { prompt: toPrompt(row), isNew: true };
    });
  }

  /** Undefined: the list has none of this id. */
  async update(list: Owner, id: string, { title, content }: PromptChanges, now: number): Promise<Prompt | undefined> {
    const row = await this.#access.write(list, (tx) =>
      tx
        .updateTable('prompts')
        .set({ updated_at: now, ...(title === undefined ? {} : { title }), ...(content === undefined ? {} : { content }) })
        .where('tenant', '=', list.tenant)
        .where('subject', '=', list.subject)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),
    );
    return row && toPrompt(row);
  }

  /** False: there was none. */
  async remove(list: Owner, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(list, (db) => [
      db.deleteFrom('prompts').where('tenant', '=', list.tenant).where('subject', '=', list.subject).where('id', '=', id),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }
}

function toPrompt(row: ConversationTables['prompts']): Prompt {
  return {
    id: row.id,
    title: row.title,
    content: row.content,
    isShared: row.subject === EVERYBODY,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
