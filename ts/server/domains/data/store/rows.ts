/** Rows of the tables as the module's own shapes. */
import type { Selectable } from 'kysely';
import { type EmbeddedPassage, type EmbeddingSource, floatBytes } from '../../retrieval/index.ts';
import type { Attributes, KnowledgeBase, StoredDocument } from '../knowledge-base.ts';
import type { BaseTable, ChunkTable, DocumentTable } from './tables.ts';

export type BaseRow = Selectable<BaseTable>;
export type DocumentRow = Selectable<DocumentTable>;

export function toBase(row: BaseRow): KnowledgeBase {
  return {
    no: row.no,
    id: row.public_id,
    namespace: row.namespace,
    embeddingModel: row.embedding_model,
    embeddingSource: row.embedding_source as EmbeddingSource,
    dimensions: row.dimensions ?? undefined,
    prefixes: row.embedding_prefixes ?? undefined,
    version: row.version,
    sweptVersion: row.swept_version,
    createdAt: row.created_at,
    title: row.title ?? row.namespace,
    metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as Record<string, string>),
    expiresDays: row.expires_days ?? undefined,
    usedAt: row.used_at ?? row.created_at,
    owner: row.owner ?? undefined,
  };
}

/** Documents that were added by themselves are files of their own to OpenAI's routes. */
export function fileIdOf({ id, file_id }: Pick<DocumentRow, 'id' | 'file_id'>): string {
  return file_id ?? `file-${id.replaceAll('-', '')}`;
}

export function attributesOf({ attributes }: Pick<DocumentRow, 'attributes'>): Attributes {
  return attributes === null ? {} : (JSON.parse(attributes) as Attributes);
}

export function toDocument(row: DocumentRow): StoredDocument {
  return {
    no: row.no,
    id: row.id,
    source: row.source,
    title: row.title ?? undefined,
    sha256: row.sha256,
    kind: row.kind,
    tags: JSON.parse(row.tags) as string[],
    datedAt: row.dated_at,
    sizeBytes: row.bytes,
    nChunks: row.n_chunks,
    changedAt: row.changed_at,
    warnings: row.warnings === null ? undefined : (JSON.parse(row.warnings) as string[]),
  };
}

export function warningsText(warnings: readonly string[] = []): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings);
}

export function toChunkRow(tenant: string, baseNo: number, documentNo: number, chunk: EmbeddedPassage): ChunkTable {
  return {
    tenant,
    base_no: baseNo,
    document_no: documentNo,
    seq: chunk.seq,
    text_start: chunk.start,
    text_end: chunk.end,
    text: chunk.text,
    heading: chunk.heading ?? null,
    page: chunk.page ?? null,
    sheet: chunk.sheet ?? null,
    slide: chunk.slide ?? null,
    start_seconds: chunk.startSeconds ?? null,
    end_seconds: chunk.endSeconds ?? null,
    embedding_model: chunk.embeddingModel,
    embedding: floatBytes(chunk.embedding),
    terms: chunk.terms,
  };
}
