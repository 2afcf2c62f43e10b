/**
 * A stored recording -> samples of one channel, 16,000 a second, piece by piece. A process of its own decodes it, which the server confines
 * (native/confinement.ts): files of others meet C code there. It is held up while nobody takes the samples, and ends with its reader.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HEAD_BYTES } from '../../../extraction/file-kind.ts';
import { confinedCommand } from '../../../native/confinement.ts';
import { INSTALL_ROOT } from '../../../platform/files/install-root.ts';
import { mediaError } from '../errors.ts';
import { ffmpegRemedy, findFfmpeg, soundArguments } from './ffmpeg.ts';
import { type SoundKind, soundKindOf } from './sound-kind.ts';

const SOUND_RATE = 16_000;

const entry = fileURLToPath(new URL('../../../../workers/decode-sound.ts', import.meta.url));
/** The paths that the program reads of this one: the folder that it imports from, the packages, and the file that tells Node how to. */
const sources = [relative(INSTALL_ROOT, entry).split(sep)[0] ?? '', 'node_modules', 'package.json'];
/** The most that our own decoder, which holds a file and its samples, is given. Larger files are ffmpeg's where it is there. */
const MOST_OWN_BYTES = 32 * 1024 * 1024;
/** So much is kept of a decoder's words about a failure. */
const MOST_REASON_BYTES = 2_000;
const limits = { memoryMiB: 1_536, cpuSeconds: 3_600 };

interface ReadingOptions {
  maxSeconds: number;
  signal: AbortSignal;
  env?: NodeJS.ProcessEnv;
}

/** Throws invalid_media, no_audio_track, media_too_long and ffmpeg_missing. */
export async function* readSound(path: string, options: ReadingOptions): AsyncGenerator<Float32Array> {
  const { maxSeconds, signal } = options;
  const kind = soundKindOf(await readHead(path));
  if (kind === undefined) throw mediaError('invalid_media', 'The file is no recording of a known kind.', { param: 'file' });
  const child = start(await programFor(path, kind, options), path);
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  let nSamples = 0;
  const reason = readReason(child.stderr);
  const exit = once(child, 'close');
  try {
    for await (const samples of floatsOf(child.stdout)) {
      nSamples += samples.length;
      if (nSamples > maxSeconds * SOUND_RATE) throw tooLong(maxSeconds);
      yield samples;
    }
    const [code] = (await exit) as [number | null];
    signal.throwIfAborted();
    // A decoder that failed in the middle would leave a transcript that nobody knows to be cut off.
    if (code !== 0 || nSamples === 0) throw failure(await reason, maxSeconds);
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
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

async function programFor(path: string, { format, demuxer }: SoundKind, { maxSeconds, env }: ReadingOptions): Promise<string[]> {
  const ffmpeg = findFfmpeg(env);
  // A second more than is allowed tells that there is more.
  const program = ffmpeg === undefined ? undefined : [ffmpeg, ...soundArguments({ path, demuxer, maxSeconds: maxSeconds + 1 })];
  if (format !== 'other' && (program === undefined || (await stat(path)).size <= MOST_OWN_BYTES))
    // With the handler, V8 reserves more address space for each WebAssembly memory than the process may have.
    return [process.execPath, '--no-warnings', '--disable-wasm-trap-handler', entry, path, format, String(maxSeconds)];
  if (program !== undefined) return program;
  const sentence = 'Only WAV and MP3 are decoded here, since ffmpeg is not installed.';
  throw mediaError('ffmpeg_missing', sentence, { remedy: ffmpegRemedy() });
}

function start(program: readonly string[], path: string): ChildProcessByStdio<null, Readable, Readable> {
  const readable = [...sources.map((source) => join(INSTALL_ROOT, source)), entry, path];
  const { file, args } = confinedCommand(program, { ...limits, readable, withoutDevices: true });
  const kept = ['SVC_NATIVE_DIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'].filter((name) => process.env[name] !== undefined);
  const env = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  // What goes wrong shows as an end without samples.
  child.on('error', () => {});
  if (child.pid !== undefined) lower(child.pid);
  return child;
}

/** Puts a process behind the threads that serve and compute. A process that is gone already needs none. */
function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Its end is told elsewhere.
  }
}

async function* floatsOf(stream: Readable): AsyncGenerator<Float32Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const nFloats = bytes.length >> 2;
    rest = bytes.subarray(nFloats * 4);
    if (nFloats > 0) yield new Float32Array(new Uint8Array(bytes.subarray(0, nFloats * 4)).buffer);
  }
}

async function readReason(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) if (text.length < MOST_REASON_BYTES) text += String(chunk);
  return text;
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
