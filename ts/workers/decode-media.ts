/**
 * Decodes images and sounds for one tenant in a process that the server confines (ts/server/native/confinement.ts): what a client sends
 * meets C code here, and not where other tenants' words are. Reads tasks from its standard input and answers each on its standard
 * output, one after the other (domains/inference/media/decoder-message.ts), until the input ends.
 */
import { readSync, writeSync } from 'node:fs';
import {
  type DecoderReply,
  type DecoderTask,
  encodeHead,
  headBytes,
  maxHeadBytes,
} from '../server/domains/inference/media/decoder-message.ts';
import { decodePixels, prepareDecoders } from '../server/domains/inference/media/decoding/image-pixels.ts';
import { decodeSamples } from '../server/domains/inference/media/decoding/sound-samples.ts';

const input = 0;
const output = 1;

/** Undefined at the end of the input. */
function read(sizeBytes: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  for (let at = 0; at < sizeBytes; ) {
    const n = readSync(input, bytes, at, sizeBytes - at, null);
    if (n === 0) return undefined;
    at += n;
  }
  return bytes;
}

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at, bytes.length - at);
}

function readTask(): { task: DecoderTask; bytes: Buffer } | undefined {
  const length = read(headBytes)?.readUInt32LE(0);
  if (length === undefined || length > maxHeadBytes) return undefined;
  const head = read(length);
  const task = head && (JSON.parse(head.toString()) as DecoderTask);
  const bytes = task && read(task.sizeBytes);
  return task && bytes && { task, bytes };
}

async function decode(task: DecoderTask, bytes: Uint8Array): Promise<{ reply: DecoderReply; data: Uint8Array }> {
  if (task.kind === 'image') {
    const { data, width, height } = await decodePixels(bytes, task.maxPixels, task.fitPixels);
    return { reply: { ok: true, sizeBytes: data.length, width, height }, data };
  }
  const samples = await decodeSamples(bytes, task.format, task.rate, task.maxSeconds);
  return { reply: { ok: true, sizeBytes: samples.byteLength }, data: new Uint8Array(samples.buffer, 0, samples.byteLength) };
}

/** The first line of what a decoder says; the rest may be long. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

prepareDecoders();
for (let next = readTask(); next; next = readTask()) {
  const { reply, data } = await decode(next.task, next.bytes).catch((error: unknown) => ({
    reply: { ok: false, sizeBytes: 0, reason: reasonOf(error) } as const,
    data: new Uint8Array(),
  }));
  write(encodeHead(reply));
  write(data);
}
