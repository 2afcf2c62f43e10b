/**
 * A stored recording -> samples, 16,000 a second unless told, piece by piece. A process of its own decodes it, which the server confines. It is held up while
 * nobody takes the samples, and ends with its reader.
 */
import { open, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { fileKindOf, HEAD_BYTES } from '../../../extraction/file-kind.ts';
import { INSTALL_ROOT } from '../../../platform/files/install-root.ts';
import { mediaError } from '../errors.ts';
import { startConfined } from '../programs/confined-program.ts';
import { ffmpegRemedy, findFfmpeg, soundArguments } from '../programs/ffmpeg.ts';

type SoundKind = { format: 'wav' | 'mp3'; demuxer: string } | { format: 'other'; demuxer: string };

export const SOUND_RATE = 16_000;

const entry = fileURLToPath(new URL('../../../../workers/decode-sound.ts', import.meta.url));
/** The paths that the program reads of this one: the folder that it imports from, the packages, and the file that tells Node how to. */
const sources = [relative(INSTALL_ROOT, entry).split(sep)[0] ?? '', 'node_modules', 'package.json'];
/** The most that our own decoder, which holds a file and its samples, is given. Larger files are ffmpeg's where it is there. */
const MOST_OWN_BYTES = 32 * 1024 * 1024;
/** The demuxers of ffmpeg that files are given to: a short list, each for one family of files. */
const demuxers: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'mov',
  'video/mp4': 'mov',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/aiff': 'aiff',
  'video/webm': 'matroska',
  'video/x-msvideo': 'avi',
  'video/mpeg': 'mpeg',
};
const limits = { memoryMiB: 1_536, cpuSeconds: 3_600 };

interface ReadingOptions {
  maxSeconds: number;
  signal: AbortSignal;
  /** Two: samples of left and right in turn, which ffmpeg alone makes. */
  nChannels?: 1 | 2;
  /** Samples a second. */
  rate?: number;
  env?: NodeJS.ProcessEnv;
}

/** Throws invalid_media, no_audio_track, media_too_long and ffmpeg_missing. */
export async function* readSound(path: string, options: ReadingOptions): AsyncGenerator<Float32Array> {
  const { maxSeconds, signal, nChannels = 1, rate = SOUND_RATE } = options;
  const kind = await kindOf(path);
  const readable = [...sources.map((source) => join(INSTALL_ROOT, source)), entry, path];
  const program = startConfined(await programFor(path, kind, options), { ...limits, readable, signal });
  let nSamples = 0;
  try {
    for await (const samples of floatsOf(program.output, nChannels)) {
      nSamples += samples.length / nChannels;
      if (nSamples > maxSeconds * rate) throw tooLong(maxSeconds);
      yield samples;
    }
    const code = await program.exit;
    signal.throwIfAborted();
    // A decoder that failed in the middle would leave a transcript that nobody knows to be cut off.
    if (code !== 0 || nSamples === 0) throw failure(await program.reason, maxSeconds);
  } finally {
    program.kill();
  }
}

/** Tells it by the first bytes. Throws invalid_media for what is neither recording nor film. */
export async function kindOf(path: string): Promise<SoundKind> {
  const kind = fileKindOf(await readHead(path));
  const demuxer = kind.kind === 'media' ? demuxers[kind.mediaType] : undefined;
  if (demuxer === undefined)
    throw mediaError('invalid_media', 'The file is neither a recording nor a film of a known kind.', { param: 'file' });
  return { format: demuxer === 'wav' || demuxer === 'mp3' ? demuxer : 'other', demuxer };
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function programFor(
  path: string,
  { format, demuxer }: SoundKind,
  { maxSeconds, nChannels = 1, rate = SOUND_RATE, env }: ReadingOptions,
): Promise<string[]> {
  const ffmpeg = findFfmpeg(env);
  // A second more than is allowed tells that there is more.
  const program =
    ffmpeg === undefined
      ? undefined
      : [ffmpeg, ...soundArguments({ path, demuxer }, { maxSeconds: maxSeconds + 1, nChannels, rate })];
  const isOwn = nChannels === 1 && format !== 'other';
  if (isOwn && (program === undefined || (await stat(path)).size <= MOST_OWN_BYTES))
    // With the handler, V8 reserves more address space for each WebAssembly memory than the process may have.
    return [
      process.execPath,
      '--no-warnings',
      '--disable-wasm-trap-handler',
      entry,
      path,
      format,
      String(maxSeconds),
      String(rate),
    ];
  if (program !== undefined) return program;
  throw ffmpegMissing(nChannels === 1 ? 'Only WAV and MP3 are decoded here' : 'Speakers cannot be told apart by channels here');
}

export function ffmpegMissing(what: string): Error {
  return mediaError('ffmpeg_missing', `${what}, since ffmpeg is not installed.`, { remedy: ffmpegRemedy() });
}

/** Whole frames of all channels. */
async function* floatsOf(stream: Readable, nChannels: number): AsyncGenerator<Float32Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const nBytes = bytes.length - (bytes.length % (4 * nChannels));
    rest = bytes.subarray(nBytes);
    if (nBytes > 0) yield new Float32Array(new Uint8Array(bytes.subarray(0, nBytes)).buffer);
  }
}

/** The decoder's words name files of ours, so that only what is known of them reaches the client. */
function failure(reason: string, maxSeconds: number): Error {
  if (/matches no streams/.test(reason)) return mediaError('no_audio_track', 'The file has no audio track.', { param: 'file' });
  if (/lasts longer than/.test(reason)) return tooLong(maxSeconds);
  const own = /^decode-sound: (.+)$/m.exec(reason)?.[1];
  const why = own === undefined ? 'no sound can be decoded from it' : own;
  return mediaError('invalid_media', `The file cannot be used: ${why.slice(0, 200)}.`, { param: 'file' });
}

function tooLong(maxSeconds: number): Error {
  return mediaError('media_too_long', `The recording is longer than ${maxSeconds} seconds.`, { param: 'file' });
}
