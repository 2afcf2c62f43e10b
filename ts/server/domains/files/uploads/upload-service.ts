/** What both protocols share: uploads begin, are looked at, cancelled and completed. */
import type { Principal } from '../../../platform/http/principal.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { uploadError, uploadNotFound } from '../errors.ts';
import { type Uploader, uploaderOf } from '../uploader.ts';
import type { UploadQuota, UploadStore } from './store/upload-store.ts';
import type { NewUpload, Upload, UploadOutcome, UploadTarget } from './upload.ts';
import type { UploadCompletion } from './upload-completion.ts';
import type { UploadFiles } from './upload-files.ts';

/** Small enough to be sent again after a cut, and large enough that its two fsyncs do not matter. */
export const CHUNK_BYTES = 8 * 1024 * 1024;

export interface UploadLimits extends UploadQuota {
  maxFileBytes: number;
  /** Since the last byte that came. */
  expiryMs: number;
}

interface UploadServiceOptions {
  store: UploadStore;
  files: UploadFiles;
  completion: UploadCompletion;
  target: () => UploadTarget;
  limits: UploadLimits;
  now: () => number;
  chunkBytes?: number | undefined;
}

export class UploadService {
  readonly #options: UploadServiceOptions;

  constructor(options: UploadServiceOptions) {
    this.#options = options;
  }

  get maxFileBytes(): number {
    return this.#options.limits.maxFileBytes;
  }

  /** Throws `upload_too_large`, the quota's refusals, `disk_full`, and what the target throws. */
  async begin(caller: Principal, given: NewUpload): Promise<Upload> {
    const { store, files, target, limits, now, chunkBytes = CHUNK_BYTES } = this.#options;
    if (given.sizeBytes > limits.maxFileBytes)
      throw uploadError(
        'upload_too_large',
        `The file has ${given.sizeBytes} bytes, and at most ${limits.maxFileBytes} are taken. Split it.`,
      );
    const uploader = uploaderOf(caller);
    await target().admit(caller, uploader, given);
    const nowMs = now();
    const rest = { chunkBytes, offset: 0, expiresAtMs: nowMs + limits.expiryMs, contentSha256: undefined, outcome: undefined };
    const upload: Upload = { ...given, ...rest, id: newTimeOrderedId() };
    await store.insert(uploader, upload, limits, nowMs);
    try {
      await files.create(upload.id, upload.sizeBytes);
    } catch (error) {
      await store.remove(uploader, upload.id);
      throw error;
    }
    return upload;
  }

  /** Throws `upload_not_found`, also for one of the other protocol, and for one into a base that the caller may not use. */
  async get(caller: Principal, id: string, protocol: NewUpload['protocol']): Promise<Upload> {
    const { store, target, now } = this.#options;
    const upload = await store.get(uploaderOf(caller), id, now());
    if (upload.protocol !== protocol || !(await target().reaches(caller, upload.namespace))) throw uploadNotFound();
    return upload;
  }

  /** Whether the caller may is asked by `get()`; the sweep completes without a caller. */
  async complete(uploader: Uploader, id: string): Promise<UploadOutcome> {
    return await this.#options.completion.complete(uploader, id);
  }

  /** What was made of a file that is complete stays. */
  async cancel(caller: Principal, id: string, protocol: NewUpload['protocol']): Promise<void> {
    await this.get(caller, id, protocol);
    await this.#options.store.remove(uploaderOf(caller), id);
    await this.#options.files.remove(id);
  }
}
