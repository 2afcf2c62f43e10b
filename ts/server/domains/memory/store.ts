/** Memories on disk. What is indexed of them changes with the version of their collection, in one transaction. */
import type { StorageScope, SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type EmbeddingSource, floatBytes } from '../retrieval/index.ts';
import {
  accountOwner,
  type ChangeAction,
  FILE,
  type Memory,
  type MemoryChange,
  type MemoryCollection,
  type MemoryKind,
  type MemoryState,
  type Reader,
} from './memory.ts';
import {
  allOf,
  insertOne,
  MOST_STRENGTH,
  type NewMemory,
  newRow,
  nextVersion,
  noteChange,
  ofIds,
  remove,
  renumber,
  repeatOne,
  STEP,
  statedOf,
  toCollection,
  toMemory,
} from './memory-rows.ts';
import { saysTheSame } from './statement.ts';
import type { MemoryStorage } from './tables.ts';

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

  /** Those of the owners, and those of attached files. */
  async searched({ owners, ...scope }: Reader): Promise<MemoryCollection[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_collections')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where((eb) => eb.or([eb('owner', 'in', [...owners]), eb('owner', 'like', `${FILE}%`)]))
        .where('version', '>', 0)
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
   * A memory that is there in the same words is strengthened, unless it comes from a file again. Of one subject and attribute the statement that holds later is
   * current: the other one's validity ends with it, unless it is pinned. What comes from a file ends none that is of another origin.
   */
  async add(scope: TenantScope, collection: MemoryCollection, draft: NewMemory, most: number): Promise<Added> {
    const [added = 'full'] = await this.addEach(scope, collection, [draft], most);
    return added;
  }

  /** Does that with each, in one transaction. The first for which there is no room is `full`, and none is added behind it. */
  async addEach(scope: TenantScope, collection: MemoryCollection, drafts: readonly NewMemory[], most: number): Promise<Added[]> {
    return await this.#storage.write(scope, async (tx) => {
      const version = await nextVersion(tx, scope, collection, drafts[0]?.embedding.length);
      const counted = await tx
        .selectFrom('memories')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .executeTakeFirstOrThrow();
      const added: Added[] = [];
      let nKept = Number(counted.n);
      for (const draft of drafts) {
        const there = await repeatOne(tx, scope, collection, draft);
        if (there !== undefined) {
          added.push({ memory: there, isNew: false });
          continue;
        }
        if (nKept >= most) return [...added, 'full'];
        added.push({ memory: await insertOne(tx, scope, collection, draft, version), isNew: true });
        nKept += 1;
      }
      return added;
    });
  }

  /** Memories of the collection have these words, in whatever state: their kinds and hashes. */
  async wordsThere(scope: TenantScope, { no }: MemoryCollection, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .select(['text_hash', 'kind'])
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', no)
        .where('text_hash', 'in', [...hashes])
        .execute(),
    );
    return new Set(rows.map(({ text_hash: hash, kind }) => `${kind} ${hash}`));
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
      await noteChange(tx, scope, memory, changed, { action: 'edited', reason: 'A person changed it.', at: now });
      return words === undefined ? changed : toMemory(await renumber(tx, scope, row, version, now));
    });
  }

  /**
   * Removes the memory, those that say the same, and a summary that holds its text, whose other episodes are current again; with a summary go its
   * episodes. The ids of what went.
   */
  async forget(scope: TenantScope, collection: MemoryCollection, { id }: Pick<Memory, 'id'>, now: number): Promise<string[]> {
    return await this.#storage.write(scope, async (tx) => {
      const root = await ofIds(tx, scope, [id]).executeTakeFirst();
      if (root === undefined) return [];
      const parts = await allOf(tx, scope, collection).where('superseded_by', '=', id).execute();
      const gone = [root, ...parts.filter((part) => root.trust === 'derived' || saysTheSame(statedOf(part), statedOf(root)))];
      const summary = root.superseded_by === null ? undefined : await ofIds(tx, scope, [root.superseded_by]).executeTakeFirst();
      if (summary?.trust !== 'derived') return await remove(tx, scope, collection, gone, now);
      const others = await allOf(tx, scope, collection).where('superseded_by', '=', summary.id).where('id', '<>', id).execute();
      const removed = await remove(tx, scope, collection, [...gone, summary], now);
      const version = await nextVersion(tx, scope, collection);
      for (const episode of others) {
        const awake = { ...episode, state: 'current', superseded_by: null, changed_at: Math.max(now, episode.changed_at + 1) };
        await renumber(tx, scope, awake, version, now);
      }
      return removed;
    });
  }

  /** Removes all memories of an owner. The ids of what went. */
  async forgetAll(scope: TenantScope, collection: MemoryCollection, now: number): Promise<string[]> {
    return await this.#storage.write(scope, async (tx) => {
      const rows = await allOf(tx, scope, collection).execute();
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
        .values({ tenant: scope.tenant, owner, recall, extract: null, extract_since: null, extracted_until: null })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner']).doUpdateSet({ recall })),
    ]);
  }

  /** The owner has these memories and no other, at each moment; the collections that they take the place of. */
  async replaceOwner(
    scope: TenantScope,
    owner: string,
    { model, source, prefixes }: Binding,
    drafts: readonly NewMemory[],
  ): Promise<{ collection: MemoryCollection; replaced: MemoryCollection[] }> {
    const { tenant } = scope;
    return await this.#storage.write(scope, async (tx) => {
      const replaced = await tx
        .selectFrom('memory_collections')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('owner', '=', owner)
        .execute();
      for (const table of TABLES) await tx.deleteFrom(table).where('tenant', '=', tenant).where('owner', '=', owner).execute();
      const made = await tx
        .insertInto('memory_collections')
        .values({
          tenant,
          owner,
          id: `memory_${newTimeOrderedId().replaceAll('-', '')}`,
          version: 1,
          embedding_model: model,
          embedding_source: source,
          embedding_prefixes: prefixes,
          dimensions: drafts[0]?.embedding.length ?? null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      const collection = toCollection(made);
      for (let at = 0; at < drafts.length; at += STEP) {
        const rows = drafts.slice(at, at + STEP).map((draft) => newRow(scope, collection, draft, 1));
        await tx.insertInto('memories').values(rows).execute();
      }
      return { collection, replaced: replaced.map(toCollection) };
    });
  }

  async eraseOwner(scope: TenantScope, owner: string): Promise<MemoryCollection[]> {
    const collections = await this.collections({ ...scope, owners: [owner] });
    await this.#storage.writeUnit(scope, (db) =>
      TABLES.map((table) => db.deleteFrom(table).where('tenant', '=', scope.tenant).where('owner', '=', owner)),
    );
    return collections;
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

const TABLES = [
  'memories',
  'memory_changes',
  'memory_dreams',
  'memory_forgotten',
  'memory_preferences',
  'memory_readings',
  'memory_slots',
  'memory_routes',
  'memory_collections',
] as const;
