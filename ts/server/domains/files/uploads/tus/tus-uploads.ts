/** Uploads as one stream that is continued where it was cut (tus 1.0.0). The offset that a client hears is on disk. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Principal } from '../../../../platform/http/principal.ts';
import { uploadError } from '../../errors.ts';
import { type Uploader, uploaderOf } from '../../uploader.ts';
import { BusyKeys } from '../busy-keys.ts';
import type { UploadStore } from '../store/upload-store.ts';
import type { Upload } from '../upload.ts';
import type { UploadFiles } from '../upload-files.ts';
import type { UploadService } from '../upload-service.ts';
import type { Checksum } from './tus-headers.ts';

/** After as many bytes the offset is saved, so that a crash loses no more. */
const SAVE_BYTES = 16 * 1024 * 1024;

interface TusUploadsOptions {
  service: UploadService;
  store: UploadStore;
  files: UploadFiles;
  expiryMs: number;
  now: () => number;
}

export class TusUploads {
  readonly #options: TusUploadsOptions;
  readonly #busy = new BusyKeys();

  constructor(options: TusUploadsOptions) {
    this.#options = options;
  }

  async get(caller: Principal, id: string): Promise<Upload> {
    return await this.#options.service.get(caller, id, 'tus');
  }

  /** One that is whole is completed here, since a crash may have come between its last byte and its end. */
  async look(caller: Principal, id: string): Promise<Upload> {
    const upload = await this.get(caller, id);
    return await this.#completeWhole(caller, upload);
  }

  /**
   * Appends what arrives, and keeps what had arrived when the client goes away, unless it sent a checksum. Throws `upload_offset_mismatch`,
   * `upload_locked`, `tus_checksum_mismatch`, and what completing throws.
   */
  async append(
    caller: Principal,
    id: string,
    offset: number,
    body: AsyncIterable<Uint8Array>,
    checksum?: Checksum,
  ): Promise<Upload> {
    const locked = () =>
      uploadError('upload_locked', 'Another request appends to this upload at this moment. Retry when it has ended.');
    return await this.#busy.hold(id, locked, async () => {
      const upload = await this.get(caller, id);
      if (offset !== upload.offset) throw wrongOffset(upload.offset);
      const end = await this.#write(uploaderOf(caller), upload, body, checksum);
      const expiresAtMs = this.#options.now() + this.#options.expiryMs;
      return await this.#completeWhole(caller, { ...upload, offset: end, expiresAtMs });
    });
  }

  async #completeWhole(caller: Principal, upload: Upload): Promise<Upload> {
    if (upload.outcome !== undefined || upload.offset < upload.sizeBytes) return upload;
    return { ...upload, outcome: await this.#options.service.complete(uploaderOf(caller), upload.id) };
  }

  async #write(
    uploader: Uploader,
    upload: Upload,
    body: AsyncIterable<Uint8Array>,
    checksum: Checksum | undefined,
  ): Promise<number> {
    const { files } = this.#options;
    return await files.writing(upload.id, async (file) => {
      const save = (at: number) => this.#save(uploader, upload.id, file, at);
      return checksum === undefined
        ? await writePlain(file, upload, body, save)
        : await writeChecked(file, upload, body, checksum, save);
    });
  }

  async #save(uploader: Uploader, id: string, file: FileHandle, offset: number): Promise<void> {
    await file.datasync();
    await this.#options.store.saveOffset(uploader, id, offset, this.#options.now() + this.#options.expiryMs);
  }
}

type Save = (offset: number) => Promise<void>;

async function writePlain(file: FileHandle, upload: Upload, body: AsyncIterable<Uint8Array>, save: Save): Promise<number> {
  let at = upload.offset;
  let saved = at;
  try {
    for await (const piece of body) {
      requireWithin(upload, at + piece.length);
      await file.write(piece, 0, piece.length, at);
      at += piece.length;
      if (at - saved < SAVE_BYTES) continue;
      await save(at);
      saved = at;
    }
  } finally {
    if (at > saved) await save(at);
  }
  return at;
}

async function writeChecked(
  file: FileHandle,
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
  checksum: Checksum,
  save: Save,
): Promise<number> {
  const hash = createHash(checksum.algorithm);
  let at = upload.offset;
  for await (const piece of body) {
    requireWithin(upload, at + piece.length);
    hash.update(piece);
    await file.write(piece, 0, piece.length, at);
    at += piece.length;
  }
  if (hash.digest('base64') !== checksum.value)
    throw uploadError(
      'tus_checksum_mismatch',
      'The bytes have another checksum than Upload-Checksum says, and were thrown away. Send them again.',
    );
  await save(at);
  return at;
}

function requireWithin({ sizeBytes }: Upload, end: number): void {
  if (end > sizeBytes)
    throw uploadError('invalid_request', `The request goes on behind the end of the file, which has ${sizeBytes} bytes.`);
}

function wrongOffset(offset: number): Error {
  return uploadError('upload_offset_mismatch', `The upload is at the offset ${offset}. Continue there.`, { extra: { offset } });
}
