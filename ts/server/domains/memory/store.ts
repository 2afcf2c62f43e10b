/** Memories on disk. What is indexed of them changes with the version of their collection, in one transaction. */
import type { Kysely, Selectable } from 'kysely';
import type { StorageScope, SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type EmbeddingSource, floatBytes } from '../retrieval/index.ts';
import {
  accountOwner,
  type ChangeAction,
  type Memory,
  type MemoryChange,
  type MemoryCollection,
  type MemoryKind,
  type MemoryState,
  type Origin,
  type Reader,
  type Trust,
} from './memory.ts';
import type { MemoryStorage, MemoryTable, MemoryTables } from './tables.ts';

interface NewMemory {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly subject: string | undefined;
  readonly textHash: string;
  readonly attribute: string | undefined;
  readonly origin: Origin;
  readonly trust: Trust;
  readonly validFrom: number;
  readonly recordedAt: number;
  readonly embedding: Float32Array;
}

/** A person changes these members of a memory; undefined stays as it is. */
interface MemoryEdit {
  readonly kind?: MemoryKind | undefined;
  readonly validFrom?: number | undefined;
  readonly validTo?: number | null | undefined;
  readonly isPinned?: boolean | undefined;
  readonly words?: Pick<NewMemory, 'text' | 'subject' | 'textHash' | 'attribute' | 'embedding'> | undefined;
}

interface Binding {
  readonly model: string;
  readonly source: EmbeddingSource;
  readonly prefixes: string;
}

type Added = { readonly memory: Memory; readonly isNew: boolean } | 'full';

type Db = Kysely<MemoryTables>;

/** A memory that was said so often keeps the places of the first ones. */
const MOST_ORIGINS = 20;
const FIRST_STRENGTH = 1;
const MOST_STRENGTH = 100;

export class MemoryStore {
  readonly #storage: MemoryStorage;

  constructor(storage: MemoryStorage) {
    this.#storage = storage;
  }

