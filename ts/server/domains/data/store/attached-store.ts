/** Documents of a knowledge base as files of a vector store: those that are indexed, those that wait, and those that failed. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import { documentIdOf } from '../../files/index.ts';
import type { Attributes, KnowledgeBase, NewDocument, StoredDocument } from '../knowledge-base.ts';
import { isStoredKind, STORED_KINDS } from '../stored-kinds.ts';
import { freeSource } from './free-source.ts';
import { bury, forget, insertDocument, insertParts, lockBase, nextVersion, type PendingSource } from './publication.ts';
import { attributesOf, type DocumentRow, fileIdOf, toDocument } from './rows.ts';
import type { DocumentState, KnowledgeTables } from './tables.ts';

/** Why a file could not be indexed. */
interface AttachFailure {
  readonly code: string;
  readonly message: string;
}

export interface AttachedFile extends StoredDocument {
  readonly fileId: string;
  readonly attributes: Attributes;
  readonly state: DocumentState;
  readonly failure: AttachFailure | undefined;
  readonly jobId: string | undefined;
}

type AttachStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';
export type AttachCounts = Record<AttachStatus, number>;

/** Of a failure that is none. */
const CANCELLED = 'cancelled';
export const CANCELLED_FAILURE: AttachFailure = { code: CANCELLED, message: 'The work on the file was cancelled.' };
export const LOST_FAILURE: AttachFailure = {
  code: 'internal',
  message: 'The work on the file ended without a result; attach it again.',
};

export interface AttachedPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of the document to begin behind, in this order. */
  readonly after?: string | undefined;
  /** Of the document to end before. */
  readonly before?: string | undefined;
  readonly batchId?: string | undefined;
  readonly status?: AttachStatus | undefined;
}

/** What a client is shown; the others are deleted. */
const SHOWN: readonly DocumentState[] = ['pending', 'ready', 'failed'];

