/** Uploads in the database. Each function takes who sends, and finds nobody else's. */
import type { Kysely } from 'kysely';
import type { Storage, StorageAccess } from '../../../../platform/storage/index.ts';
import { uploadError, uploadNotFound } from '../../errors.ts';
import type { UploadRow, UploadTables } from '../../tables.ts';
import type { Uploader } from '../../uploader.ts';
import type { NewUpload, Upload, UploadOutcome, UploadProtocol } from '../upload.ts';

export interface UploadQuota {
  /** Of files and open uploads of one tenant together. */
  maxTenantBytes: number;
  maxOpenUploads: number;
}

export interface ReceivedChunk {
  index: number;
  sha256: string;
}

export class UploadStore {
  readonly #access: StorageAccess<UploadTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<UploadTables>();
  }

  /** Throws `upload_quota_exceeded` and `too_many_uploads`. What is open counts with its whole size. */
  async insert(uploader: Uploader, upload: Upload, quota: UploadQuota, nowMs: number): Promise<void> {
    await this.#access.write(uploader, async (tx) => {
      await requireQuota(tx, uploader, upload.sizeBytes, quota);
      await tx
        .insertInto('data_uploads')
        .values(toRow(uploader, upload, nowMs))
        .execute();
    });
  }

  /** Of the open uploads of one caller whose namespace begins like this. */
  async sizeOfOpen(uploader: Uploader, beginning: string): Promise<{ count: number; bytes: number }> {
    const row = await this.#access.read(uploader, (db) =>
      db
        .selectFrom('data_uploads')
        .select(({ fn }) => [fn.sum<number | null>('bytes').as('bytes'), fn.countAll<number>().as('count')])
        .where('tenant', '=', uploader.tenant)
        .where('subject', '=', uploader.subject)
        .where('namespace', 'like', `${beginning}%`)
        .executeTakeFirst(),
    );
    return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  /** Throws `upload_not_found`, for an expired one too. */
  async get(uploader: Uploader, id: string, nowMs: number): Promise<Upload> {
    const row = await this.#access.read(uploader, (db) =>
      db
        .selectFrom('data_uploads')
        .selectAll()
        .where('tenant', '=', uploader.tenant)
        .where('subject', '=', uploader.subject)
        .where('id', '=', id)
        .where('expires_at', '>', nowMs)
        .executeTakeFirst(),
    );
    if (row === undefined) throw uploadNotFound();
    return toUpload(row);
  }

  /** The newest one in chunks of the same file for the same document, which can go on. */
  async findOpen(uploader: Uploader, file: NewUpload & { sha256: string }, nowMs: number): Promise<Upload | undefined> {
    const row = await this.#access.read(uploader, (db) =>
      db
        .selectFrom('data_uploads')
        .selectAll()
        .where('tenant', '=', uploader.tenant)
        .where('subject', '=', uploader.subject)
        .where('protocol', '=', 'chunked')
        .where('namespace', '=', file.namespace)
        .where('source', '=', file.source)
        .where('file_name', '=', file.fileName)
        .where('sha256', '=', file.sha256)
        .where('bytes', '=', file.sizeBytes)
        .where('outcome', 'is', null)
        .where('expires_at', '>', nowMs)
        .orderBy('created_at', 'desc')
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toUpload(row);
  }

  /** By index. */
  async listChunks(uploader: Uploader, id: string): Promise<ReceivedChunk[]> {
    const rows = await this.#access.read(uploader, (db) =>
      db
        .selectFrom('data_upload_chunks')
        .select(['chunk_index', 'sha256'])
        .where('tenant', '=', uploader.tenant)
        .where('upload_id', '=', id)
        .orderBy('chunk_index')
        .execute(),
    );
    return rows.map(({ chunk_index, sha256 }) => ({ index: chunk_index, sha256 }));
  }

  async findChunk(uploader: Uploader, id: string, index: number): Promise<ReceivedChunk | undefined> {
    const row = await this.#access.read(uploader, (db) =>
      db
        .selectFrom('data_upload_chunks')
        .select('sha256')
        .where('tenant', '=', uploader.tenant)
        .where('upload_id', '=', id)
        .where('chunk_index', '=', index)
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : { index, sha256: row.sha256 };
  }

  /** On return the chunk is known for good. Its bytes must be on disk before. */
  async addChunk(uploader: Uploader, id: string, { index, sha256 }: ReceivedChunk, expiresAtMs: number): Promise<void> {
    const { tenant } = uploader;
    await this.#access.writeUnit(uploader, (db) => [
      db
        .insertInto('data_upload_chunks')
        .values({ tenant, upload_id: id, chunk_index: index, sha256 })
        .onConflict((conflict) => conflict.columns(['tenant', 'upload_id', 'chunk_index']).doNothing()),
      changing(db, uploader, id).set({ expires_at: expiresAtMs }),
    ]);
  }

  async saveOffset(uploader: Uploader, id: string, offset: number, expiresAtMs: number): Promise<void> {
    await this.#access.writeUnit(uploader, (db) => [
      changing(db, uploader, id).set({ received_bytes: offset, expires_at: expiresAtMs }),
    ]);
  }

  async saveContentHash(uploader: Uploader, id: string, sha256: string): Promise<void> {
    await this.#access.writeUnit(uploader, (db) => [changing(db, uploader, id).set({ content_sha256: sha256 })]);
  }

  /** The row stays until it expires, so that a client that missed the answer can ask again. Its bytes no longer count. */
  async saveOutcome(uploader: Uploader, id: string, outcome: UploadOutcome): Promise<void> {
    await this.#access.writeUnit(uploader, (db) => [
      changing(db, uploader, id).set({ outcome: JSON.stringify(outcome) }),
      db.deleteFrom('data_upload_chunks').where('tenant', '=', uploader.tenant).where('upload_id', '=', id),
    ]);
  }

  /** Throws `upload_not_found`. */
  async remove(uploader: Uploader, id: string): Promise<void> {
    const [removed] = await this.#access.writeUnit(uploader, (db) => [
      db
        .deleteFrom('data_uploads')
        .where('tenant', '=', uploader.tenant)
        .where('subject', '=', uploader.subject)
        .where('id', '=', id),
      db.deleteFrom('data_upload_chunks').where('tenant', '=', uploader.tenant).where('upload_id', '=', id),
    ]);
    if ((removed?.affectedRows ?? 0) === 0) throw uploadNotFound();
  }
}