  async collections({ owners, ...scope }: Reader): Promise<MemoryCollection[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_collections')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('owner', 'in', [...owners])
        .execute(),
    );
    return rows.map(toCollection);
  }

  /** The one that is there, else one that is bound to this model. */
  async openCollection(scope: TenantScope, owner: string, { model, source, prefixes }: Binding): Promise<MemoryCollection> {
    const { tenant } = scope;
    const id = `memory_${newTimeOrderedId().replaceAll('-', '')}`;
    const bound = { embedding_model: model, embedding_source: source, embedding_prefixes: prefixes, dimensions: null };
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('memory_collections')
        .values({ tenant, owner, id, version: 0, ...bound })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner']).doNothing()),
    ]);
    const [collection] = await this.collections({ ...scope, owners: [owner] });
    if (collection === undefined) throw new Error('the collection of memories was erased while it was made');
    return collection;
  }

  /**
   * A memory that is there in the same words is strengthened. Of one subject and attribute the statement that holds later is current: the other one's validity
   * ends with it, unless it is pinned.
   */
  async add(scope: TenantScope, collection: MemoryCollection, draft: NewMemory, most: number): Promise<Added> {
    return await this.#storage.write(scope, async (tx) => {
      const version = await nextVersion(tx, scope, collection, draft.embedding.length);
      const same = await currentOf(tx, scope, collection)
        .where('text_hash', '=', draft.textHash)
        .where('kind', '=', draft.kind)
        .executeTakeFirst();
      if (same !== undefined) return { memory: await repeat(tx, scope, same, draft), isNew: false };
      const { n } = await tx
        .selectFrom('memories')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .executeTakeFirstOrThrow();
      if (Number(n) >= most) return 'full';
      const row = await tx
        .insertInto('memories')
        .values(newRow(scope, collection, draft, version))
        .returningAll()
        .executeTakeFirstOrThrow();
      return { memory: toMemory(await settle(tx, scope, collection, row, version)), isNew: true };
    });
  }

  /** In the order in which they were recorded, newest first, those behind the id `before`. */
  async list(
    { owners, ...scope }: Reader,
    { states, after, limit }: { states: readonly MemoryState[]; after: string; limit: number },
  ): Promise<Memory[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('owner', 'in', [...owners])
        .where('state', 'in', [...states])
        .$if(after !== '', (query) => query.where('id', '<', after))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map(toMemory);
  }

  async find({ owners, ...scope }: Reader, id: string): Promise<Memory | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('owner', 'in', [...owners])
        .executeTakeFirst(),
    );
    return row && toMemory(row);
  }

  /** Newest last. */
  async history(scope: TenantScope, { id }: Pick<Memory, 'id'>): Promise<MemoryChange[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_changes')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('memory_id', '=', id)
        .orderBy('id')
        .execute(),
    );
    return rows.map(({ id: changeId, at, action, before, after, reason }) => ({
      id: changeId,
      at,
      action: action as ChangeAction,
      before: JSON.parse(before) as object,
      after: JSON.parse(after) as object,
      reason,
    }));
  }

  /** Undefined: it is not any more as it was read. */
  async edit(
    scope: TenantScope,
    collection: MemoryCollection,
    memory: Memory,
    edit: MemoryEdit,
    now: number,
  ): Promise<Memory | undefined> {
    return await this.#storage.write(scope, async (tx) => {
      const version = await nextVersion(tx, scope, collection, edit.words?.embedding.length);
      const { words } = edit;
      const row = await tx
        .updateTable('memories')
        .set({
          changed_at: now,
          ...(edit.kind !== undefined && { kind: edit.kind }),
          ...(edit.validFrom !== undefined && { valid_from: edit.validFrom }),
          ...(edit.validTo !== undefined && { valid_to: edit.validTo }),
          ...(edit.isPinned !== undefined && { pinned: Number(edit.isPinned) }),
          // The index takes each number once, so that nothing else counts as a change of it.
          ...(words && {
            version,
            text: words.text,
            subject: words.subject ?? null,
            text_hash: words.textHash,
            attribute: words.attribute ?? null,
            embedding: floatBytes(words.embedding),
            edited: 1,
          }),
        })
        .where('tenant', '=', scope.tenant)
        .where('no', '=', memory.no)
        .where('changed_at', '=', memory.changedAt)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const changed = toMemory(row);
      await noteChange(tx, scope, memory, changed, 'edited', 'A person changed it.', now);
      if (words === undefined) return changed;
      // Under its number the index has the words of before, so the memory gets another one.
      const { no: _, ...values } = row;
      await tx.deleteFrom('memories').where('tenant', '=', scope.tenant).where('no', '=', row.no).execute();
      await bury(tx, scope, [{ ...row, origins: '[]' }], version, now);
      return toMemory(await tx.insertInto('memories').values(values).returningAll().executeTakeFirstOrThrow());
    });
  }

  /** Removes the memory, and those that were found to say the same. How many it were. */
  async forget(scope: TenantScope, collection: MemoryCollection, { id }: Pick<Memory, 'id'>, now: number): Promise<number> {
    return await this.#storage.write(scope, async (tx) => {
      const rows = await tx
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .where((eb) => eb.or([eb('id', '=', id), eb('superseded_by', '=', id)]))
        .execute();
      const root = rows.find((row) => row.id === id);
      if (root === undefined) return 0;
      const gone = rows.filter((row) => row === root || row.text_hash === root.text_hash);
      return await remove(tx, scope, collection, gone, now);
    });
  }

  /** Removes all memories of an owner. How many it were. */
  async forgetAll(scope: TenantScope, collection: MemoryCollection, now: number): Promise<number> {
    return await this.#storage.write(scope, async (tx) => {
      const rows = await tx
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .execute();
      return await remove(tx, scope, collection, rows, now);
    });
  }

  /** The memories were recalled: each grows a little stronger. */
  async strengthen(scope: TenantScope, numbers: readonly number[], now: number): Promise<void> {
    if (numbers.length === 0) return;
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('memories')
        .set((eb) => ({ strength: eb('strength', '+', 1), recalled_at: now }))
        .where('tenant', '=', scope.tenant)
        .where('no', 'in', [...numbers])
        .where('strength', '<', MOST_STRENGTH),
    ]);
  }

  async recallsByItself(scope: TenantScope, owner: string): Promise<boolean> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_preferences')
        .select('recall')
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .executeTakeFirst(),
    );
    return row?.recall === 1;
  }

  async setRecall(scope: TenantScope, owner: string, isOn: boolean): Promise<void> {
    const recall = Number(isOn);
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('memory_preferences')
        .values({ tenant: scope.tenant, owner, recall })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner']).doUpdateSet({ recall })),
    ]);
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('memories').select('no').where('tenant', '=', scope.tenant).limit(1).executeTakeFirst(),
    );
    return row !== undefined;
  }

  async eraseTenant(scope: TenantScope): Promise<MemoryCollection[]> {
    return await this.#erase(scope, 'tenant', scope.tenant);
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<MemoryCollection[]> {
    return await this.#erase(everyone, 'owner', accountOwner(accountId));
  }

  async #erase(scope: StorageScope, name: 'tenant' | 'owner', value: string): Promise<MemoryCollection[]> {
    const collections = await this.#storage.read(scope, (db) =>
      db.selectFrom('memory_collections').selectAll().where(name, '=', value).execute(),
    );
    await this.#storage.writeUnit(scope, (db) => TABLES.map((table) => db.deleteFrom(table).where(name, '=', value)));
    return collections.map(toCollection);
  }
}

