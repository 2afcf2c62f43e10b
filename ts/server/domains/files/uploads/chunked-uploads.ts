/** Uploads in chunks of one size, which may come in any order, several at a time, and again. A chunk that was acknowledged is on disk. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Principal } from '../../../platform/http/principal.ts';
import { uploadError } from '../errors.ts';
import { type Uploader, uploaderOf } from '../uploader.ts';
import { BusyKeys } from './busy-keys.ts';
import type { ReceivedChunk, UploadStore } from './store/upload-store.ts';
import type { NewUpload, Upload, UploadOutcome } from './upload.ts';
import type { UploadFiles } from './upload-files.ts';
import type { UploadService } from './upload-service.ts';

const MAX_LISTED = 100;

interface SentChunk {
  index: number;
  /** Lowercase hexadecimal, where the client told it. */
  sha256: string | undefined;
  body: AsyncIterable<Uint8Array>;
}

interface ChunkedUploadsOptions {
  service: UploadService;
  store: UploadStore;
  files: UploadFiles;
  expiryMs: number;
  now: () => number;
}

export class ChunkedUploads {
  readonly #options: ChunkedUploadsOptions;
  readonly #busy = new BusyKeys();

  constructor(options: ChunkedUploadsOptions) {
    this.#options = options;
  }

  /** The upload and the indexes of what has arrived. */
  async status(caller: Principal, id: string): Promise<{ upload: Upload; received: number[] }> {
    const upload = await this.#options.service.get(caller, id, 'chunked');
    if (upload.outcome !== undefined) return { upload, received: Array.from({ length: countChunks(upload) }, (_, i) => i) };
    const chunks = await this.#options.store.listChunks(uploaderOf(caller), id);
    return { upload, received: chunks.map(({ index }) => index) };
  }

  /** An upload of the same file that was cut off, when the client tells the file's hash. */
  async findOpen(caller: Principal, file: NewUpload): Promise<Upload | undefined> {
    const { store, files, now } = this.#options;
    if (file.sha256 === undefined) return undefined;
    const upload = await store.findOpen(uploaderOf(caller), { ...file, sha256: file.sha256 }, now());
    return upload !== undefined && (await files.exists(upload.id)) ? upload : undefined;
  }

  /** Returns when the chunk is on disk, and known. */
  async receive(caller: Principal, id: string, chunk: SentChunk): Promise<ReceivedChunk> {
    const upload = await this.#options.service.get(caller, id, 'chunked');
    if (upload.outcome !== undefined || upload.contentSha256 !== undefined)
      throw uploadError('upload_finished', 'The upload is complete and takes no more chunks.');
    const nChunks = countChunks(upload);
    if (chunk.index >= nChunks)
      throw uploadError(
        'invalid_request',
        `X-Chunk-Index is ${chunk.index}, and the file has ${nChunks} chunks, counted from 0.`,
      );
    const busy = () => uploadError('upload_busy', 'Another request sends this chunk at this moment. Retry when it has ended.');
    return await this.#busy.hold(`${id} ${chunk.index}`, busy, () => this.#take(uploaderOf(caller), upload, chunk));
  }

  /** Throws `upload_incomplete`. Once it has succeeded, it answers the same until the upload expires. */
  async finalize(caller: Principal, id: string): Promise<UploadOutcome> {
    const { upload, received } = await this.status(caller, id);
    const missing = missingIndexes(received, countChunks(upload));
    if (upload.contentSha256 === undefined && missing.length > 0) {
      const detail = `${countChunks(upload) - received.length} of ${countChunks(upload)} chunks have not arrived. Send them, then finalize.`;
      throw uploadError('upload_incomplete', detail, { extra: { missing } });
    }
    return await this.#options.service.complete(uploaderOf(caller), upload.id);
  }

  /** Bytes that were acknowledged are never written again: the same are accepted, and others refused. */
  async #take(uploader: Uploader, upload: Upload, { index, sha256, body }: SentChunk): Promise<ReceivedChunk> {
    const { store, files, now, expiryMs } = this.#options;
    const known = await store.findChunk(uploader, upload.id, index);
    const start = index * upload.chunkBytes;
    const sizeBytes = Math.min(upload.chunkBytes, upload.sizeBytes - start);
    const found =
      known === undefined
        ? await files.writing(upload.id, (file) => writeChunk(file, start, sizeBytes, body))
        : await readChunk(body, sizeBytes);
    if (sha256 !== undefined && sha256 !== found)
      throw uploadError('checksum_mismatch', `The chunk has the SHA-256 ${found}, and X-Chunk-SHA256 is another. Send it again.`);
    if (known !== undefined && known.sha256 !== found)
      throw uploadError(
        'chunk_conflict',
        'Other bytes were received for this chunk before. Cancel the upload, and start it anew.',
      );
    const received = { index, sha256: found };
    await store.addChunk(uploader, upload.id, received, now() + expiryMs);
    return received;
  }
}

function countChunks({ sizeBytes, chunkBytes }: Upload): number {
  return Math.ceil(sizeBytes / chunkBytes);
}

function missingIndexes(received: readonly number[], nChunks: number): number[] {
  const known = new Set(received);
  const missing: number[] = [];
  for (let index = 0; index < nChunks && missing.length < MAX_LISTED; index++) if (!known.has(index)) missing.push(index);
  return missing;
}

/** Returns the SHA-256. */
async function writeChunk(file: FileHandle, start: number, sizeBytes: number, body: AsyncIterable<Uint8Array>): Promise<string> {
  const sha256 = await eachPiece(body, sizeBytes, async (piece, at) => {
    await file.write(piece, 0, piece.length, start + at);
  });
  await file.datasync();
  return sha256;
}

async function readChunk(body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<string> {
  return await eachPiece(body, sizeBytes, async () => {});
}

async function eachPiece(
  body: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  take: (piece: Uint8Array, at: number) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  let at = 0;
  for await (const piece of body) {
    if (at + piece.length > sizeBytes) throw wrongLength(sizeBytes);
    hash.update(piece);
    await take(piece, at);
    at += piece.length;
  }
  if (at !== sizeBytes) throw wrongLength(sizeBytes);
  return hash.digest('hex');
}

function wrongLength(sizeBytes: number): Error {
  return uploadError('chunk_size_mismatch', `This chunk has to have ${sizeBytes} bytes. Send it with that length.`);
}
