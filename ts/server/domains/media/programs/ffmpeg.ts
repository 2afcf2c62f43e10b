/** Programs of the system that decode, encode and speak: where they are, how they get there, and what ffmpeg is told. */
import { accessSync, constants, readFileSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute, or undefined where no folder of PATH has it. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

export function findFfmpeg(env?: NodeJS.ProcessEnv): string | undefined {
  return findProgram('ffmpeg', env);
}

function isProgram(file: string): boolean {
  try {
    accessSync(realpathSync(file), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function ffmpegRemedy(): string {
  return installRemedy('ffmpeg', 'ffmpeg-free');
}

/** The command that installs a package on this system. @param fedora its name there */
export function installRemedy(name: string, fedora = name): string {
  if (process.platform === 'darwin') return `Install it: brew install ${name}`;
  const system = readSystem();
  if (/fedora/.test(system)) return `Install it: dnf install ${fedora}`;
  if (/debian|ubuntu/.test(system)) return `Install it: apt install ${name}`;
  return `Install the package ${name} of this system.`;
}

/** Names of the system and of those that it is like, from os-release(5). */
function readSystem(): string {
  try {
    const lines = readFileSync('/etc/os-release', 'utf8').split('\n');
    return lines.filter((line) => /^ID(_LIKE)?=/.test(line)).join(' ');
  } catch {
    return '';
  }
}

export interface MediaFile {
  path: string;
  /** The kind that the file is read as, whatever it says of itself. */
  demuxer: string;
}

/** Nothing is read but the file, by the demuxer that its bytes ask for. */
function inputArguments({ path, demuxer }: MediaFile): string[] {
  return ['-protocol_whitelist', 'file,pipe', '-f', demuxer, '-i', `file:${path}`];
}

const QUIET = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1', '-filter_threads', '1'];

/** One sound track becomes samples of one or two channels, 16,000 a second, as floats. */
interface SoundShape {
  maxSeconds: number;
  nChannels: 1 | 2;
  /** Samples a second. */
  rate: number;
}

export function soundArguments(file: MediaFile, { maxSeconds, nChannels, rate }: SoundShape): string[] {
  return [
    ...[...QUIET, ...inputArguments(file)],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1', '-t', String(maxSeconds)],
    ...['-ac', String(nChannels), '-ar', String(rate), '-c:a', 'pcm_f32le', '-f', 'f32le', 'pipe:1'],
  ];
}

/** Asks ffprobe for what it knows of a file, as JSON. */
export function probeArguments(file: MediaFile): string[] {
  const shown = 'format=duration:stream=codec_type,channels,width,height,duration:stream_disposition=attached_pic';
  return [
    '-hide_banner',
    '-loglevel',
    'error',
    ...inputArguments(file),
    '-show_entries',
    `${shown}:stream_side_data=rotation`,
    '-of',
    'json',
  ];
}

interface FrameChoice {
  /** Seconds from the beginning. */
  from: number;
  width: number;
  height: number;
  /** How different a picture is from the one before, 0 to 1; undefined: every picture counts. */
  threshold: number | undefined;
  /** Undefined: all that there are. */
  nMost: number | undefined;
}

/** Pictures of a film, upright and scaled, become pixels; the standard error has a line with the time of each, counted from `from`. */
export function frameArguments(file: MediaFile, { from, width, height, threshold, nMost }: FrameChoice): string[] {
  const changed = threshold === undefined ? [] : [`select=eq(n\\,0)+gt(scene\\,${threshold})`];
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'info', '-threads', '1', '-filter_threads', '1'],
    ...(from > 0 ? ['-ss', from.toFixed(6)] : []),
    ...inputArguments(file),
    // A capital V leaves covers of records out.
    ...['-map', '0:V:0', '-an', '-sn', '-dn'],
    ...['-vf', [...changed, `scale=${width}:${height}`, 'showinfo=checksum=0'].join(',')],
    ...(nMost === undefined ? [] : ['-frames:v', String(nMost)]),
    ...['-fps_mode', 'passthrough', '-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'],
  ];
}

/** The encoder and container of each format. Constant rates let players know how long a stream lasts. */
const ENCODERS = {
  mp3: ['-c:a', 'libmp3lame', '-b:a', '64k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  opus: ['-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg'],
  aac: ['-c:a', 'aac', '-b:a', '64k', '-f', 'adts'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
} as const;

export type EncodedFormat = keyof typeof ENCODERS;

/** Samples of 16 bits from a pipe become a file of sound on a pipe. */
export function encodeArguments(format: EncodedFormat, rate: number): string[] {
  return [
    ...QUIET,
    ...['-protocol_whitelist', 'pipe', '-f', 's16le', '-ar', String(rate), '-ac', '1', '-i', 'pipe:0'],
    ...['-map_metadata', '-1', '-flush_packets', '1', ...ENCODERS[format], 'pipe:1'],
  ];
}
