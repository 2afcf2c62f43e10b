/** Sends one file to a knowledge base in chunks. An upload that was cut off goes on where it ended, also in a later run of the program. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Answer, Client } from '../../client/client.ts';
import { Refusal } from '../../client/refusal.ts';
import { retry } from '../../client/retry.ts';
import { printable } from '../format.ts';
import type { DocumentFile } from './document-files.ts';

/** `refused`: why the server does not take this file, with what to do; `isTemporary`: it may take it later. `warnings`: what of it was not read. */
export type SentFile =
  | { state: 'indexed'; warnings: readonly string[] }
  | { state: 'stored'; detail: string }
  | { job: string }
  | { refused: string; isTemporary?: boolean };

export interface FileUploadOptions {
  readonly client: Client;
  readonly tenant: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts (default: a timer). */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Bytes of the file that the server has. */
  onProgress(doneBytes: number): void;
  /** What is to be known of the base that was made for this file. */
  onNote(note: string): void;
}

type Begun = Answer<'POST /api/v1/upload/init'>;

/** What became of a file, as the server tells it at once or as its job's result. */
export interface Outcome {
  state?: string;
  detail?: string;
  warnings?: string[];
}

/** What is wrong with this file alone; any other status ends the command. */
const FILE_STATUSES = [400, 413, 422];
const FIRST_PAUSE_MS = 250;
/** The model that embeds is away: longer pauses, since it may be starting. */
const EMBEDDING_TRIES = 4;
const EMBEDDING_PAUSE_MS = 2_000;

export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Throws Refusal for what concerns more than this file. */
export async function sendFile(file: DocumentFile, sha256: string, options: FileUploadOptions): Promise<SentFile> {
  const { client, tenant, namespace } = options;
  const { source, sizeBytes: size, path } = file;
  const body = { filename: basename(path), size, sha256, tenant, namespace, source };
  let begun: Begun | undefined;
  try {
    begun = await again(options, () => client.call('POST /api/v1/upload/init', { body }));
    await sendChunks(file, begun, options);
    return taken((await finalize(begun, options)) as TakenAnswer, options);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refused = `${error.code}: ${printable(error.message || 'no reason given')}`;
    // What was sent stays there, so that a later run need not send it again.
    if (isNotEmbedded(error)) return { refused, isTemporary: true };
    if (!FILE_STATUSES.includes(error.status)) throw error;
    if (begun !== undefined) await forget(begun, options);
    return { refused };
  }
}

/** Of an upload into a knowledge base: those of recordings are answered otherwise. */
type TakenAnswer = Exclude<Answer<'POST /api/v1/upload/finalize'>, { file_id: string }>;

function taken(answer: TakenAnswer, { onNote }: FileUploadOptions): SentFile {
  if (answer.note !== undefined) onNote(printable(answer.note));
  return 'job_id' in answer ? { job: answer.job_id } : sentFile(answer);
}

export function sentFile({ state, detail = '', warnings = [] }: Outcome): SentFile {
  return state === 'stored'
    ? { state, detail: printable(detail) }
    : { state: 'indexed', warnings: warnings.map((warning) => printable(warning)) };
}

async function sendChunks({ path, sizeBytes }: DocumentFile, upload: Begun, options: FileUploadOptions): Promise<void> {
  const { upload_id: id, chunk_size: size } = upload;
  const received = new Set(upload.received);
  const file = await open(path);
  try {
    for (let index = 0; index * size < sizeBytes; index++) {
      const length = Math.min(size, sizeBytes - index * size);
      if (!received.has(index)) {
        const bytes = new Uint8Array(length);
        const { bytesRead } = await file.read(bytes, 0, length, index * size);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const headers = { 'x-upload-id': id, 'x-chunk-index': String(index), 'x-chunk-sha256': sha256 };
        const body = bytes.subarray(0, bytesRead);
        await again(options, () => options.client.call('POST /api/v1/upload/chunk', { body, headers }));
      }
      options.onProgress(index * size + length);
    }
  } finally {
    await file.close();
  }
}

/** A file that is not embedded after some tries is refused, and those behind it may fare better. */
function finalize({ upload_id }: Begun, options: FileUploadOptions) {
  const { client, signal, pause } = options;
  const tries = { signal, pause, tries: EMBEDDING_TRIES, firstPauseMs: EMBEDDING_PAUSE_MS, mayPass: isNotEmbedded };
  return retry(tries, () => again(options, () => client.call('POST /api/v1/upload/finalize', { body: { upload_id } })));
}

async function forget({ upload_id }: Begun, options: FileUploadOptions): Promise<void> {
  await again(options, () => options.client.ask('DELETE /api/v1/upload/{upload_id}', { params: { upload_id } }));
}

function isNotEmbedded(error: unknown): boolean {
  return error instanceof Refusal && error.status === 502 && error.code === 'embedding_failed';
}

/** Each step of an upload may be repeated. */
function again<T>({ signal, pause }: FileUploadOptions, step: () => Promise<T>): Promise<T> {
  return retry({ signal, pause, firstPauseMs: FIRST_PAUSE_MS }, step);
}
