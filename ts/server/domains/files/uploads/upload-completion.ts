/** The end of an upload: its bytes are verified, stored as a blob, and handed to the knowledge base. Each step can be done again after a crash. */
import { isDeepStrictEqual } from 'node:util';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { uploadError } from '../errors.ts';
import type { Uploader } from '../uploader.ts';
import { BusyKeys } from './busy-keys.ts';
import type { UploadStore } from './store/upload-store.ts';
import type { Upload, UploadOutcome, UploadTarget } from './upload.ts';
import type { UploadFiles } from './upload-files.ts';

interface UploadCompletionOptions {
  store: UploadStore;
  files: UploadFiles;
  blobs: BlobStore;
  hasher: FileHasher;
  target: () => UploadTarget;
  now: () => number;
}

export class UploadCompletion {
  readonly #options: UploadCompletionOptions;
  readonly #busy = new BusyKeys();

  constructor(options: UploadCompletionOptions) {
    this.#options = options;
  }

  /** All bytes are on disk. Throws `checksum_mismatch`, `upload_busy`, `upload_elsewhere`, and what the target throws. */
  async complete(uploader: Uploader, id: string): Promise<UploadOutcome> {
    const busy = () =>
      uploadError('upload_busy', 'Another request finalizes this upload at this moment. Retry when it has ended.');
    return await this.#busy.hold(id, busy, async () => {
      const { store, now } = this.#options;
      const upload = await store.get(uploader, id, now());
      return upload.outcome ?? (await this.#finish(uploader, upload));
    });
  }

  async #finish(uploader: Uploader, upload: Upload): Promise<UploadOutcome> {
    const { store, blobs, target } = this.#options;
    const sha256 = upload.contentSha256 ?? (await this.#verify(uploader, upload));
    await this.#storeBlob(uploader, upload, sha256);
    const { id: uploadId, namespace, fileName, source, sizeBytes } = upload;
    const path = blobs.pathOf(uploader, sha256);
    const outcome = await target().accept(uploader, { uploadId, namespace, fileName, source, sha256, sizeBytes, path });
    await store.saveOutcome(uploader, upload.id, outcome);
    return outcome;
  }

  async #verify(uploader: Uploader, { id, sizeBytes, sha256 }: Upload): Promise<string> {
    const { files, hasher, store } = this.#options;
    await files.writing(id, (file) => file.datasync());
    const found = await hasher.hash(files.pathOf(id));
    const expected = { sha256: sha256 ?? found.sha256, sizeBytes };
    if (!isDeepStrictEqual(found, expected)) {
      const detail = `The file that arrived has ${found.sizeBytes} bytes and the SHA-256 ${found.sha256}, and another was announced. Cancel the upload, and send the file anew.`;
      throw uploadError('checksum_mismatch', detail);
    }
    await store.saveContentHash(uploader, id, found.sha256);
    return found.sha256;
  }

  /** The file may have been moved by an attempt that a crash ended. */
  async #storeBlob(uploader: Uploader, { id, sizeBytes }: Upload, sha256: string): Promise<void> {
    const { files, blobs, now } = this.#options;
    if (await files.exists(id)) await blobs.store(uploader, files.pathOf(id), { sha256, sizeBytes }, now());
    else if ((await blobs.find(uploader, sha256)) === undefined)
      throw uploadError('upload_elsewhere', 'The bytes of this upload are not on this node. Send it to the node where it began.');
  }
}

const task = defineTask<typeof import('../../../../workers/hash-file.ts').run>(
  'hash-file',
  new URL('../../../../workers/hash-file.ts', import.meta.url),
);

/** A terabyte from a slow disk. */
const TIMEOUT_MS = 6 * 3_600_000;

/** Hashes whole files in a thread of their own: gigabytes would hold up everything else. */
export class FileHasher {
  #pool: WorkerPool | undefined;

  hash(path: string): Promise<{ sha256: string; sizeBytes: number }> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: 256, maxQueue: 10_000 });
    return this.#pool.run(task, { path }, { timeoutMs: TIMEOUT_MS });
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}
