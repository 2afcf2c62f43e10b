/**
 * The tokens of a text, as hashes of 32 bits: words, and words that `.`, `-` and `:` join, whole, between colons, and behind each dot of a name. So
 * `www.example.com:443` is found as itself, by `www.example.com`, by `example.com` and by each word. Upper and lower case are the same.
 */

const OTHER = 0;
const WORD = 1;
const JOINER = 2;
/** A character that is a word by itself: scripts without spaces. */
const IDEOGRAPH = 3;

const DOT = 0x2e;
const COLON = 0x3a;

const KIND_OF_ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z0-9_]/.test(character)) return WORD;
  return /[.:-]/.test(character) ? JOINER : OTHER;
});

function kindOf(code: number): number {
  if (code < 128) return KIND_OF_ASCII[code] ?? OTHER;
  if (code < 0xc0 || code === 0xd7 || code === 0xf7 || code === 0xfffd) return OTHER;
  if (code >= 0x2000 && code <= 0x2bff) return OTHER;
  if (code >= 0x3000 && code <= 0x3004) return OTHER;
  if ((code >= 0x3005 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af) || (code >= 0xf900 && code <= 0xfaff))
    return IDEOGRAPH;
  return WORD;
}

export function isWordCharacter(code: number): boolean {
  return kindOf(code) === WORD;
}

const SEED = 0x811c9dc5;

/** FNV-1a over the characters, in lower case where they are ASCII. */
function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ (code >= 65 && code <= 90 ? code | 32 : code), 0x01000193);
}

export function hashOf(text: string): number {
  let hash = SEED;
  for (let i = 0; i < text.length; i++) hash = mixed(hash, text.charCodeAt(i));
  return hash >>> 0;
}

/** Fields whose values are tokens as a whole. */
export const FILTERED_FIELDS = ['host', 'app', 'fromhost_ip'] as const;

/** A value of a field that is looked for as a whole. */
export function fieldHash(field: string, value: string): number {
  return hashOf(`${field}\u0000${value.toLowerCase()}`);
}

/** Calls `take` for each token, for some of them more than once. */
export function scanTokens(given: string, take: (hash: number) => void): void {
  const text = isAscii(given) ? given : given.toLowerCase();
  const { length } = text;
  for (let at = 0; at < length; ) {
    const kind = kindOf(text.charCodeAt(at));
    if (kind === WORD) at = scanRun(text, at, take);
    else {
      if (kind === IDEOGRAPH) take(hashOf(text[at] ?? ''));
      at += 1;
    }
  }
}

/** Words that are joined, from the first on. Returns where they end. */
function scanRun(text: string, begin: number, take: (hash: number) => void): number {
  const { length } = text;
  let [run, piece, word] = [SEED, SEED, SEED];
  let [nOfPiece, nPieces] = [1, 1];
  let pieceBegin = begin;
  let hasDot = false;
  let at = begin;
  for (;;) {
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (kindOf(code) !== WORD) break;
      run = mixed(run, code);
      piece = mixed(piece, code);
      word = mixed(word, code);
    }
    take(word >>> 0);
    const next = behindJoiner(text, at);
    const joiner = next === 0 ? 0 : text.charCodeAt(at);
    if (joiner === COLON || next === 0) {
      if (nOfPiece > 1) take(piece >>> 0);
      if (hasDot) takeSuffixes(text, pieceBegin, at, take);
    }
    if (next === 0) break;
    for (; at < next; at++) {
      run = mixed(run, text.charCodeAt(at));
      piece = mixed(piece, text.charCodeAt(at));
    }
    word = SEED;
    nOfPiece += 1;
    if (joiner === DOT) hasDot = true;
    if (joiner === COLON) {
      [piece, nOfPiece, pieceBegin, hasDot] = [SEED, 1, next, false];
      nPieces += 1;
    }
  }
  if (nPieces > 1) take(run >>> 0);
  return at;
}

/** Returns where the next word begins; 0: none is joined. Two colons join as well, as in addresses of IPv6. */
function behindJoiner(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (at >= text.length || kindOf(code) !== JOINER) return 0;
  const next = code === COLON && text.charCodeAt(at + 1) === COLON ? at + 2 : at + 1;
  return next < text.length && kindOf(text.charCodeAt(next)) === WORD ? next : 0;
}

const MOST_SUFFIXES = 8;
const MOST_SUFFIX = 256;

/** `example.com` of `www.example.com`; an address of IPv4 has none. */
function takeSuffixes(text: string, begin: number, end: number, take: (hash: number) => void): void {
  const piece = text.slice(begin, end);
  if (!/[^\d.]/.test(piece)) return;
  let dot = piece.lastIndexOf('.');
  for (let n = 0; n < MOST_SUFFIXES && dot >= 0 && piece.length - dot <= MOST_SUFFIX; n++) {
    take(hashOf(piece.slice(dot + 1)));
    dot = dot === 0 ? -1 : piece.lastIndexOf('.', dot - 1);
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** Whether a text is one token: what may be looked for as a whole. */
export function isOneToken(text: string): boolean {
  if (text === '' || kindOf(text.charCodeAt(0)) !== WORD) return false;
  return scanRun(text, 0, () => undefined) === text.length;
}

/** Hashes of the single words of a text. */
export function wordsOf(text: string): { text: string; hash: number }[] {
  const words: { text: string; hash: number }[] = [];
  const lower = text.toLowerCase();
  for (let at = 0; at < lower.length; at++) {
    const kind = kindOf(lower.charCodeAt(at));
    const begin = at;
    if (kind === WORD) while (at + 1 < lower.length && kindOf(lower.charCodeAt(at + 1)) === WORD) at++;
    if (kind === WORD || kind === IDEOGRAPH) {
      const word = lower.slice(begin, at + 1);
      words.push({ text: word, hash: hashOf(word) });
    }
  }
  return words;
}

export function hasToken(text: string, hash: number): boolean {
  let isThere = false;
  scanTokens(text, (found) => {
    if (found === hash) isThere = true;
  });
  return isThere;
}