const TABLES = ['memories', 'memory_changes', 'memory_forgotten', 'memory_preferences', 'memory_collections'] as const;

/** Also the lock under which changes of one collection come one after another. */
async function nextVersion(tx: Db, { tenant }: TenantScope, { no }: MemoryCollection, dimensions?: number): Promise<number> {
  const { version } = await tx
    .updateTable('memory_collections')
    .set((eb) => ({ version: eb('version', '+', 1), ...(dimensions !== undefined && { dimensions }) }))
    .where('tenant', '=', tenant)
    .where('no', '=', no)
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}

function currentOf(db: Db, { tenant }: TenantScope, { no }: MemoryCollection) {
  return db
    .selectFrom('memories')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('collection_no', '=', no)
    .where('state', '=', 'current');
}

type Row = Selectable<MemoryTable>;

async function repeat(tx: Db, { tenant }: TenantScope, row: Row, { origin, recordedAt }: NewMemory): Promise<Memory> {
  const origins = [...(JSON.parse(row.origins) as Origin[]), origin].slice(0, MOST_ORIGINS);
  const changed = await tx
    .updateTable('memories')
    .set({
      origins: JSON.stringify(origins),
      strength: Math.min(MOST_STRENGTH, row.strength + 1),
      changed_at: Math.max(recordedAt, row.changed_at + 1),
    })
    .where('tenant', '=', tenant)
    .where('no', '=', row.no)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toMemory(changed);
}

/** Ends the validity of whichever of the statements about the same attribute holds earlier. */
async function settle(tx: Db, scope: TenantScope, collection: MemoryCollection, row: Row, version: number): Promise<Row> {
  if (row.attribute === null) return row;
  const others = await currentOf(tx, scope, collection)
    .where('attribute', '=', row.attribute)
    .where('no', '<>', row.no)
    .where('pinned', '=', 0)
    .orderBy('valid_from', 'desc')
    .execute();
  const later = others.find((other) => other.valid_from > row.valid_from);
  for (const other of others) if (other.valid_from <= row.valid_from) await supersede(tx, scope, other, row, version);
  return later === undefined ? row : await supersede(tx, scope, row, later, version);
}

async function supersede(tx: Db, scope: TenantScope, old: Row, by: Row, version: number): Promise<Row> {
  const now = Math.max(by.recorded_at, old.changed_at + 1);
  const ended = { state: 'superseded', superseded_by: by.id, valid_to: Math.max(by.valid_from, old.valid_from), version };
  const row = await tx
    .updateTable('memories')
    .set({ ...ended, changed_at: now })
    .where('tenant', '=', scope.tenant)
    .where('no', '=', old.no)
    .returningAll()
    .executeTakeFirstOrThrow();
  const reason = 'A statement about the same subject and attribute holds later.';
  await noteChange(tx, scope, toMemory(old), toMemory(row), 'superseded', reason, now);
  return row;
}

/** Places in messages, so that nothing is made of them again. */
function placesOf({ origins }: Pick<Row, 'origins'>): string {
  const places = (JSON.parse(origins) as Origin[]).filter(({ messageId }) => messageId !== undefined);
  return JSON.stringify(places.map(({ messageId, start, end }) => ({ messageId, start, end })));
}