function changing(db: Kysely<UploadTables>, { tenant, subject }: Uploader, id: string) {
  return db.updateTable('data_uploads').where('tenant', '=', tenant).where('subject', '=', subject).where('id', '=', id);
}

async function requireQuota(
  tx: Kysely<UploadTables>,
  { tenant }: Uploader,
  sizeBytes: number,
  quota: UploadQuota,
): Promise<void> {
  const open = await tx
    .selectFrom('data_uploads')
    .select(({ fn }) => [fn.countAll<number>().as('n'), fn.sum<number | null>('bytes').as('bytes')])
    .where('tenant', '=', tenant)
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  const kept = await tx
    .selectFrom('data_blobs')
    .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
    .where('tenant', '=', tenant)
    .executeTakeFirstOrThrow();
  if (Number(open.n) >= quota.maxOpenUploads) {
    const detail = `You have ${open.n} open uploads, and at most ${quota.maxOpenUploads} are kept. Finalize or cancel some.`;
    throw uploadError('too_many_uploads', detail);
  }
  const usedBytes = Number(open.bytes ?? 0) + Number(kept.bytes ?? 0);
  if (usedBytes + sizeBytes <= quota.maxTenantBytes) return;
  const detail = `Your files and uploads take ${usedBytes} of ${quota.maxTenantBytes} bytes, and this file has ${sizeBytes}. Delete documents or cancel uploads.`;
  throw uploadError('upload_quota_exceeded', detail);
}

function toRow({ tenant, subject }: Uploader, upload: Upload, nowMs: number): UploadRow {
  return {
    tenant,
    id: upload.id,
    subject,
    protocol: upload.protocol,
    namespace: upload.namespace,
    file_name: upload.fileName,
    source: upload.source,
    bytes: upload.sizeBytes,
    chunk_bytes: upload.chunkBytes,
    received_bytes: upload.offset,
    sha256: upload.sha256 ?? null,
    content_sha256: null,
    metadata: upload.metadata ?? null,
    outcome: null,
    created_at: nowMs,
    expires_at: upload.expiresAtMs,
  };
}

export function toUpload(row: UploadRow): Upload {
  return {
    id: row.id,
    protocol: row.protocol as UploadProtocol,
    namespace: row.namespace,
    fileName: row.file_name,
    source: row.source,
    sizeBytes: row.bytes,
    sha256: row.sha256 ?? undefined,
    metadata: row.metadata ?? undefined,
    chunkBytes: row.chunk_bytes,
    offset: row.received_bytes,
    expiresAtMs: row.expires_at,
    contentSha256: row.content_sha256 ?? undefined,
    outcome: row.outcome === null ? undefined : (JSON.parse(row.outcome) as UploadOutcome),
  };
}
