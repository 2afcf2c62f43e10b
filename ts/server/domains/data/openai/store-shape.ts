/** Vector stores and their files on the wire. Source: OpenAI API reference, Vector stores. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import type { Attributes } from '../knowledge-base.ts';
import { type AttachCounts, type AttachedFile, statusOf } from '../store/attached-store.ts';
import { stateOf } from '../stored-kinds.ts';
import type { VectorStore } from '../vector-stores/vector-stores.ts';
import { seconds } from './list-page.ts';

const DAY_MS = 86_400_000;

const Counts = Type.Object({
  in_progress: Type.Integer(),
  completed: Type.Integer(),
  failed: Type.Integer({ description: 'Also files that are kept without an index, as scans.' }),
  cancelled: Type.Integer(),
  total: Type.Integer(),
});

export const Metadata = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), { maxProperties: 16 });

export const AttributesShape = Type.Record(
  Type.String({ maxLength: 64 }),
  Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
  { maxProperties: 16 },
);

export const ExpiresAfter = Type.Object({
  anchor: Type.Literal('last_active_at'),
  days: Type.Integer({ minimum: 1, maximum: 365 }),
});

export const StoreShape = named(
  'VectorStore',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('vector_store'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    name: Type.String(),
    usage_bytes: Type.Integer({ description: 'Of the files that are indexed.' }),
    file_counts: Counts,
    status: Type.Enum(['in_progress', 'completed']),
    expires_after: Type.Union([ExpiresAfter, Type.Null()]),
    expires_at: Type.Union([Type.Integer(), Type.Null()]),
    last_active_at: Type.Integer(),
    metadata: Metadata,
    namespace: Type.String({ description: 'The knowledge base that it is; `knowledge` of a chat takes it.' }),
    embedding_model: Type.String(),
  }),
);

export const StoreFileShape = named(
  'VectorStoreFile',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('vector_store.file'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    usage_bytes: Type.Integer(),
    vector_store_id: Type.String(),
    status: Type.Enum(['in_progress', 'completed', 'failed', 'cancelled']),
    last_error: Type.Union([
      Type.Object({ code: Type.Enum(['server_error', 'unsupported_file', 'invalid_file']), message: Type.String() }),
      Type.Null(),
    ]),
    attributes: AttributesShape,
    chunking_strategy: Type.Object({ type: Type.Literal('other') }),
    filename: Type.String({ description: 'What citations name.' }),
  }),
);

export const BatchShape = named(
  'VectorStoreFileBatch',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('vector_store.files_batch'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    vector_store_id: Type.String(),
    status: Type.Enum(['in_progress', 'completed', 'cancelled', 'failed']),
    file_counts: Counts,
  }),
);

export function toStoreShape({ base, counts, sizeBytes }: VectorStore): Static<typeof StoreShape> {
  const { expiresDays, usedAt } = base;
  return {
    id: base.id,
    object: 'vector_store',
    created_at: seconds(base.createdAt),
    name: base.title,
    usage_bytes: sizeBytes,
    file_counts: toCounts(counts),
    status: counts.in_progress > 0 ? 'in_progress' : 'completed',
    expires_after: expiresDays === undefined ? null : { anchor: 'last_active_at', days: expiresDays },
    expires_at: expiresDays === undefined ? null : seconds(usedAt + expiresDays * DAY_MS),
    last_active_at: seconds(usedAt),
    metadata: { ...base.metadata },
    namespace: base.namespace,
    embedding_model: base.embeddingModel,
  };
}

export function toStoreFileShape(storeId: string, file: AttachedFile): Static<typeof StoreFileShape> {
  const status = statusOf(file);
  return {
    id: file.fileId,
    object: 'vector_store.file',
    created_at: seconds(file.changedAt),
    usage_bytes: status === 'completed' ? file.sizeBytes : 0,
    vector_store_id: storeId,
    status,
    last_error: status === 'failed' ? lastError(file) : null,
    attributes: { ...file.attributes } as Record<string, Attributes[string]>,
    chunking_strategy: { type: 'other' },
    filename: file.source,
  };
}

/** Of files of a kind that nobody reads here. */
const UNSUPPORTED = ['unsupported_file_kind', 'legacy_office_format'];
const OF_SERVER = [
  'internal',
  'queue_full',
  'file_elsewhere',
  'embedding_model_not_found',
  'embedding_failed',
  'index_unavailable',
  'storage_unavailable',
  'extraction_failed',
];

function lastError({ kind, failure }: AttachedFile): Static<typeof StoreFileShape>['last_error'] {
  if (failure === undefined) return { code: 'unsupported_file', message: stateOf(kind).detail ?? 'The file is not indexed.' };
  const { code, message } = failure;
  if (UNSUPPORTED.includes(code)) return { code: 'unsupported_file', message };
  return { code: OF_SERVER.includes(code) ? 'server_error' : 'invalid_file', message: `${code}: ${message}` };
}

export function toBatchShape(storeId: string, id: string, counts: AttachCounts): Static<typeof BatchShape> {
  const total = toCounts(counts);
  return {
    id,
    object: 'vector_store.files_batch',
    created_at: seconds(batchTime(id)),
    vector_store_id: storeId,
    status: batchStatus(counts, total.total),
    file_counts: total,
  };
}

function batchStatus({ in_progress: waiting, cancelled, failed }: AttachCounts, total: number) {
  if (waiting > 0) return 'in_progress';
  if (cancelled > 0) return 'cancelled';
  return failed === total ? 'failed' : 'completed';
}

/** The id begins with the time of its making. */
function batchTime(id: string): number {
  return Number.parseInt(id.slice('vsfb_'.length, 'vsfb_'.length + 12), 16);
}

function toCounts(counts: AttachCounts): Static<typeof Counts> {
  const { in_progress, completed, failed, cancelled } = counts;
  return { in_progress, completed, failed, cancelled, total: in_progress + completed + failed + cancelled };
}