export class AttachedStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  /**
   * Inserts a file that is to be indexed, under a source that no other document of the base has. The file that is there already stays, unless
   * it failed. Undefined: it is there.
   */
  async insert(
    scope: TenantScope,
    base: KnowledgeBase,
    document: NewDocument,
    source: PendingSource,
    now: number,
  ): Promise<{ no: number; source: string } | undefined> {
    const { fileId = '', batchId = null } = document.attached ?? {};
    return await this.#access.write(scope, async (tx) => {
      await lockBase(tx, scope, base);
      const there = await this.#of(tx, scope, base).where('file_id', '=', fileId).executeTakeFirst();
      if (there !== undefined && there.state !== 'failed') {
        if (batchId !== null)
          await tx.updateTable('data_documents').set({ batch_id: batchId }).where('no', '=', there.no).execute();
        return undefined;
      }
      if (there !== undefined) await forget(tx, scope, [there.no]);
      const name = await freeSource(document.source, async (source) => {
        const taken = await this.#of(tx, scope, base).select('no').where('source', '=', source).executeTakeFirst();
        return taken === undefined;
      });
      const no = await insertDocument(tx, scope, base, { ...document, source: name }, now);
      await insertParts(tx, scope, no, source);
      return { no, source: name };
    });
  }

  async find(scope: TenantScope, base: KnowledgeBase, fileId: string): Promise<AttachedFile | undefined> {
    const row = await this.#access.read(scope, (db) =>
      this.#of(db, scope, base)
        .where((eb) =>
          eb.or([eb('file_id', '=', fileId), eb.and([eb('file_id', 'is', null), eb('id', '=', documentIdOf(fileId) ?? '')])]),
        )
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toAttached(row);
  }

  /** Of a stored file or of a document, in all bases of the tenant. */
  async listOfFile(scope: TenantScope, fileId: string): Promise<(AttachedFile & { readonly namespace: string })[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .innerJoin('data_bases as b', 'b.no', 'data_documents.base_no')
        .selectAll('data_documents')
        .select('b.namespace')
        .where('data_documents.tenant', '=', scope.tenant)
        .where('b.removed', '=', sql.lit(0))
        // Files of conversations are none of the tenant's.
        .where('b.owner', 'is', null)
        .where('data_documents.state', 'in', SHOWN)
        .where((eb) =>
          eb.or([
            eb('data_documents.file_id', '=', fileId),
            eb.and([eb('data_documents.file_id', 'is', null), eb('data_documents.id', '=', documentIdOf(fileId) ?? '')]),
          ]),
        )
        .execute(),
    );
    return rows.map((row) => ({ ...toAttached(row), namespace: row.namespace }));
  }

  /** Numbers of the bases that each of the stored files is in; those in none are left out. */
  async listBasesOf(scope: TenantScope, fileIds: readonly string[]): Promise<Map<string, number[]>> {
    if (fileIds.length === 0) return new Map();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents as d')
        .innerJoin('data_bases as b', 'b.no', 'd.base_no')
        .select(['d.file_id', 'd.base_no'])
        .where('d.tenant', '=', scope.tenant)
        .where('d.file_id', 'in', [...fileIds])
        .where('b.removed', '=', sql.lit(0))
        .where('d.state', 'in', SHOWN)
        .execute(),
    );
    const files = Map.groupBy(rows, ({ file_id: id }) => id ?? '');
    return new Map([...files].map(([id, of]) => [id, of.map(({ base_no: no }) => no)]));
  }

  async page(scope: TenantScope, base: KnowledgeBase, page: AttachedPage): Promise<AttachedFile[]> {
    const { limit, order, after, before, batchId, status } = page;
    const [behind, ahead] = order === 'asc' ? (['>', '<'] as const) : (['<', '>'] as const);
    const rows = await this.#access.read(scope, (db) =>
      this.#of(db, scope, base)
        .$if(batchId !== undefined, (query) => query.where('batch_id', '=', batchId ?? ''))
        .$if(after !== undefined, (query) => query.where('id', behind, after ?? ''))
        .$if(before !== undefined, (query) => query.where('id', ahead, before ?? ''))
        .$if(status !== undefined, (query) => query.where(hasStatus(status ?? 'completed')))
        .orderBy('id', order)
        .limit(limit)
        .execute(),
    );
    return rows.map(toAttached);
  }

  /** Of each base that is named; those without a file are left out. */
  async count(scope: TenantScope, baseNos: readonly number[], batchId?: string): Promise<Map<number, AttachTotals>> {
    if (baseNos.length === 0) return new Map();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select(['base_no', 'state', 'failure', 'kind'])
        .select([sql<number>`count(*)`.as('n'), sql<number>`sum(bytes)`.as('bytes')])
        .where('tenant', '=', scope.tenant)
        .where('base_no', 'in', [...baseNos])
        .where('state', 'in', SHOWN)
        .$if(batchId !== undefined, (query) => query.where('batch_id', '=', batchId ?? ''))
        .groupBy(['base_no', 'state', 'failure', 'kind'])
        .execute(),
    );
    const totals = new Map<number, AttachTotals>();
    for (const row of rows) {
      const total = totals.get(row.base_no) ?? { counts: noFiles(), sizeBytes: 0 };
      total.counts[statusOf({ state: row.state as DocumentState, kind: row.kind, failure: failureOf(row.failure) })] += Number(
        row.n,
      );
      if (row.state === 'ready') total.sizeBytes += Number(row.bytes);
      totals.set(row.base_no, total);
    }
    return totals;
  }

  async setAttributes(scope: TenantScope, base: KnowledgeBase, id: string, attributes: Attributes): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [
      db
        .updateTable('data_documents')
        .set({ attributes: JSON.stringify(attributes) })
        .where('tenant', '=', scope.tenant)
        .where('base_no', '=', base.no)
        .where('id', '=', id),
    ]);
  }

  /** Of a document that waits: a file that was attached stays as failed, any other leaves nothing. False: it does not wait. */
  async fail(scope: TenantScope | SystemScope, id: string, failure: AttachFailure): Promise<boolean> {
    const [result] = await this.#access.writeUnit(scope, (db) => [
      db
        .updateTable('data_documents')
        .set({ state: 'failed', failure: JSON.stringify(failure) })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .where('file_id', 'is not', null),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }

  /** Nobody finds it from now on, in whatever state it is. False: it is not there. */
  async remove(scope: TenantScope, base: KnowledgeBase, id: string, now: number): Promise<boolean> {
    return await this.#access.write(scope, async (tx) => {
      const row = await this.#of(tx, scope, base).where('id', '=', id).executeTakeFirst();
      if (row === undefined) return false;
      if (row.state === 'ready') await bury(tx, scope, [row.no], await nextVersion(tx, scope, base), now);
      else await forget(tx, scope, [row.no]);
      return true;
    });
  }

  #of(db: Kysely<KnowledgeTables>, { tenant }: TenantScope, base: Pick<KnowledgeBase, 'no'>) {
    return db
      .selectFrom('data_documents')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('base_no', '=', base.no)
      .where('state', 'in', SHOWN);
  }
}

interface AttachTotals {
  readonly counts: AttachCounts;
  /** Of the documents that are indexed. */
  sizeBytes: number;
}

export function noFiles(): AttachCounts {
  return { in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
}

/** A file that is kept without an index is found by no search, so it did not succeed. */
export function statusOf({ state, kind, failure }: Pick<AttachedFile, 'state' | 'kind' | 'failure'>): AttachStatus {
  if (state === 'pending') return 'in_progress';
  if (state === 'ready') return isStoredKind(kind) ? 'failed' : 'completed';
  return failure?.code === CANCELLED ? 'cancelled' : 'failed';
}

/** What statusOf() says, as a condition. */
function hasStatus(status: AttachStatus) {
  const kinds = sql.join(STORED_KINDS.map((kind) => sql.lit(kind)));
  const wasCancelled = sql`failure like ${`{"code":"${CANCELLED}"%`}`;
  const conditions = {
    in_progress: sql<boolean>`state = 'pending'`,
    completed: sql<boolean>`(state = 'ready' and kind not in (${kinds}))`,
    failed: sql<boolean>`((state = 'failed' and not ${wasCancelled}) or (state = 'ready' and kind in (${kinds})))`,
    cancelled: sql<boolean>`(state = 'failed' and ${wasCancelled})`,
  } satisfies Record<AttachStatus, unknown>;
  return conditions[status];
}

function failureOf(failure: string | null): AttachFailure | undefined {
  return failure === null ? undefined : (JSON.parse(failure) as AttachFailure);
}

function toAttached(row: DocumentRow): AttachedFile {
  return {
    ...toDocument(row),
    fileId: fileIdOf(row),
    attributes: attributesOf(row),
    state: row.state as DocumentState,
    failure: failureOf(row.failure),
    jobId: row.job_id ?? undefined,
  };
}
