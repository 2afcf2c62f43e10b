/** The part of a worker's task that reads a large body; ts/workers/ has a file for each module that has such bodies. */
import type { MessagePort } from 'node:worker_threads';
import { Transferred } from '../../pool/transferred.ts';
import { joinBytes, type MovedBytes } from './body-collector.ts';
import type { BodyReader } from './body-reader.ts';
import { type BodyRefusal, refusalOf } from './body-refusal.ts';
import { gatherBuffers } from './gather-buffers.ts';

export interface ReadBodyInput {
  reader: string;
  bytes: MovedBytes;
}

export type ReadBodyResult = { ok: true; value: unknown; ports: MessagePort[] } | { ok: false; refusal: BodyRefusal };

export type ReadBodyTask = (input: ReadBodyInput) => Transferred<ReadBodyResult>;

/** A reader of a worker. `pack` turns long strings into bytes, which move between threads instead of being copied. */
export interface PackingReader {
  reader: BodyReader;
  pack(value: unknown): unknown;
}

/** Throws only what is a defect. */
export function readBodyInThread({ reader, pack }: PackingReader, bytes: MovedBytes): Transferred<ReadBodyResult> {
  try {
    const { value, transfer, ports } = gatherBuffers(pack(reader.read(joinBytes(bytes))));
    return new Transferred<ReadBodyResult>({ ok: true, value, ports }, transfer);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return new Transferred<ReadBodyResult>({ ok: false, refusal }, []);
  }
}
