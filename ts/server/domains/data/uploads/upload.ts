/** A file on its way here. */

/** `chunked`: parts of one size in any order. `tus`: one stream that is continued. `form`: one request, which cannot be continued. */
export type UploadProtocol = 'chunked' | 'tus' | 'form';

/** What a client says of a file before it sends it. */
export interface NewUpload {
  protocol: UploadProtocol;
  namespace: string;
  /** Cleaned: one part, and nothing that hides it. */
  fileName: string;
  /** What citations will name; the file's name by default. */
  source: string;
  sizeBytes: number;
  /** Lowercase hexadecimal, where the client told it. */
  sha256?: string | undefined;
  /** Of the tus protocol, as the client sent it. */
  metadata?: string | undefined;
}

export interface Upload extends NewUpload {
  id: string;
  chunkBytes: number;
  /** Of the tus protocol: bytes that are on disk. */
  offset: number;
  expiresAtMs: number;
  /** Known once the whole file was read. */
  contentSha256: string | undefined;
  /** What came of it; undefined until then. */
  outcome: UploadOutcome | undefined;
}

/** The answer of what took the file, as the client gets it: 201 with a document, or 202 with a job. */
export interface UploadOutcome {
  status: 201 | 202;
  body: Record<string, unknown>;
}
