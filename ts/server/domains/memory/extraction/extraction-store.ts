/** Accounts that let memories be taken from what they say, and how far each of their conversations was read. */
import type { StorageScope, TenantScope } from '../../../platform/storage/index.ts';
import type { Delegation } from '../../identity/index.ts';
import type { MemoryStorage } from '../tables.ts';

interface ExtractingAccount {
  /** The account let it be done in its name. */
  readonly delegation: Delegation;
  /** Messages from before are not read. */
  readonly since: number;
  /** Conversations that have rested since then were read. */
  readonly until: number;
}

/** A place in a message of which a memory was forgotten; without a start, all of the message. */
interface ForgottenPlace {
  readonly messageId: string;
  readonly start?: number;
  readonly end?: number;
}

export class ExtractionStore {
  readonly #storage: MemoryStorage;

  constructor(storage: MemoryStorage) {
    this.#storage = storage;
  }

  /** Switched on again, it goes on from now. */
  async switchOn(scope: TenantScope, owner: string, delegation: Delegation, now: number): Promise<void> {
    const set = { extract: JSON.stringify(delegation), extract_since: now, extracted_until: now };
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('memory_preferences')
        .values({ tenant: scope.tenant, owner, recall: 0, ...set })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner']).doUpdateSet(set)),
    ]);
  }

  async switchOff(scope: TenantScope, owner: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('memory_preferences')
        .set({ extract: null, extract_since: null, extracted_until: null })
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner),
    ]);
  }

  /** Undefined: it is off. */
  async find(scope: TenantScope, owner: string): Promise<ExtractingAccount | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_preferences')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .where('extract', 'is not', null)
        .executeTakeFirst(),
    );
    if (row === undefined || row.extract === null) return undefined;
    const delegation = JSON.parse(row.extract) as Delegation;
    return { delegation, since: row.extract_since ?? 0, until: row.extracted_until ?? 0 };
  }

  async list(everyone: StorageScope): Promise<{ tenant: string; owner: string; until: number }[]> {
    const rows = await this.#storage.read(everyone, (db) =>
      db.selectFrom('memory_preferences').selectAll().where('extract', 'is not', null).execute(),
    );
    return rows.map(({ tenant, owner, extracted_until: until }) => ({ tenant, owner, until: until ?? 0 }));
  }

  async setUntil(scope: TenantScope, owner: string, until: number): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('memory_preferences')
        .set({ extracted_until: until })
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .where('extract', 'is not', null),
    ]);
  }

  /** The last message of the conversation that was read; 0: none was. */
  async readTo(scope: TenantScope, owner: string, conversationId: string): Promise<number> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_readings')
        .select('seq')
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .where('conversation_id', '=', conversationId)
        .executeTakeFirst(),
    );
    return row?.seq ?? 0;
  }

  async setReadTo(scope: TenantScope, owner: string, conversationId: string, seq: number): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('memory_readings')
        .values({ tenant: scope.tenant, owner, conversation_id: conversationId, seq })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner', 'conversation_id']).doUpdateSet({ seq })),
    ]);
  }

  async forgottenPlaces(scope: TenantScope, owner: string): Promise<ForgottenPlace[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_forgotten')
        .select('places')
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .where('places', '<>', '[]')
        .execute(),
    );
    return rows.flatMap(({ places }) => JSON.parse(places) as ForgottenPlace[]);
  }
}

/** Whether a memory of that place was forgotten. */
export function wasForgotten(
  forgotten: readonly ForgottenPlace[],
  place: { readonly messageId: string; readonly start: number; readonly end: number },
): boolean {
  return forgotten.some(
    ({ messageId, start = 0, end = Number.POSITIVE_INFINITY }) =>
      messageId === place.messageId && start < place.end && place.start < end,
  );
}
