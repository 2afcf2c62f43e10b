/**
 * Takes a file out of a form into the blobs. While it arrives it is an upload as any other: it counts for the quota, and what a crash leaves of it
 * is swept.
 */
import { createHash } from 'node:crypto';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { uploadError } from '../errors.ts';
import type { Uploader } from '../uploader.ts';
import type { UploadStore } from '../uploads/store/upload-store.ts';
import type { Upload } from '../uploads/upload.ts';
import type { UploadFiles } from '../uploads/upload-files.ts';
import type { UploadLimits } from '../uploads/upload-service.ts';
import type { FileStore } from './file-store.ts';
import { newFileId, type Purpose, type StoredFile } from './stored-file.ts';

export interface ArrivedFile {
  readonly uploadId: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

interface FileTerms {
  readonly purpose: Purpose;
  readonly expiresAfterMs: number | undefined;
  /** Id of the credential of the request. */
  readonly credential: string | undefined;
}

interface FileIntakeOptions {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly uploadFiles: UploadFiles;
  readonly blobs: BlobStore;
  readonly limits: UploadLimits;
  readonly now: () => number;
}

export class FileIntake {
  readonly #options: FileIntakeOptions;

  constructor(options: FileIntakeOptions) {
    this.#options = options;
  }

  /**
   * Writes the bytes to disk. `mostBytes` is what the request can have; `admit` may refuse it once it counts as an open upload. Throws the quota's
   * refusals and `disk_full`.
   */
  async receive(
    uploader: Uploader,
    fileName: string,
    mostBytes: number,
    content: AsyncIterable<Uint8Array>,
    { namespace = '', admit }: { readonly namespace?: string; admit?(): Promise<void> } = {},
  ): Promise<ArrivedFile> {
    const { uploads, uploadFiles, limits, now } = this.#options;
    const upload = newUpload(namespace, fileName, mostBytes, now() + limits.expiryMs);
    await uploads.insert(uploader, upload, limits, now());
    try {
      await admit?.();
      await uploadFiles.create(upload.id, mostBytes);
      const { sha256, sizeBytes } = await uploadFiles.writing(upload.id, async (file) => {
        const hash = createHash('sha256');
        let at = 0;
        for await (const piece of content) {
          hash.update(piece);
          await file.write(piece, 0, piece.length, at);
          at += piece.length;
        }
        await file.datasync();
        return { sha256: hash.digest('hex'), sizeBytes: at };
      });
      if (sizeBytes === 0) throw uploadError('invalid_request', 'The file is empty.', { param: 'file' });
      return { uploadId: upload.id, fileName, sha256, sizeBytes };
    } catch (error) {
      await this.discard(uploader, upload.id);
      throw error;
    }
  }

  /** On return the file is stored and known. */
  async keep(uploader: Uploader, arrived: ArrivedFile, { purpose, expiresAfterMs, credential }: FileTerms): Promise<StoredFile> {
    const { files, uploads, now } = this.#options;
    const { uploadId, fileName, sha256, sizeBytes } = arrived;
    await this.toBlob(uploader, arrived);
    const createdAt = now();
    const expiresAt = expiresAfterMs === undefined ? undefined : createdAt + expiresAfterMs;
    const { subject } = uploader;
    const file = { id: newFileId(), subject, credential, fileName, purpose, sizeBytes, sha256, createdAt, expiresAt };
    await files.insert(uploader, file);
    await uploads.remove(uploader, uploadId);
    return file;
  }

  /** On return its bytes are among the blobs, which the open upload keeps until it is discarded. */
  async toBlob(uploader: Uploader, { uploadId, sha256, sizeBytes }: ArrivedFile): Promise<void> {
    const { uploads, uploadFiles, blobs, now } = this.#options;
    await uploads.saveContentHash(uploader, uploadId, sha256);
    await blobs.store(uploader, uploadFiles.pathOf(uploadId), { sha256, sizeBytes }, now());
  }

  async discard(uploader: Uploader, uploadId: string): Promise<void> {
    await this.#options.uploads.remove(uploader, uploadId).catch(() => undefined);
    await this.#options.uploadFiles.remove(uploadId);
  }
}

function newUpload(namespace: string, fileName: string, sizeBytes: number, expiresAtMs: number): Upload {
  return {
    id: newTimeOrderedId(),
    protocol: 'form',
    namespace,
    fileName,
    source: fileName,
    sizeBytes,
    chunkBytes: sizeBytes,
    offset: 0,
    expiresAtMs,
    contentSha256: undefined,
    outcome: undefined,
  };
}
