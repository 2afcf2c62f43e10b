/** The name that a client gave a file, as far as it can be shown and stored. */
import { normalized } from '../../text/normalized.ts';

/** The longest name that file systems take. */
const MAX_BYTES = 255;
/** Control characters, and those that change the order in which text is shown (Unicode's bidirectional controls). */
const UNSHOWN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/gu;
/** No file name on Windows may hold these; none needs them elsewhere. */
const RESERVED = /[<>:"|?*]/g;

/** The last part of a path in either style, without what could hide or redirect it. Undefined: nothing is left. */
export function cleanFileName(given: string | undefined): string | undefined {
  const base = given?.split(/[/\\]/).at(-1) ?? '';
  const shown = normalized(base, 'NFC').replace(UNSHOWN, '').replace(RESERVED, '_').trim();
  const name = shorten(shown).replace(/(?<![. ])[. ]+$/, '');
  return name === '' ? undefined : name;
}

/** Cuts between characters, and keeps the extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  let kept = '';
  for (const character of name.slice(0, -extension.length || undefined)) {
    if (Buffer.byteLength(kept + character + extension) > MAX_BYTES) break;
    kept += character;
  }
  return kept + extension;
}
