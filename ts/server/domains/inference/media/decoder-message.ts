/**
 * A message between the server and a process that decodes: a length of four bytes (little-endian), so many bytes of JSON, and then the bytes that the
 * JSON announces as `sizeBytes`.
 */
import type { SoundFormat } from './encoded-media.ts';

export type DecoderTask = { sizeBytes: number } & (
  | {
      kind: 'image';
      /** More pixels than the header has announced are not decoded. */
      maxPixels: number;
      /** The result has no more; it is made smaller, with its proportions. */
      fitPixels: number;
    }
  | { kind: 'audio'; format: SoundFormat; rate: number; maxSeconds: number }
);

/** RGB, three bytes a pixel, or samples of four bytes (little-endian floats). `reason` is a part of a sentence for the client. */
export type DecoderReply =
  | { ok: true; sizeBytes: number; width?: number; height?: number }
  | { ok: false; sizeBytes: 0; reason: string };

export const headBytes = 4;
/** A head of more is no message. */
export const maxHeadBytes = 4096;

export function encodeHead(head: DecoderTask | DecoderReply): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(headBytes);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}
