/** Where uploaded files go: the port that the knowledge bases fill. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { UploadOutcome } from './upload.ts';
import type { Uploader } from './uploader.ts';

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
