/** Removes what was deleted, in small steps, since a large delete would hold up other writes. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import { ERASED } from './publication.ts';
import type { KnowledgeTables } from './tables.ts';

const STEP_DOCUMENTS = 100;
const STEP_CHUNKS = 1_000;
const PAGE_PENDING = 1_000;

export interface UnfinishedDocument {
  readonly tenant: string;
  readonly no: number;
  readonly id: string;
  readonly jobId: string | undefined;
}

/** Hashes of files whose documents are gone. */
type OnErased = (tenant: string, hashes: readonly string[]) => Promise<void>;

export class SweepStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  /** Resolves when no chunk of these documents is left. */
  async eraseChunks(scope: TenantScope | SystemScope, documentNos: readonly number[]): Promise<void> {
    for (let at = 0; at < documentNos.length; at += STEP_DOCUMENTS) {
      const some = documentNos.slice(at, at + STEP_DOCUMENTS);
      await this.#access.writeUnit(scope, (db) => [db.deleteFrom('data_blocks').where('document_no', 'in', some)]);
      while ((await this.#eraseStep(scope, some)) > 0);
    }
  }

  /** Pending since before `before`, with the job that was to index each; a page of them, behind the document `after`. */
  async listPending(scope: SystemScope, before: number, after: number): Promise<UnfinishedDocument[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select(['tenant', 'no', 'id', 'job_id'])
        .where('state', '=', sql.lit('pending'))
        .where('changed_at', '<', before)
        .where('no', '>', after)
        .orderBy('no')
        .limit(PAGE_PENDING)
        .execute(),
    );
    return rows.map((row) => ({ tenant: row.tenant, no: row.no, id: row.id, jobId: row.job_id ?? undefined }));
  }

  /** Of the given hashes, those that documents of the tenant have, indexed or waiting. */
  async listUsedHashes(scope: TenantScope, hashes: readonly string[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select('sha256')
        .distinct()
        .where('tenant', '=', scope.tenant)
        .where('sha256', 'in', [...hashes])
        .where('state', '!=', 'deleted')
        .execute(),
    );
    return new Set(rows.map(({ sha256 }) => sha256));
  }

  async holdsAny(everyone: SystemScope): Promise<boolean> {
    const row = await this.#access.read(everyone, (db) =>
      db.selectFrom('data_documents').select('no').where('state', '!=', 'deleted').limit(1).executeTakeFirst(),
    );
    return row !== undefined;
  }

  /** Nobody has ever seen them, so they leave no tombstone. */
  async abandon(scope: TenantScope | SystemScope, documentNos: readonly number[]): Promise<void> {
    if (documentNos.length === 0) return;
    await this.#access.writeUnit(scope, (db) => [
      db
        .updateTable('data_documents')
        .set({ state: 'deleted', ...ERASED })
        .where('no', 'in', [...documentNos])
        .where('state', '=', 'pending'),
    ]);
    await this.eraseChunks(scope, documentNos);
  }

  /** Removes the rows of removed bases and of deleted documents; tombstones stay until `before`. */
  async sweep(scope: SystemScope, before: number, onErased: OnErased): Promise<void> {
    await this.#eraseDeleted(scope);
    await this.#eraseBases(scope, onErased);
    await this.#dropTombstones(scope, before);
  }

  async listExpiredBases(scope: SystemScope, now: number): Promise<{ tenant: string; namespace: string }[]> {
    return await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_bases')
        .select(['tenant', 'namespace'])
        .where('removed', '=', sql.lit(0))
        .where('expires_days', 'is not', null)
        .where(sql<boolean>`coalesce(used_at, created_at) + expires_days * 86400000 <= ${now}`)
        .execute(),
    );
  }

  async #eraseDeleted(scope: SystemScope): Promise<void> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents as d')
        .select('d.no')
        .where('d.state', 'in', ['deleted', 'failed'])
        .where((eb) => eb.exists(eb.selectFrom('data_chunks as c').select('c.seq').whereRef('c.document_no', '=', 'd.no')))
        .execute(),
    );
    await this.eraseChunks(
      scope,
      rows.map(({ no }) => no),
    );
  }

  async #eraseBases(scope: SystemScope, onErased: OnErased): Promise<void> {
    const bases = await this.#access.read(scope, (db) =>
      db.selectFrom('data_bases').select(['no', 'tenant']).where('removed', '=', sql.lit(1)).execute(),
    );
    for (const base of bases) {
      for (;;) {
        const documents = await this.#access.read(scope, (db) => documentsOf(db, base.no).limit(STEP_DOCUMENTS).execute());
        const numbers = documents.map(({ no }) => no);
        if (numbers.length === 0) break;
        await this.eraseChunks(scope, numbers);
        await this.#access.writeUnit(scope, (db) => [db.deleteFrom('data_documents').where('no', 'in', numbers)]);
        await onErased(base.tenant, [...new Set(documents.flatMap(({ sha256 }) => (sha256 === '' ? [] : [sha256])))]);
      }
      await this.#access.writeUnit(scope, (db) => [db.deleteFrom('data_bases').where('no', '=', base.no)]);
    }
  }

  async #dropTombstones(scope: SystemScope, before: number): Promise<void> {
    await this.#access.write(scope, async (tx) => {
      const rows = await tx
        .selectFrom('data_documents')
        .select(['no', 'base_no', 'version'])
        .where('state', '=', sql.lit('deleted'))
        .where('changed_at', '<', before)
        .limit(STEP_DOCUMENTS)
        .execute();
      for (const { no, base_no: base, version } of rows) {
        await tx
          .updateTable('data_bases')
          .set({ swept_version: version })
          .where('no', '=', base)
          .where('swept_version', '<', version)
          .execute();
        await tx.deleteFrom('data_documents').where('no', '=', no).execute();
      }
    });
  }

  async #eraseStep(scope: TenantScope | SystemScope, documentNos: readonly number[]): Promise<number> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks')
        .select(['document_no', 'seq'])
        .where('document_no', 'in', [...documentNos])
        .orderBy('document_no')
        .orderBy('seq')
        .limit(STEP_CHUNKS)
        .execute(),
    );
    const first = rows[0];
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return 0;
    // All of the documents before the last one, and of the last one as far as was read.
    await this.#access.writeUnit(scope, (db) => [
      db
        .deleteFrom('data_chunks')
        .where(
          'document_no',
          'in',
          [...documentNos].filter((no) => no <= last.document_no),
        )
        .where((eb) => eb.or([eb('document_no', '<', last.document_no), eb('seq', '<=', last.seq)])),
    ]);
    return rows.length;
  }
}

function documentsOf(db: Kysely<KnowledgeTables>, baseNo: number) {
  return db.selectFrom('data_documents').select(['no', 'sha256']).where('base_no', '=', baseNo).orderBy('no');
}
