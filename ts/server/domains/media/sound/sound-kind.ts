/** The kind of a recording, by its first bytes. */
import { fileKindOf } from '../../../extraction/file-kind.ts';

export type SoundKind = { format: 'wav' | 'mp3'; demuxer: string } | { format: 'other'; demuxer: string };

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

/** Undefined for what is neither recording nor film. */
export function soundKindOf(head: Uint8Array): SoundKind | undefined {
  const kind = fileKindOf(head);
  const demuxer = kind.kind === 'media' ? demuxers[kind.mediaType] : undefined;
  if (demuxer === undefined) return undefined;
  return { format: demuxer === 'wav' || demuxer === 'mp3' ? demuxer : 'other', demuxer };
}
