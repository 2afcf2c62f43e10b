/** The tables of the module. They have the names of the module that they were in before. */

/** Which files a tenant keeps. The bytes lie in `data_dir/blobs`. */
export interface BlobTables {
  data_blobs: {
    tenant: string;
    sha256: string;
    bytes: number;
    /** When it was last stored. */
    stored_at: number;
  };
  data_blob_parts: { tenant: string; sha256: string; seq: number; content: Uint8Array };
}

/** Which files a tenant has stored for good, or until they expire. Their bytes are blobs. */
export interface FileTables {
  data_files: FileRow;
}

export interface FileRow {
  tenant: string;
  /** `file-` and a time-ordered id without hyphens. */
  id: string;
  /** Who stored it. */
  subject: string;
  /** Id of the credential that it was stored with. */
  credential: string | null;
  file_name: string;
  purpose: string;
  bytes: number;
  sha256: string;
  created_at: number;
  expires_at: number | null;
}

/** Files on their way here. */
export interface UploadTables {
  data_uploads: UploadRow;
  data_upload_chunks: {
    tenant: string;
    upload_id: string;
    chunk_index: number;
    sha256: string;
  };
  /** For the quota. */
  data_blobs: BlobTables['data_blobs'];
}

export interface UploadRow {
  tenant: string;
  id: string;
  subject: string;
  protocol: string;
  namespace: string;
  file_name: string;
  source: string;
  bytes: number;
  chunk_bytes: number;
  received_bytes: number;
  sha256: string | null;
  content_sha256: string | null;
  metadata: string | null;
  outcome: string | null;
  created_at: number;
  expires_at: number;
}
