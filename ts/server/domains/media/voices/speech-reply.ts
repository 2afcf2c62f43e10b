/** Speech as the answer to a request: a whole file, bytes as they are made, or events. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type TProperties, type TSchema } from 'typebox';
import type { ErrorBody } from '../../../platform/http/error-body.ts';
import type { Reply } from '../../../platform/http/route.ts';
import { named } from '../../../platform/schema/named.ts';
import { eventReply } from '../event-reply.ts';
import type { SpeakingCall, SpeakingService } from './speaking-service.ts';
import {
  encoded,
  HEAD_OF_FILE_BYTES,
  requireEncoder,
  SPEECH_RATE,
  SPEECH_TYPES,
  type SpeechFormat,
  wholeHead,
} from './speech-encoder.ts';

/** `whole`: with its length; `audio`: as it is made; `sse`: events that hold parts of the file. */
export type SpeechDelivery = 'whole' | 'audio' | 'sse';

interface SpeechReplyOptions {
  service: SpeakingService;
  /** Whole files lie there until they are sent. */
  folder: string;
  call: SpeakingCall;
  format: SpeechFormat;
  delivery: SpeechDelivery;
  errorBody: ErrorBody;
  path: string;
}

const Usage = Type.Object({
  input_tokens: Type.Integer({ description: 'Always 0: texts that are read aloud count by their characters.' }),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  characters: Type.Integer(),
  seconds: Type.Number({ description: 'Of the speech.' }),
});

/** The schema of one event's data; `others` are members of its errors. */
export function speechEvent(others: TProperties): TSchema {
  return Type.Union([
    Type.Object({ type: Type.Literal('speech.audio.delta'), audio: Type.String({ description: 'Bytes in base64.' }) }),
    Type.Object({ type: Type.Literal('speech.audio.done'), usage: Usage }),
    Type.Object(others),
  ]);
}

export const SpeechFile = named(
  'SpeechFile',
  Type.Unsafe<never>({
    type: 'string',
    format: 'binary',
    contentMediaType: 'audio/*',
    description: 'A file of the format that was asked for.',
  }),
);

export async function speechReply(options: SpeechReplyOptions): Promise<Reply> {
  const { service, call, format, delivery } = options;
  requireEncoder(format);
  if (delivery === 'sse') return await events(options);
  const counted = new CountedSamples(await service.speak(call));
  const headers = { 'content-type': SPEECH_TYPES[format] };
  if (delivery === 'audio') return { kind: 'stream', status: 200, headers, body: bytesOf(options, counted) };
  const { path, sizeBytes } = await wholeFile(options, counted);
  return { kind: 'stream', status: 200, headers, sizeBytes, body: readAndRemove(path) };
}

/** The bytes as they are made; those of FLAC once it is whole, since nothing but its head says how long it lasts. */
async function* bytesOf(options: SpeechReplyOptions, counted: CountedSamples): AsyncGenerator<Uint8Array> {
  const { format, call } = options;
  if (format !== 'flac') yield* encoded(counted, format, call.signal);
  else yield* readAndRemove((await wholeFile(options, counted)).path);
}

class CountedSamples implements AsyncIterable<Int16Array> {
  nSamples = 0;
  readonly #samples: AsyncIterable<Int16Array>;

  constructor(samples: AsyncIterable<Int16Array>) {
    this.#samples = samples;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Int16Array> {
    for await (const samples of this.#samples) {
      this.nSamples += samples.length;
      yield samples;
    }
  }
}

/** Hours of speech do not lie in memory. */
async function wholeFile(
  { folder, format, call }: SpeechReplyOptions,
  counted: CountedSamples,
): Promise<{ path: string; sizeBytes: number }> {
  const path = join(folder, randomUUID());
  await mkdir(folder, { recursive: true });
  try {
    const bytes = encoded(counted, format, call.signal);
    return { path, sizeBytes: await writeFile(path, bytes, (head) => wholeHead(format, head, counted.nSamples)) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function writeFile(path: string, bytes: AsyncIterable<Uint8Array>, correct: (head: Buffer) => Buffer): Promise<number> {
  const file = await open(path, 'w+', 0o600);
  try {
    let sizeBytes = 0;
    for await (const piece of bytes) {
      await file.write(piece, 0, piece.length, sizeBytes);
      sizeBytes += piece.length;
    }
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_OF_FILE_BYTES), 0, HEAD_OF_FILE_BYTES, 0);
    await file.write(correct(buffer.subarray(0, bytesRead)), 0, undefined, 0);
    return sizeBytes;
  } finally {
    await file.close();
  }
}

async function* readAndRemove(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Buffer;
  } finally {
    await rm(path, { force: true });
  }
}

async function events(options: SpeechReplyOptions): Promise<Reply> {
  const { service, call, errorBody, path } = options;
  return await eventReply({
    path,
    errorBody,
    run: async (send) => {
      const counted = new CountedSamples(await service.speak(call));
      for await (const bytes of bytesOf(options, counted))
        send({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') }, 'speech.audio.delta');
      const usage = {
        input_tokens: 0,
        output_tokens: 0,
        total_tokens: 0,
        characters: [...call.text].length,
        seconds: counted.nSamples / SPEECH_RATE,
      };
      send({ type: 'speech.audio.done', usage }, 'speech.audio.done');
    },
  });
}
