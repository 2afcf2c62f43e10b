/** Passages of documents: for the index, for answers, and to be removed. */
import { type Selectable, sql } from 'kysely';
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import { areTermsCurrent, type ChangedDocument, floatsOf, type IndexPassage, type PassageKey } from '../../retrieval/index.ts';
import type { KnowledgeBase, KnowledgePassage } from '../knowledge-base.ts';
import { attributesOf, fileIdOf } from './rows.ts';
import type { ChunkTable, KnowledgeTables } from './tables.ts';

/** Chunks of an earlier delete that are still there. */
export interface Leftover {
  /** Undefined: nothing is known of the document. */
  readonly documentId: string | undefined;
  readonly nChunks: number;
}

const PAGE = 500;

export class ChunkStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  /** Documents that were published or deleted behind `version`. */
  async listChanges(scope: TenantScope, base: KnowledgeBase, version: number): Promise<ChangedDocument[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_documents')
        .select(['no', 'id', 'state', 'n_chunks'])
        .where('tenant', '=', scope.tenant)
        .where('base_no', '=', base.no)
        .where('version', '>', version)
        .where('version', '<=', base.version)
        .orderBy('version')
        .execute(),
    );
    return rows.map((row) => ({ no: row.no, id: row.id, isReady: row.state === 'ready', nChunks: row.n_chunks }));
  }

  /** In pages, as the index takes them. Documents of the list follow each other by number. */
  async *readForIndex(scope: TenantScope, documentNos: readonly number[]): AsyncGenerator<IndexPassage[]> {
    const numbers = [...documentNos].sort((a, b) => a - b);
    for (let at = 0; at < numbers.length; at += PAGE) {
      const some = numbers.slice(at, at + PAGE);
      for (let last: PassageKey = { documentNo: 0, seq: -1 }; ; ) {
        const { documentNo, seq } = last;
        const rows = await this.#access.read(scope, (db) =>
          db
            .selectFrom('data_chunks')
            .select(['document_no', 'seq', 'embedding', 'terms'])
            .where('tenant', '=', scope.tenant)
            .where('document_no', 'in', some)
            .where((eb) =>
              eb.or([eb('document_no', '>', documentNo), eb.and([eb('document_no', '=', documentNo), eb('seq', '>', seq)])]),
            )
            .orderBy('document_no')
            .orderBy('seq')
            .limit(PAGE)
            .execute(),
        );
        if (rows.length > 0) yield await this.#withTerms(scope, rows);
        const end = rows.at(-1);
        if (end === undefined || rows.length < PAGE) break;
        last = { documentNo: end.document_no, seq: end.seq };
      }
    }
  }

  /** Vectors of the first passages of the newest documents, as many of each. */
  async sampleVectors(scope: TenantScope, baseNo: number, most: number): Promise<Float32Array[]> {
    return await this.#access.read(scope, async (db) => {
      const documents = await db
        .selectFrom('data_documents')
        .select('no')
        .where('tenant', '=', scope.tenant)
        .where('base_no', '=', baseNo)
        .where('state', '=', sql.lit('ready'))
        .orderBy('no', 'desc')
        .limit(most)
        .execute();
      if (documents.length === 0) return [];
      const numbers = documents.map(({ no }) => no);
      const rows = await db
        .selectFrom('data_chunks')
        .select('embedding')
        .where('tenant', '=', scope.tenant)
        .where('document_no', 'in', numbers)
        .where('seq', '<', Math.ceil(most / numbers.length))
        .limit(most)
        .execute();
      return rows.map(({ embedding }) => floatsOf(embedding));
    });
  }

  /** Terms of another version of the program are made anew from the text. */
  async #withTerms(scope: TenantScope, rows: readonly IndexRow[]): Promise<IndexPassage[]> {
    const passages = rows.map(toIndexPassage);
    const stale = passages.filter(({ terms }) => !areTermsCurrent(terms));
    if (stale.length === 0) return passages;
    const texts = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks')
        .select(['document_no', 'seq', 'text'])
        .where('tenant', '=', scope.tenant)
        .where((eb) => eb.or(stale.map((one) => eb.and([eb('document_no', '=', one.documentNo), eb('seq', '=', one.seq)]))))
        .execute(),
    );
    const textOf = new Map(texts.map((row) => [`${row.document_no} ${row.seq}`, row.text]));
    return passages.map((one) => {
      const text = textOf.get(`${one.documentNo} ${one.seq}`);
      return text === undefined ? one : { ...one, text };
    });
  }

  /** Those of them whose documents are still there, in no order. */
  async read(scope: TenantScope, base: KnowledgeBase, keys: readonly PassageKey[]): Promise<KnowledgePassage[]> {
    if (keys.length === 0) return [];
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks as c')
        .innerJoin('data_documents as d', 'd.no', 'c.document_no')
        .select(['c.document_no', 'c.seq', 'c.text_start', 'c.text_end', 'c.text', 'c.heading', 'c.page', 'c.sheet', 'c.slide'])
        .select(['c.start_seconds', 'c.end_seconds'])
        .select(['d.id', 'd.source', 'd.title', 'd.file_id', 'd.attributes'])
        .where('c.tenant', '=', scope.tenant)
        .where('d.tenant', '=', scope.tenant)
        .where('d.base_no', '=', base.no)
        .where('d.state', '=', sql.lit('ready'))
        .where((eb) =>
          eb.or(keys.map(({ documentNo, seq }) => eb.and([eb('c.document_no', '=', documentNo), eb('c.seq', '=', seq)]))),
        )
        .execute(),
    );
    return rows.map((row) => ({
      namespace: base.namespace,
      documentNo: row.document_no,
      documentId: row.id,
      source: row.source,
      title: row.title ?? undefined,
      fileId: fileIdOf(row),
      attributes: attributesOf(row),
      seq: row.seq,
      start: row.text_start,
      end: row.text_end,
      text: row.text,
      heading: row.heading ?? undefined,
      page: row.page ?? undefined,
      sheet: row.sheet ?? undefined,
      slide: row.slide ?? undefined,
      startSeconds: row.start_seconds ?? undefined,
      endSeconds: row.end_seconds ?? undefined,
    }));
  }

  /** Texts of one document's passages from `seq` on, with their places. */
  async readText(scope: TenantScope, documentNo: number, from: number, limit: number) {
    return await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks')
        .select(['seq', 'text_start', 'text_end', 'text'])
        .where('tenant', '=', scope.tenant)
        .where('document_no', '=', documentNo)
        .where('seq', '>=', from)
        .orderBy('seq')
        .limit(limit)
        .execute(),
    );
  }

  /** Of the last passage that begins at or before a place of the text; 0 where there is none. */
  async seqAt(scope: TenantScope, documentNo: number, place: number): Promise<number> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks')
        .select(({ fn }) => fn.max<number | null>('seq').as('seq'))
        .where('tenant', '=', scope.tenant)
        .where('document_no', '=', documentNo)
        .where('text_start', '<=', place)
        .executeTakeFirst(),
    );
    return Number(row?.seq ?? 0);
  }

  async listLeftovers(scope: TenantScope, base: KnowledgeBase): Promise<Leftover[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_chunks as c')
        .leftJoin('data_documents as d', 'd.no', 'c.document_no')
        .select(['c.document_no', sql<string | null>`max(d.id)`.as('id'), sql<number>`count(*)`.as('n')])
        .where('c.tenant', '=', scope.tenant)
        .where('c.base_no', '=', base.no)
        .where((eb) => eb.or([eb('d.no', 'is', null), eb('d.state', '=', 'deleted')]))
        .groupBy('c.document_no')
        .orderBy('c.document_no')
        .limit(1_000)
        .execute(),
    );
    return rows.map(({ id, n }) => ({ documentId: id ?? undefined, nChunks: Number(n) }));
  }
}

type IndexRow = Pick<Selectable<ChunkTable>, 'document_no' | 'seq' | 'embedding' | 'terms'>;

function toIndexPassage(row: IndexRow): IndexPassage {
  return { documentNo: row.document_no, seq: row.seq, terms: row.terms, vector: floatsOf(row.embedding) };
}
