import type { Upload, UploadOutcome, UploadProtocol } from '../upload.ts';
import type { UploadRow } from './upload-tables.ts';

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
