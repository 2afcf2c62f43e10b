/** Sends a file to a knowledge base in chunks, which are sent again when the connection breaks, and follows its indexing. */

import { Refusal } from '../../../client/refusal.ts';
import { pauseFor, retry } from '../../../client/retry.ts';
import { type Answer, call } from '../../api/call.ts';
import { sendBytes } from './send-bytes.ts';

export interface UploadProgress {
  step: 'sending' | 'indexing';
  /** 0 to 1; undefined while nobody knows. */
  share: number | undefined;
}

export interface UploadOutcome {
  documentId: string | undefined;
  /** `stored`: it is kept, and no search finds it; `detail` says why. */
  state: 'indexed' | 'stored';
  detail: string | undefined;
}

export interface UploadOptions {
  namespace: string;
  signal: AbortSignal;
  onProgress(progress: UploadProgress): void;
}

const ASK_EVERY_MS = 400;

/** Throws Refusal, with the server's sentence where the file is not taken. */
export async function uploadFile(file: File, { namespace, signal, onProgress }: UploadOptions): Promise<UploadOutcome> {
  if (file.size === 0) throw new Refusal(400, 'invalid_request', '');
  const sha256 = await hashOf(file);
  const begun = await retry({ signal }, () =>
    call('POST /api/v1/upload/init', {
      body: { filename: file.name, size: file.size, namespace, sha256 },
      signal,
    }),
  );
  const stop = (): void =>
    void call('DELETE /api/v1/upload/{upload_id}', { params: { upload_id: begun.upload_id } }).catch(() => undefined);
  signal.addEventListener('abort', stop);
  try {
    await sendChunks(file, begun, signal, (sent) => onProgress({ step: 'sending', share: sent / file.size }));
    onProgress({ step: 'indexing', share: undefined });
    const answer = await retry({ signal }, () =>
      call('POST /api/v1/upload/finalize', { body: { upload_id: begun.upload_id }, signal }),
    );
    return await indexed(answer, signal, onProgress);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** What comes of a file that the server has. */
export async function indexed(
  answer: unknown,
  signal: AbortSignal,
  onProgress: UploadOptions['onProgress'],
): Promise<UploadOutcome> {
  const { job_id: jobId } = (answer ?? {}) as Record<string, unknown>;
  return typeof jobId === 'string' ? await follow(jobId, signal, onProgress) : outcomeOf(answer);
}

type Begun = Answer<'POST /api/v1/upload/init'>;

async function sendChunks(file: File, begun: Begun, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void> {
  const { upload_id: id, chunk_size: size } = begun;
  const there = new Set(begun.received);
  let sent = 0;
  for (let index = 0; index * size < file.size; index++) {
    const chunk = file.slice(index * size, (index + 1) * size);
    if (!there.has(index))
      await retry({ signal }, () =>
        sendBytes({
          address: '/api/v1/upload/chunk',
          headers: { 'x-upload-id': id, 'x-chunk-index': String(index) },
          bytes: chunk,
          signal,
          onSent: (bytes) => onSent(sent + bytes),
        }),
      );
    sent += chunk.size;
    onSent(sent);
  }
}

/** The hash is of the whole file, so that an upload that was cut off goes on. Browsers hash on pages of TLS and of the machine itself only. */
async function hashOf(file: File): Promise<string | undefined> {
  if (crypto.subtle === undefined || file.size > 64 * 1024 * 1024) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function follow(jobId: string, signal: AbortSignal, onProgress: UploadOptions['onProgress']): Promise<UploadOutcome> {
  for (;;) {
    const job = await retry({ signal }, () => call('GET /api/v1/system/jobs/{id}', { params: { id: jobId }, signal }));
    const { progress } = job;
    if (job.state === 'done') return outcomeOf(job.result);
    if (job.state === 'failed' || job.state === 'cancelled')
      throw new Refusal(422, job.error?.code ?? job.state, [job.error?.detail, job.error?.remedy].filter(Boolean).join(' '));
    onProgress({
      step: 'indexing',
      share: progress?.total == null || progress.total === 0 ? undefined : progress.done / progress.total,
    });
    await pauseFor(ASK_EVERY_MS, signal);
  }
}

function outcomeOf(result: unknown): UploadOutcome {
  const { id, document_id: documentId, state, detail } = (result ?? {}) as Record<string, unknown>;
  const known = id ?? documentId;
  return {
    documentId: typeof known === 'string' ? known : undefined,
    state: state === 'stored' ? 'stored' : 'indexed',
    detail: typeof detail === 'string' ? detail : undefined,
  };
}
