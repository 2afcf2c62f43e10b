/** A file on its way here, and where it goes then. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Uploader } from '../uploader.ts';

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

/** A file that is whole, verified, and on disk for good. */
export interface UploadedFile {
  /** The same when it is handed over again, after an interruption. */
  uploadId: string;
  namespace: string;
  fileName: string;
  source: string;
  /** Its name among the blobs, lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
  /** Of the blob. */
  path: string;
}

/** The port of the module that takes uploaded files. */
export interface UploadTarget {
  /** Throws a DomainError where the file need not be sent: no such base, no license, another tenant's. */
  admit(
    caller: Principal,
    scope: TenantScope,
    file: { namespace: string; fileName: string; source: string; sizeBytes: number },
  ): Promise<void>;
  /** Whether the caller may use the base that an upload is for: a credential may be limited to others of its account. */
  reaches(caller: Principal, namespace: string): Promise<boolean>;
  /** Takes the file. It may be called again with the same `uploadId` after a crash, so it has to be idempotent. Throws a DomainError to refuse. */
  accept(uploader: Uploader, file: UploadedFile): Promise<UploadOutcome>;
}
