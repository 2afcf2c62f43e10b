/** Sends one file to a knowledge base in chunks. An upload that was cut off goes on where it ended, also in a later run of the program. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { errorSentence, refused, type ServerAnswer, type ServerClient } from '../server-client.ts';
import type { DocumentFile } from './document-files.ts';

/** `refused`: why the server does not take this file, with what to do; `isTemporary`: it may take it later. `warnings`: what of it was not read. */
export type SentFile =
  | { state: 'indexed'; warnings: readonly string[] }
  | { state: 'stored'; detail: string }
  | { job: string }
  | { refused: string; isTemporary?: boolean };

export interface FileUploadOptions {
  readonly server: ServerClient;
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

interface Begun {
  upload_id: string;
  chunk_size: number;
  received: number[];
}

/** What became of a file, as the server tells it at once or as its job's result. */
export interface Outcome {
  state?: string;
  detail?: string;
  warnings?: string[];
}

interface Accepted extends Outcome {
  job_id?: string;
  note?: string;
}

/** What is wrong with this file alone; any other status ends the command. */
const FILE_STATUSES = [400, 413, 422];
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 250;
/** The model that embeds is away: longer pauses, since it may be starting. */
const EMBEDDING_ATTEMPTS = 4;
const EMBEDDING_PAUSE_MS = 2_000;

export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Throws CliError for what concerns more than this file. */
export async function sendFile(file: DocumentFile, sha256: string, options: FileUploadOptions): Promise<SentFile> {
  const { tenant, namespace } = options;
  const { source, sizeBytes: size, path } = file;
  const begun = await post(options, 'init', { filename: basename(path), size, sha256, tenant, namespace, source });
  if (FILE_STATUSES.includes(begun.status)) return { refused: reasonOf(begun) };
  const upload = bodyOf<Begun>(begun);
  const failed = await sendChunks(file, upload, options);
  const ended = failed ?? (await finalize(upload, options));
  // What was sent stays there, so that a later run need not send it again.
  if (isNotEmbedded(ended)) return { refused: reasonOf(ended), isTemporary: true };
  if (FILE_STATUSES.includes(ended.status)) {
    await post(options, upload.upload_id, undefined, {}, 'DELETE');
    return { refused: reasonOf(ended) };
  }
  const { job_id: job, note, ...outcome } = bodyOf<Accepted>(ended);
  if (note !== undefined) options.onNote(printable(note));
  if (job !== undefined) return { job };
  return sentFile(outcome);
}

export function sentFile({ state, detail = '', warnings = [] }: Outcome): SentFile {
  return state === 'stored'
    ? { state, detail: printable(detail) }
    : { state: 'indexed', warnings: warnings.map((warning) => printable(warning)) };
}

/** A file that is not embedded after some attempts is refused, and those behind it may fare better. */
async function finalize({ upload_id }: Begun, options: FileUploadOptions): Promise<ServerAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await post(options, 'finalize', { upload_id });
    if (attempt >= EMBEDDING_ATTEMPTS || !isNotEmbedded(answer)) return answer;
    await pauseOf(options)(EMBEDDING_PAUSE_MS * 2 ** (attempt - 1), options.signal);
  }
}

function isNotEmbedded({ status, body }: ServerAnswer): boolean {
  return status === 502 && codeOf(body) === 'embedding_failed';
}

function pauseOf({ pause }: FileUploadOptions): NonNullable<FileUploadOptions['pause']> {
  return pause ?? ((ms, signal) => wait(ms, undefined, { signal }));
}

/** The first answer that refuses a chunk. */
async function sendChunks(
  { path, sizeBytes }: DocumentFile,
  upload: Begun,
  options: FileUploadOptions,
): Promise<ServerAnswer | undefined> {
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
        const answer = await post(options, 'chunk', bytes.subarray(0, bytesRead), headers);
        if (FILE_STATUSES.includes(answer.status)) return answer;
        bodyOf(answer);
      }
      options.onProgress(index * size + length);
    }
  } finally {
    await file.close();
  }
  return undefined;
}

/** Tries again when the server does not answer or is busy: each step of an upload may be repeated. */
async function post(
  options: FileUploadOptions,
  path: string,
  body: Uint8Array<ArrayBuffer> | object | undefined,
  headers: Readonly<Record<string, string>> = {},
  method: 'POST' | 'DELETE' = 'POST',
): Promise<ServerAnswer> {
  const { server, signal } = options;
  for (let attempt = 1; ; attempt++) {
    const answer = await server.ask(method, `/api/v1/upload/${path}`, body, headers, signal).catch((error: unknown) => {
      if (attempt >= ATTEMPTS || !(error instanceof CliError) || error.code !== 'unreachable') throw error;
      return undefined;
    });
    if (answer !== undefined && (attempt >= ATTEMPTS || !isBusy(answer))) return answer;
    await pauseOf(options)(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
  }
}

function isBusy({ status, body }: ServerAnswer): boolean {
  return (
    status === 503 || (status === 429 && codeOf(body) === 'queue_full') || (status === 409 && codeOf(body) === 'upload_busy')
  );
}

function codeOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}

function reasonOf({ body }: ServerAnswer): string {
  return `${String(codeOf(body) ?? 'refused')}: ${printable(errorSentence(body) ?? 'no reason given')}`;
}

function bodyOf<T>({ status, body }: ServerAnswer): T {
  if (status > 299) throw refused(status, body);
  return body as T;
}
