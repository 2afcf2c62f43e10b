/** Files as clients send them to a knowledge base. */
import { writeDocx } from '../../../extraction/test-support/docx-writer.ts';
import { type Answer, DEVELOPER, type KnowledgeBed } from './knowledge-bed.ts';

type Sent = Pick<Answer, 'status' | 'body'>;

/** Sends a file in chunks, and finalizes it; the first answer that is none of 2xx, else the last. */
export async function upload(
  { url }: Pick<KnowledgeBed, 'url'>,
  filename: string,
  bytes: Buffer,
  more: object = {},
  caller = DEVELOPER,
): Promise<Sent> {
  const post = async (path: string, body: Buffer | object, headers: Record<string, string> = {}): Promise<Sent> => {
    const init = Buffer.isBuffer(body)
      ? { body: new Uint8Array(body), headers: { 'x-caller': caller, ...headers } }
      : { body: JSON.stringify(body), headers: { 'x-caller': caller, 'content-type': 'application/json' } };
    const response = await fetch(`${url}/api/v1/upload/${path}`, { method: 'POST', ...init });
    return { status: response.status, body: await response.json() };
  };
  const begun = await post('init', { filename, size: bytes.length, namespace: 'kb', ...more });
  if (begun.status > 299) return begun;
  const { upload_id: id, chunk_size: size } = begun.body;
  for (let index = 0; index * size < bytes.length; index++) {
    const headers = { 'x-upload-id': id, 'x-chunk-index': String(index) };
    const sent = await post('chunk', bytes.subarray(index * size, (index + 1) * size), headers);
    if (sent.status > 299) return sent;
  }
  return await post('finalize', { upload_id: id });
}

/** Of some MB, with one paragraph. */
export function largeDocx(text: string, sizeBytes = 5_000_000): Buffer {
  const data = Buffer.from(Array.from({ length: sizeBytes }, (_, i) => (i * i * 2654435761) >>> 24));
  return writeDocx({ blocks: [{ type: 'paragraph', text }] }, [{ name: 'word/media/noise.bin', data, stored: true }]);
}
