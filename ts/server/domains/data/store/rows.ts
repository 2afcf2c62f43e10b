/** Rows of the tables as the module's own shapes. */
import type { Selectable } from 'kysely';
import type { Attributes, EmbeddingSource, KnowledgeBase, NewChunk, StoredDocument } from '../knowledge-base.ts';
import type { BaseTable, ChunkTable, DocumentTable } from './tables.ts';

export type BaseRow = Selectable<BaseTable>;
export type DocumentRow = Selectable<DocumentTable>;

export function toBase(row: BaseRow): KnowledgeBase {
  return {
    no: row.no,
    namespace: row.namespace,
    embeddingModel: row.embedding_model,
    embeddingSource: row.embedding_source as EmbeddingSource,
    dimensions: row.dimensions ?? undefined,
    version: row.version,
    sweptVersion: row.swept_version,
    createdAt: row.created_at,
    publicId: row.public_id,
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

export function toChunkRow(tenant: string, baseNo: number, documentNo: number, chunk: NewChunk): ChunkTable {
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
    embedding_model: chunk.embeddingModel,
    embedding: floatBytes(chunk.embedding),
    terms: chunk.terms,
  };
}

/** Little-endian, whatever the machine. */
export function floatBytes(floats: Float32Array): Uint8Array {
  const bytes = new Uint8Array(4 * floats.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < floats.length; i++) view.setFloat32(4 * i, floats[i] ?? 0, true);
  return bytes;
}

export function floatsOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array(Math.floor(bytes.byteLength / 4));
  for (let i = 0; i < floats.length; i++) floats[i] = view.getFloat32(4 * i, true);
  return floats;
}
