/** Sends bytes and tells how many have gone. Browsers tell that only of the older kind of request. */
import { Refusal } from '../../../client/refusal.ts';
import { sessionRestored } from '../../api/call.ts';

interface BytesToSend {
  address: string;
  headers?: Record<string, string>;
  bytes: Blob;
  signal: AbortSignal;
  onSent(bytes: number): void;
}

/** The body of the answer. Throws Refusal. */
export async function sendBytes(sending: BytesToSend): Promise<string> {
  let request = await send(sending);
  if (request.status === 401 && (await sessionRestored())) request = await send(sending);
  if (request.status === 0) throw Refusal.unreachable(undefined);
  if (request.status >= 300) throw await Refusal.from(new Response(request.responseText, { status: request.status }));
  return request.responseText;
}

async function send({ address, headers = {}, bytes, signal, onSent }: BytesToSend): Promise<XMLHttpRequest> {
  const request = new XMLHttpRequest();
  request.open('POST', address);
  request.setRequestHeader('content-type', 'application/octet-stream');
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
  const stop = (): void => request.abort();
  signal.addEventListener('abort', stop);
  try {
    await new Promise<void>((resolve) => {
      request.addEventListener('loadend', () => resolve());
      request.send(bytes);
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  return request;
}
