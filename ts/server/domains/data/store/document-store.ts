/**
 * Documents of a knowledge base. One that is being indexed is `pending` and nobody sees it; publishing it replaces, in the same transaction,
 * the one of its source that was there before.
 */
import { sql } from 'kysely';
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { DocumentSource, EmbeddedPassage, ExtractedDocument } from '../../retrieval/index.ts';
import type { DocumentFilter, KnowledgeBase, NewDocument, StoredDocument } from '../knowledge-base.ts';
import { UNHEARD_KINDS } from '../stored-kinds.ts';
import {
  bury,
  insertChunks,
  insertDocument,
  insertParts,
  nextVersion,
  type PendingSource,
  type Publication,
  type PublishedFacts,
  publish,
  readyOf,
} from './publication.ts';
import { attributesOf, toDocument, warningsText } from './rows.ts';
import type { KnowledgeTables } from './tables.ts';

export interface PendingDocument extends StoredDocument {
  readonly baseNo: number;
  readonly namespace: string;
}

interface WaitingVersion {
  readonly no: number;
  readonly sha256: string;
  readonly jobId: string | undefined;
}

export interface DocumentPage {
  readonly limit: number;
  /** Id of the last one of the page before. */
  readonly after?: string | undefined;
}

export class DocumentStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  async list(scope: TenantScope, base: KnowledgeBase, { limit, after }: DocumentPage): Promise<StoredDocument[]> {
    const rows = await this.#access.read(scope, (db) =>
      readyOf(db, scope.tenant, base)
        .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
    return rows.map(toDocument);
  }

  async find(scope: TenantScope, base: KnowledgeBase, id: string): Promise<StoredDocument | undefined> {
    const row = await this.#access.read(scope, (db) => readyOf(db, scope.tenant, base).where('id', '=', id).executeTakeFirst());
    return row === undefined ? undefined : toDocument(row);
  }

  async findBySource(scope: TenantScope, base: KnowledgeBase, source: string): Promise<StoredDocument | undefined> {
    const row = await this.#access.read(scope, (db) =>
      readyOf(db, scope.tenant, base).where('source', '=', source).executeTakeFirst(),
    );
    return row === undefined ? undefined : toDocument(row);
  }

  /** Numbers of the documents that a search may find. */
  async listMatching(scope: TenantScope, base: KnowledgeBase, filter: DocumentFilter): Promise<number[]> {
    const { sources, tags = [], from, to, attributes } = filter;
    const position = this.#access.dialect === 'sqlite' ? 'instr' : 'strpos';
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select(['no', 'attributes'])
        .where('tenant', '=', scope.tenant)
        .where('base_no', '=', base.no)
        .where('state', '=', sql.lit('ready'))
        .$if(sources !== undefined, (query) => query.where('source', 'in', [...(sources ?? []), '']))
        .$if(from !== undefined, (query) => query.where('dated_at', '>=', from ?? 0))
        .$if(to !== undefined, (query) => query.where('dated_at', '<', to ?? 0))
        .$if(tags.length > 0, (query) =>
          query.where((eb) => eb.and(tags.map((tag) => sql<boolean>`${sql.raw(position)}(tags, ${JSON.stringify(tag)}) > 0`))),
        )
        .execute(),
    );
    const found = attributes === undefined ? rows : rows.filter((row) => attributes(attributesOf(row)));
    return found.map(({ no }) => no);
  }

  /** Files that are kept and that no search finds, the newest first, with how many there are. */
  async listKept(
    scope: TenantScope,
    base: KnowledgeBase,
    kinds: readonly string[],
    limit: number,
  ): Promise<{ count: number; documents: StoredDocument[] }> {
    return await this.#access.read(scope, async (db) => {
      const kept = readyOf(db, scope.tenant, base).where('kind', 'in', [...kinds]);
      const rows = await kept.orderBy('id', 'desc').limit(limit).execute();
      if (rows.length < limit) return { count: rows.length, documents: rows.map(toDocument) };
      const { n } = await kept
        .clearSelect()
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return { count: Number(n), documents: rows.map(toDocument) };
    });
  }

  /** Recordings that were added by themselves and have no text. */
  async listUnheard(scope: TenantScope, base: KnowledgeBase): Promise<StoredDocument[]> {
    const rows = await this.#access.read(scope, (db) =>
      readyOf(db, scope.tenant, base)
        .where('kind', 'in', [...UNHEARD_KINDS])
        .where('file_id', 'is', null)
        .orderBy('id')
        .execute(),
    );
    return rows.map(toDocument);
  }

  /** Stores what is to be indexed. Throws `namespace_not_found` when the base was removed meanwhile. */
  async insertPending(
    scope: TenantScope,
    base: KnowledgeBase,
    document: NewDocument,
    source: PendingSource,
    now: number,
  ): Promise<number> {
    return await this.#access.write(scope, async (tx) => {
      const no = await insertDocument(tx, scope, base, document, now);
      await insertParts(tx, scope, no, source);
      return no;
    });
  }

  /** What was read of a file takes the place of the file's name, all at once. */
  async setSource(
    scope: TenantScope,
    no: number,
    { kind, warnings }: Pick<ExtractedDocument, 'kind' | 'warnings'>,
    source: DocumentSource,
  ): Promise<void> {
    await this.#access.write(scope, async (tx) => {
      await tx.deleteFrom('data_blocks').where('tenant', '=', scope.tenant).where('document_no', '=', no).execute();
      await insertParts(tx, scope, no, source);
      await tx
        .updateTable('data_documents')
        .set({ kind, title: source.title ?? null, warnings: warningsText(warnings) })
        .where('tenant', '=', scope.tenant)
        .where('no', '=', no)
        .where('state', '=', 'pending')
        .execute();
    });
  }

  /** The newest version of a source that waits; its job may have ended. */
  async findWaiting(scope: TenantScope, base: KnowledgeBase, source: string): Promise<WaitingVersion | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select(['no', 'sha256', 'job_id'])
        .where('tenant', '=', scope.tenant)
        .where('base_no', '=', base.no)
        .where('version', '=', 0)
        .where('state', '=', sql.lit('pending'))
        .where('source', '=', source)
        .orderBy('no', 'desc')
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : { no: row.no, sha256: row.sha256, jobId: row.job_id ?? undefined };
  }

  async setJob(scope: TenantScope, no: number, jobId: string): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [
      db.updateTable('data_documents').set({ job_id: jobId }).where('tenant', '=', scope.tenant).where('no', '=', no),
    ]);
  }

  /** Undefined: it was published, deleted or given up. */
  async findPending(scope: TenantScope, id: string): Promise<PendingDocument | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .innerJoin('data_bases as b', 'b.no', 'data_documents.base_no')
        .selectAll('data_documents')
        .select('b.namespace')
        .where('data_documents.tenant', '=', scope.tenant)
        .where('data_documents.id', '=', id)
        .where('data_documents.state', '=', sql.lit('pending'))
        .where('b.removed', '=', sql.lit(0))
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : { ...toDocument(row), baseNo: row.base_no, namespace: row.namespace };
  }

  /** What a pending document is to be made of. */
  async readSource(scope: TenantScope, { no, title }: PendingDocument): Promise<PendingSource> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_blocks')
        .select(['form', 'content'])
        .where('tenant', '=', scope.tenant)
        .where('document_no', '=', no)
        .orderBy('seq')
        .execute(),
    );
    const form = (rows[0]?.form ?? 'blocks') as PendingSource['form'];
    return { form, title, parts: rows.map(({ content }) => content) };
  }

  /** Chunks that are there already stay: a step that was interrupted is done again. False: nobody waits for the document any more. */
  async addChunks(scope: TenantScope, base: KnowledgeBase, no: number, chunks: readonly EmbeddedPassage[]): Promise<boolean> {
    return await this.#access.write(scope, async (tx) => {
      const own = await tx
        .selectFrom('data_documents')
        .select('state')
        .where('tenant', '=', scope.tenant)
        .where('no', '=', no)
        .executeTakeFirst();
      if (own?.state !== 'pending') return false;
      await insertChunks(tx, scope, base, no, chunks);
      return true;
    });
  }

  /** Makes a pending document the one of its source, all at once, unless a newer version of the source is there. */
  async publish(scope: TenantScope, base: KnowledgeBase, no: number, facts: PublishedFacts): Promise<Publication> {
    return await this.#access.write(scope, (tx) => publish(tx, scope, base, no, facts));
  }

  /** Inserts and publishes a document whose chunks are known. */
  async insertReady(
    scope: TenantScope,
    base: KnowledgeBase,
    document: NewDocument,
    chunks: readonly EmbeddedPassage[],
    now: number,
  ): Promise<void> {
    await this.#access.write(scope, async (tx) => {
      const no = await insertDocument(tx, scope, base, document, now);
      await insertChunks(tx, scope, base, no, chunks);
      await publish(tx, scope, base, no, { nChunks: chunks.length, title: document.title, now });
    });
  }

  /** Nobody finds it from now on; its number, to remove its chunks. Undefined: it is not there. */
  async retire(scope: TenantScope, base: KnowledgeBase, id: string, now: number): Promise<number | undefined> {
    return await this.#access.write(scope, async (tx) => {
      const row = await readyOf(tx, scope.tenant, base).where('id', '=', id).executeTakeFirst();
      if (row === undefined) return undefined;
      await bury(tx, scope, [row.no], await nextVersion(tx, scope, base), now);
      return row.no;
    });
  }
}
