/**
 * Erases conversations. First they are taken from their owner, all at once; then their rows are removed in small steps, since a large delete
 * would hold up other writes. What a crash interrupts is removed at the next start.
 */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, StorageScope, TenantScope } from '../../../platform/storage/index.ts';
import type { Owner } from '../owner.ts';
import type { ConversationTables } from './tables.ts';
import { BLOCK_MESSAGES, valuesOf } from './term-index.ts';

const STEP_BLOCKS = 8;
const STEP_MESSAGES = STEP_BLOCKS * BLOCK_MESSAGES;
const STEP_CONVERSATIONS = 50;

/** Whose all is erased: a tenant's, or that of one subject of any tenant. */
interface Whose {
  readonly column: 'tenant' | 'subject';
  readonly value: string;
}

/** Whoever keeps the files of conversations. */
export interface FilesEraser {
  /** False: it cannot be asked now, and is told later. */
  readonly isConnected: boolean;
  erase(keys: readonly string[]): Promise<void>;
}

interface Erased {
  readonly no: number;
  readonly last_seq: number;
  readonly files_key: string | null;
}

export class ErasureStore {
  readonly #access: StorageAccess<ConversationTables>;

  readonly #files: FilesEraser | undefined;

  /** `files`: undefined where whoever keeps them erases them by itself. */
  constructor(storage: Storage, files?: FilesEraser) {
    this.#access = storage.access<ConversationTables>();
    this.#files = files;
  }

  /** Takes one conversation, or all, from their owner: nothing finds them any more. Returns how many. */
  async detach(owner: Owner, id?: string): Promise<number> {
    const [result] = await this.#access.writeUnit(owner, (db) => [
      detaching(db)
        .where('tenant', '=', owner.tenant)
        .where('subject', '=', owner.subject)
        .$if(id !== undefined, (query) => query.where('id', '=', id ?? '')),
      removingArtifacts(db, owner),
    ]);
    return result?.affectedRows ?? 0;
  }

  /** Takes everything of a tenant or of a subject: its conversations as above, and its artifacts and prompts at once. */
  async detachAll(scope: StorageScope, { column, value }: Whose): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [
      detaching(db).where(column, '=', value).where('subject', '!=', ''),
      db.deleteFrom('artifacts').where(column, '=', value),
      db.deleteFrom('prompts').where(column, '=', value),
    ]);
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    for (const table of ['conversations', 'artifacts', 'prompts'] as const) {
      const row = await this.#access.read(scope, (db) =>
        db
          .selectFrom(table)
          .select('id')
          .where('tenant', '=', scope.tenant)
          .where('subject', '!=', '')
          .limit(1)
          .executeTakeFirst(),
      );
      if (row !== undefined) return true;
    }
    return false;
  }

  async detachExpired(scope: StorageScope, now: number): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [
      detaching(db).where('expires_at', '<', now).where('subject', '!=', ''),
      removingArtifacts(db),
    ]);
  }

  /**
   * Removes all rows of what was taken from its owners. While the files of a conversation cannot be erased, a row that says nothing but where they
   * lie waits for that.
   */
  async removeDetached(scope: StorageScope): Promise<void> {
    const isWaiting = this.#files?.isConnected === false;
    for (;;) {
      const erased = await this.#access.read(scope, (db) =>
        db
          .selectFrom('conversations')
          .select(['no', 'last_seq', 'files_key'])
          .where('subject', '=', sql.lit(''))
          .$if(isWaiting, (query) => query.where((eb) => eb.or([eb('files_key', 'is', null), eb('last_seq', '>', 0)])))
          .orderBy('no')
          .limit(STEP_CONVERSATIONS)
          .execute(),
      );
      const [first] = erased;
      if (first === undefined) return;
      if (first.last_seq > STEP_MESSAGES) await this.#shrink(scope, first);
      const step = fitting(erased);
      if (isWaiting) await this.#empty(scope, numbersOf(step.filter(({ files_key }) => files_key !== null)));
      else await this.#eraseFiles(step);
      await this.#remove(scope, numbersOf(isWaiting ? step.filter(({ files_key }) => files_key === null) : step));
    }
  }

  async #eraseFiles(erased: readonly Erased[]): Promise<void> {
    const keys = erased.flatMap(({ files_key }) => files_key ?? []);
    if (keys.length > 0) await this.#files?.erase(keys);
  }

  /** Leaves the rows of the conversations alone. */
  async #empty(scope: StorageScope, numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.#access.writeUnit(scope, (db) => [
      db.deleteFrom('conversation_terms').where('conversation_no', 'in', [...numbers]),
      db.deleteFrom('conversation_messages').where('conversation_no', 'in', [...numbers]),
      db.deleteFrom('conversation_shares').where('conversation_no', 'in', [...numbers]),
      db
        .updateTable('conversations')
        .set({ last_seq: 0, bytes: 0 })
        .where('no', 'in', [...numbers]),
    ]);
  }

  /** Removes the messages of a long conversation, save for the last step's. */
  async #shrink(scope: StorageScope, { no, last_seq }: Erased): Promise<void> {
    for (let seq = 0; seq <= last_seq; seq += STEP_MESSAGES) {
      const block = seq / BLOCK_MESSAGES;
      await this.#access.writeUnit(scope, (db) => [
        db
          .deleteFrom('conversation_terms')
          .where('conversation_no', '=', no)
          .where('block', '>=', block)
          .where('block', '<', block + STEP_BLOCKS),
        db
          .deleteFrom('conversation_messages')
          .where('conversation_no', '=', no)
          .where('seq', '>=', seq)
          .where('seq', '<', seq + STEP_MESSAGES),
      ]);
    }
  }

  async #remove(scope: StorageScope, numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    const listed = sql<number>`(select cast(value as bigint) from ${valuesOf(this.#access.dialect, numbers)} as numbers)`;
    await this.#access.writeUnit(scope, (db) => [
      db.deleteFrom('conversation_terms').where('conversation_no', 'in', listed),
      // Its messages go with it.
      db.deleteFrom('conversations').where('no', 'in', listed),
    ]);
  }
}

function detaching(db: Kysely<ConversationTables>) {
  // Erased ones of several subjects have no id in common, and their titles are gone at once.
  return db.updateTable('conversations').set({ subject: '', id: sql`cast(no as text)`, title: '', metadata: null });
}

/** What was made in conversations that have just been taken from their owner. */
function removingArtifacts(db: Kysely<ConversationTables>, owner?: Owner) {
  const erased = db.selectFrom('conversations').select('no').where('subject', '=', sql.lit(''));
  const query = db.deleteFrom('artifacts').where('conversation_no', 'in', erased);
  return owner === undefined ? query : query.where('tenant', '=', owner.tenant).where('subject', '=', owner.subject);
}

/** The first, and those behind it that have no more messages together than a step removes. */
function fitting(erased: readonly Erased[]): Erased[] {
  let total = 0;
  return erased.filter(({ last_seq }, i) => {
    total += last_seq;
    return i === 0 || total <= STEP_MESSAGES;
  });
}

function numbersOf(erased: readonly Erased[]): number[] {
  return erased.map(({ no }) => no);
}
