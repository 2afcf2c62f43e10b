/** Spoken samples -> a file of sound, as they come. WAV and raw samples are written here, all else by ffmpeg, which the server confines. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startConfined } from '../programs/confined-program.ts';
import { type EncodedFormat, encodeArguments, findFfmpeg } from '../programs/ffmpeg.ts';
import { ffmpegMissing } from '../sound/sound-reader.ts';

/** Samples a second of all answers: that of OpenAI's raw samples. */
export const SPEECH_RATE = 24_000;
export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export const SPEECH_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

const limits = { memoryMiB: 512, cpuSeconds: 3_600, readable: [] };

/** Throws ffmpeg_missing. */
export function requireEncoder(format: SpeechFormat): void {
  if (format !== 'wav' && format !== 'pcm' && findFfmpeg() === undefined) throw ffmpegMissing(`${format} cannot be written here`);
}

export async function* encoded(
  samples: AsyncIterable<Int16Array>,
  format: SpeechFormat,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (format === 'wav') yield wavHead(0xffff_ffff - WAV_HEAD_BYTES);
  if (format === 'wav' || format === 'pcm') yield* bytesOf(samples);
  else yield* byFfmpeg(samples, format, signal);
}

async function* bytesOf(samples: AsyncIterable<Int16Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of samples) yield new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
}

async function* byFfmpeg(
  samples: AsyncIterable<Int16Array>,
  format: EncodedFormat,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const ffmpeg = findFfmpeg();
  if (ffmpeg === undefined) throw ffmpegMissing(`${format} cannot be written here`);
  const program = startConfined([ffmpeg, ...encodeArguments(format, SPEECH_RATE)], { ...limits, signal });
  const feeding = pipeline(Readable.from(bytesOf(samples)), program.input).then(
    () => undefined,
    (error: unknown) => {
      program.kill();
      return error;
    },
  );
  try {
    for await (const chunk of program.output) yield chunk as Buffer;
    const failure = await feeding;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    if ((await program.exit) !== 0) throw new Error(`ffmpeg failed: ${await program.reason}`);
  } finally {
    program.kill();
    await feeding;
  }
}

const WAV_HEAD_BYTES = 44;

function wavHead(dataBytes: number): Buffer {
  const head = Buffer.alloc(WAV_HEAD_BYTES);
  head.write('RIFF', 0);
  head.writeUInt32LE(dataBytes + WAV_HEAD_BYTES - 8, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SPEECH_RATE, 24);
  head.writeUInt32LE(SPEECH_RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** The first bytes of a whole file, which say how long it is, in place of those that were written before that was known. */
export function wholeHead(format: SpeechFormat, head: Buffer, nSamples: number): Buffer {
  if (format === 'wav') return wavHead(nSamples * 2);
  if (format !== 'flac' || head.length < FLAC_COUNT + 5 || head.toString('latin1', 0, 4) !== 'fLaC') return head;
  const whole = Buffer.from(head);
  whole[FLAC_COUNT] = ((whole[FLAC_COUNT] ?? 0) & 0xf0) | (Math.floor(nSamples / 2 ** 32) & 0xf);
  whole.writeUInt32BE(nSamples >>> 0, FLAC_COUNT + 1);
  return whole;
}

/** The place of the 36 bits that count the samples in STREAMINFO (RFC 9639 section 8.2), and the bytes that hold the head of any format. */
const FLAC_COUNT = 21;
export const HEAD_OF_FILE_BYTES = 64;