async function bury(tx: Db, { tenant }: TenantScope, rows: readonly Row[], version: number, now: number): Promise<void> {
  for (const row of rows) {
    const { no, id, collection_no, owner } = row;
    const place = { tenant, no, id, collection_no, owner, version, places: placesOf(row), forgotten_at: now };
    await tx.insertInto('memory_forgotten').values(place).execute();
  }
}

async function remove(
  tx: Db,
  scope: TenantScope,
  collection: MemoryCollection,
  rows: readonly Row[],
  now: number,
): Promise<number> {
  if (rows.length === 0) return 0;
  const { tenant } = scope;
  const version = await nextVersion(tx, scope, collection);
  await bury(tx, scope, rows, version, now);
  for (let at = 0; at < rows.length; at += STEP) {
    const ids = rows.slice(at, at + STEP).map(({ id }) => id);
    await tx.deleteFrom('memories').where('tenant', '=', tenant).where('id', 'in', ids).execute();
    await tx.deleteFrom('memory_changes').where('tenant', '=', tenant).where('memory_id', 'in', ids).execute();
    await tx
      .updateTable('memories')
      .set({ superseded_by: null })
      .where('tenant', '=', tenant)
      .where('superseded_by', 'in', ids)
      .execute();
  }
  return rows.length;
}

/** SQLite takes 32,766 parameters in a statement. */
const STEP = 500;

async function noteChange(
  tx: Db,
  { tenant }: TenantScope,
  before: Memory,
  after: Memory,
  action: ChangeAction,
  reason: string,
  at: number,
): Promise<void> {
  const names = SHOWN.filter((name) => before[name] !== after[name]);
  const some = (memory: Memory) => JSON.stringify(Object.fromEntries(names.map((name) => [name, memory[name] ?? null])));
  await tx
    .insertInto('memory_changes')
    .values({
      tenant,
      id: `mch_${newTimeOrderedId()}`,
      memory_id: after.id,
      owner: after.owner,
      at,
      action,
      before: some(before),
      after: some(after),
      reason,
    })
    .execute();
}

const SHOWN = ['text', 'kind', 'subject', 'validFrom', 'validTo', 'supersededBy', 'isPinned', 'state'] as const;

function newRow({ tenant }: TenantScope, { no, owner }: MemoryCollection, draft: NewMemory, version: number) {
  return {
    tenant,
    id: `mem_${newTimeOrderedId()}`,
    collection_no: no,
    owner,
    kind: draft.kind,
    text: draft.text,
    text_hash: draft.textHash,
    subject: draft.subject ?? null,
    attribute: draft.attribute ?? null,
    origins: JSON.stringify([draft.origin]),
    trust: draft.trust,
    valid_from: draft.validFrom,
    valid_to: null,
    recorded_at: draft.recordedAt,
    changed_at: draft.recordedAt,
    superseded_by: null,
    strength: FIRST_STRENGTH,
    recalled_at: null,
    pinned: 0,
    edited: 0,
    state: 'current',
    version,
    embedding: floatBytes(draft.embedding),
  };
}

export function toMemory(row: Omit<Row, 'embedding' | 'text_hash' | 'attribute'>): Memory {
  return {
    no: row.no,
    id: row.id,
    owner: row.owner,
    kind: row.kind as MemoryKind,
    text: row.text,
    subject: row.subject ?? undefined,
    origins: JSON.parse(row.origins) as Origin[],
    trust: row.trust as Trust,
    validFrom: row.valid_from,
    validTo: row.valid_to ?? undefined,
    recordedAt: row.recorded_at,
    changedAt: row.changed_at,
    supersededBy: row.superseded_by ?? undefined,
    strength: row.strength,
    recalledAt: row.recalled_at ?? undefined,
    isPinned: row.pinned === 1,
    isEdited: row.edited === 1,
    state: row.state as MemoryState,
  };
}

export function toCollection(row: Selectable<MemoryTables['memory_collections']>): MemoryCollection {
  return {
    no: row.no,
    id: row.id,
    owner: row.owner,
    embeddingModel: row.embedding_model,
    embeddingSource: row.embedding_source as EmbeddingSource,
    prefixes: row.embedding_prefixes,
    dimensions: row.dimensions ?? undefined,
    version: row.version,
    // What is forgotten stays known by its number.
    sweptVersion: 0,
    usedAt: 0,
  };
}
