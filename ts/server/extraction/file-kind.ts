/** What kind of file it is, by its first bytes. A name is never believed: a .txt may be a ZIP file, and a .pdf a web page. */
import type { StoredReason } from './extraction-result.ts';

type FileKind =
  | { kind: 'pdf' | 'zip' | 'compound' | 'text' }
  | { kind: 'stored'; reason: StoredReason }
  | { kind: 'media'; media: 'audio' | 'video'; mediaType: string }
  | { kind: 'binary'; what: string };

/** Bytes at the start that are looked at. */
export const HEAD_BYTES = 1024;

const image: FileKind = { kind: 'stored', reason: 'image_without_text' };
const audio = (mediaType: string): FileKind => ({ kind: 'media', media: 'audio', mediaType });
const video = (mediaType: string): FileKind => ({ kind: 'media', media: 'video', mediaType });
const binary = (what: string): FileKind => ({ kind: 'binary', what });

/** Stands for any four bytes. */
const ANY = '\u{100}'.repeat(4);

/** First bytes, one character each. */
const signatures: readonly (readonly [FileKind, ...string[]])[] = [
  [{ kind: 'zip' }, 'PK\x03\x04', 'PK\x05\x06'],
  [{ kind: 'compound' }, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  [{ kind: 'stored', reason: 'rtf' }, '{\\rtf'],
  [image, '\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a', 'II*\0', 'MM\0*', `RIFF${ANY}WEBP`, `BM${ANY}\0\0\0\0`],
  [image, 'AT&TFORM', '\xff\x0a', '\0\0\0\x0cJXL ', ...ftyp('heic', 'heix', 'heif', 'mif1', 'msf1', 'avif')],
  [audio('audio/mp4'), ...ftyp('M4A', 'M4B')],
  [video('video/mp4'), ...ftyp('')],
  [audio('audio/wav'), `RIFF${ANY}WAVE`],
  [audio('audio/mpeg'), 'ID3', '\xff\xe2', '\xff\xe3', '\xff\xf2', '\xff\xf3', '\xff\xfa', '\xff\xfb'],
  [audio('audio/aac'), '\xff\xf1', '\xff\xf9'],
  [audio('audio/flac'), 'fLaC'],
  [audio('audio/ogg'), 'OggS'],
  [audio('audio/aiff'), `FORM${ANY}AIFF`, `FORM${ANY}AIFC`],
  [video('video/webm'), '\x1a\x45\xdf\xa3'],
  [video('video/x-msvideo'), `RIFF${ANY}AVI `],
  [video('video/mpeg'), '\0\0\x01\xba', '\0\0\x01\xb3'],
  [binary('a packed archive'), '\x1f\x8b', 'BZh', '\xfd7zXZ', '7z\xbc\xaf\x27\x1c', 'Rar!', '\x28\xb5\x2f\xfd'],
  [binary('a program'), '\x7fELF', 'MZ\x90', '\xca\xfe\xba\xbe', '\xcf\xfa\xed\xfe', '\0asm'],
  [binary('a database'), 'SQLite format 3\0'],
  [binary('a PostScript file'), '%!PS', '\xc5\xd0\xd3\xc6'],
];

function ftyp(...brands: string[]): string[] {
  return brands.map((brand) => `${ANY}ftyp${brand}`);
}

function begins(text: string, mark: string): boolean {
  return text.length >= mark.length && [...mark].every((character, i) => character === '\u{100}' || character === text[i]);
}

/** @param head the first HEAD_BYTES of the file. */
export function fileKindOf(head: Uint8Array): FileKind {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  const known = signatures.find(([, ...marks]) => marks.some((mark) => begins(text, mark)));
  if (known !== undefined) return known[0];
  // Some programs write a few bytes before the mark, and readers accept that.
  return /%PDF-[12]\.\d/.test(text) ? { kind: 'pdf' } : { kind: 'text' };
}
