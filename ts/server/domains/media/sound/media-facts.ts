/** Tells what a recording or film is, before anything of it is decoded. */
import { mediaError } from '../errors.ts';
import { outputOf, startConfined } from '../programs/confined-program.ts';
import { findProgram, type MediaFile, probeArguments } from '../programs/ffmpeg.ts';
import { ffmpegMissing, kindOf, readSound, SOUND_RATE } from './sound-reader.ts';

export interface MediaFacts {
  /** How it is to be read. */
  file: MediaFile;
  /** Seconds; undefined: the file does not say, as those that browsers record. */
  duration: number | undefined;
  /** Channels of the first sound track; 0: there is none. */
  nChannels: number;
  /** The size of the first film track, upright. */
  picture: { width: number; height: number } | undefined;
}

interface ProbedStream {
  codec_type?: string;
  channels?: number;
  width?: number;
  height?: number;
  duration?: string;
  disposition?: { attached_pic?: number };
  side_data_list?: { rotation?: number }[];
}

const limits = { memoryMiB: 512, cpuSeconds: 60 };
const MOST_BYTES = 1024 * 1024;

/** Throws invalid_media and ffmpeg_missing. */
export async function readMediaFacts(path: string, signal: AbortSignal): Promise<MediaFacts> {
  const { demuxer } = await kindOf(path);
  const file = { path, demuxer };
  const ffprobe = findProgram('ffprobe');
  if (ffprobe === undefined) throw ffmpegMissing('Films, and how long recordings last, cannot be read here');
  const program = startConfined([ffprobe, ...probeArguments(file)], { ...limits, readable: [path], signal });
  program.input.end();
  const { code, bytes } = await outputOf(program, MOST_BYTES);
  signal.throwIfAborted();
  if (code !== 0) throw unreadable();
  const { streams = [], format = {} } = JSON.parse(bytes.toString()) as {
    streams?: ProbedStream[];
    format?: { duration?: string };
  };
  const sound = streams.find((stream) => stream.codec_type === 'audio');
  // The cover of a record is no film.
  const film = streams.find((stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1);
  if (sound === undefined && film === undefined) throw unreadable();
  return {
    file,
    duration: secondsOf(format.duration) ?? secondsOf(film?.duration) ?? secondsOf(sound?.duration),
    nChannels: sound?.channels ?? 0,
    picture: film === undefined ? undefined : uprightSize(film),
  };
}

function uprightSize({ width = 0, height = 0, side_data_list: data = [] }: ProbedStream): { width: number; height: number } {
  const isOnItsSide = data.some(({ rotation = 0 }) => Math.abs(rotation) % 180 === 90);
  return isOnItsSide ? { width: height, height: width } : { width, height };
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = Number(text);
  return text !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function unreadable(): Error {
  return mediaError('invalid_media', 'The file cannot be used: it has neither sound nor pictures that can be read.', {
    param: 'file',
  });
}

/** Tells the kind of a file, and how long it lasts, which is counted where the file does not say. */
export async function inspectMedia(path: string, maxSeconds: number): Promise<{ kind: 'audio' | 'video'; duration: number }> {
  const { signal } = new AbortController();
  const { format } = await kindOf(path);
  const facts = format === 'other' || findProgram('ffprobe') !== undefined ? await readMediaFacts(path, signal) : undefined;
  const kind = facts?.picture === undefined ? 'audio' : 'video';
  if (facts?.duration !== undefined) return { kind, duration: facts.duration };
  let nSamples = 0;
  for await (const samples of readSound(path, { maxSeconds, signal })) nSamples += samples.length;
  return { kind, duration: nSamples / SOUND_RATE };
}
