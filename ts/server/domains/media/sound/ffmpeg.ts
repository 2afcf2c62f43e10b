/** ffmpeg, which decodes what is neither WAV nor MP3: where it is, and what it is told. */
import { accessSync, constants, readFileSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute, or undefined where no folder of PATH has it. */
export function findFfmpeg(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, 'ffmpeg')).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(realpathSync(file), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The command that installs it on this system. */
export function ffmpegRemedy(): string {
  if (process.platform === 'darwin') return 'Install it: brew install ffmpeg';
  const system = readSystem();
  if (/fedora/.test(system)) return 'Install it: dnf install ffmpeg-free';
  if (/debian|ubuntu/.test(system)) return 'Install it: apt install ffmpeg';
  return 'Install the package ffmpeg of this system.';
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

interface FfmpegTask {
  path: string;
  /** The kind that the file is read as, whatever it says of itself. */
  demuxer: string;
  maxSeconds: number;
}

/** One sound track becomes samples of one channel, 16,000 a second, as floats. Nothing is read but the file. */
export function soundArguments({ path, demuxer, maxSeconds }: FfmpegTask): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1', '-filter_threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-f', demuxer, '-i', `file:${path}`],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1', '-t', String(maxSeconds)],
    ...['-ac', '1', '-ar', '16000', '-c:a', 'pcm_f32le', '-f', 'f32le', 'pipe:1'],
  ];
}
