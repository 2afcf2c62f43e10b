/** One chunk of an upload. Browsers tell only of the older kind of request how much of it has been sent. */
import { Refusal } from '../../api/refusal.ts';

export interface ChunkOptions {
  id: string;
  index: number;
  chunk: Blob;
  signal: AbortSignal;
  /** Of this chunk. */
  onSent(bytes: number): void;
}

/** Throws Refusal. */
export async function sendChunk({ id, index, chunk, signal, onSent }: ChunkOptions): Promise<void> {
  const request = new XMLHttpRequest();
  request.open('POST', '/api/v1/upload/chunk');
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.setRequestHeader('x-upload-id', id);
  request.setRequestHeader('x-chunk-index', String(index));
  request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
  const stop = (): void => request.abort();
  signal.addEventListener('abort', stop);
  try {
    await new Promise<void>((resolve) => {
      request.addEventListener('loadend', () => resolve());
      request.send(chunk);
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  if (request.status === 0) throw Refusal.unreachable(undefined);
  if (request.status >= 300) throw await Refusal.from(new Response(request.responseText, { status: request.status }));
}
