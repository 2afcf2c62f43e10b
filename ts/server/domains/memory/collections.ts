/** How retrieval reads memories: those that are current, of the collection of their owner. */
import type { StorageScope, TenantScope } from '../../platform/storage/index.ts';
import { type ChangedDocument, type CollectionStore, floatsOf, type IndexPassage, type PassageKey } from '../retrieval/index.ts';
import type { FoundMemory, MemoryCollection, MemoryKind } from './memory.ts';
import { toCollection, toMemory } from './memory-rows.ts';
import type { MemoryStorage } from './tables.ts';

/** A search may find memories of these kinds alone. */
export interface MemoryFilter {
  readonly kinds: readonly MemoryKind[];
}

const PAGE = 500;

export class MemoryCollections implements CollectionStore<MemoryCollection, FoundMemory, MemoryFilter> {
  readonly #storage: MemoryStorage;
  readonly #now: () => number;

  constructor(storage: MemoryStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  async find(scope: TenantScope, { no }: MemoryCollection): Promise<MemoryCollection | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('memory_collections').selectAll().where('tenant', '=', scope.tenant).where('no', '=', no).executeTakeFirst(),
    );
    return row && toCollection(row);
  }

  async listFilled(everyone: StorageScope): Promise<{ tenant: string; collection: MemoryCollection }[]> {
    const rows = await this.#storage.read(everyone, (db) =>
      db.selectFrom('memory_collections').selectAll().where('version', '>', 0).execute(),
    );
    return rows.map((row) => ({ tenant: row.tenant, collection: toCollection(row) }));
  }

  async listChanges(scope: TenantScope, collection: MemoryCollection, version: number): Promise<ChangedDocument[]> {
    const [there, gone] = await this.#storage.read(scope, async (db) => [
      await db
        .selectFrom('memories')
        .select(['no', 'id', 'state', 'version'])
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .where('version', '>', version)
        .where('version', '<=', collection.version)
        .execute(),
      await db
        .selectFrom('memory_forgotten')
        .select(['no', 'id', 'version'])
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', collection.no)
        .where('version', '>', version)
        .where('version', '<=', collection.version)
        .execute(),
    ]);
    const changes = [...there, ...gone.map((row) => ({ ...row, state: 'forgotten' }))];
    return changes
      .sort((a, b) => a.version - b.version)
      .map(({ no, id, state }) => ({ no, id, isReady: state === 'current', nChunks: 1 }));
  }

  /** The thread makes the terms of the text. */
  async *readForIndex(scope: TenantScope, numbers: readonly number[]): AsyncGenerator<IndexPassage[]> {
    for (let at = 0; at < numbers.length; at += PAGE) {
      const rows = await this.#storage.read(scope, (db) =>
        db
          .selectFrom('memories')
          .select(['no', 'text', 'subject', 'embedding'])
          .where('tenant', '=', scope.tenant)
          .where('no', 'in', numbers.slice(at, at + PAGE))
          .execute(),
      );
      yield rows.map(({ no, text, subject, embedding }) => ({
        documentNo: no,
        seq: 0,
        terms: new Uint8Array(0),
        vector: floatsOf(embedding),
        text: indexedText(text, subject),
      }));
    }
  }

  async listMatching(scope: TenantScope, { no }: MemoryCollection, { kinds }: MemoryFilter): Promise<number[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .select('no')
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', no)
        .where('kind', 'in', [...kinds])
        .where('state', '=', 'current')
        .execute(),
    );
    return rows.map((row) => row.no);
  }

  /** Those of them that hold now. */
  async readPassages(scope: TenantScope, { no }: MemoryCollection, keys: readonly PassageKey[]): Promise<FoundMemory[]> {
    if (keys.length === 0) return [];
    const now = this.#now();
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', no)
        .where(
          'no',
          'in',
          keys.map(({ documentNo }) => documentNo),
        )
        .where('state', '=', 'current')
        .where('valid_from', '<=', now)
        .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', now)]))
        .execute(),
    );
    return rows.map((row) => {
      const { text } = row;
      return { documentNo: row.no, seq: 0, start: 0, end: text.length, text, memory: toMemory(row) };
    });
  }
}

/** A memory is found by its subject as well. */
export function indexedText(text: string, subject: string | null | undefined): string {
  return subject === null || subject === undefined ? text : `${subject}\n${text}`;
}
