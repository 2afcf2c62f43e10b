/** Values that the name in front of them gives away: `password=x`, `"client_secret": "x"`, `Authorization: Basic x`, `--api-key x`. One pass, left to right. */
import { isSecretName } from './secret-name.ts';

/** Names are as long as this, and looked at no further. */
const NAME = /[A-Za-z][A-Za-z0-9_.-]{1,99}/g;
const HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i;
const SPOKEN = /^(?:pass(?:word|phrase|code|wd)|pin|otp|secret|token|api key)$/i;
const SCHEME = /(?:Basic|Bearer|Digest|Negotiate|Token|AWS4-HMAC-SHA256)\s{1,4}/iy;
/** Quotation marks and backslashes, as many as JSON inside JSON inside a log line has. */
const BETWEEN = /[\\"']{0,20}\s{0,8}(?::|=>?)\s{0,8}/y;
const SAID = / (?:is|was|of) /y;
const QUOTE = /(\\{0,15})(["'])/y;
const BARE = /[^\s"'\\,;&}\])]+/y;
const WORD = /\S+/y;
/** What stands behind `the password is`, and is none. */
const INNOCENT =
  /^(?:a|an|the|no|not|now|too|wrong|invalid|missing|required|expired|unknown|empty|refused|revoked|shown|kept|set|used|null|true|false|undefined|\*\*\*)[.,;:]?$/i;

export function replaceNamedValues(text: string, mark: (secret: string) => string): string {
  let clean = '';
  let at = 0;
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const [name] = found;
    const end = found.index + name.length;
    const value = isSecretName(name) ? findValue(text, name, found.index, end) : undefined;
    if (value === undefined || isInnocent(name, text.slice(value.from, value.to))) continue;
    clean += text.slice(at, value.from) + mark(text.slice(value.from, value.to));
    at = value.to;
    NAME.lastIndex = at;
  }
  return clean + text.slice(at);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function findValue(text: string, name: string, start: number, end: number): Range | undefined {
  const behind = endOf(BETWEEN, text, end);
  if (behind !== undefined) return HEADER.test(name) ? headerValue(text, behind) : valueAt(text, behind);
  if (text[start - 1] === '-' && text[end] === ' ') return match(WORD, text, end + 1);
  if (!SPOKEN.test(name)) return undefined;
  const said = endOf(SAID, text, end);
  if (said !== undefined) return valueAt(text, said);
  // A netrc file has such lines; a word alone would be part of a sentence.
  const next = text[end] === ' ' ? match(WORD, text, end + 1) : undefined;
  return next !== undefined && /\d/.test(text.slice(next.from, next.to)) ? next : undefined;
}

/** A header without quotation marks around it holds one secret to its end, with blanks and quotation marks in it. */
function headerValue(text: string, from: number): Range | undefined {
  if (endOf(QUOTE, text, from) !== undefined) return valueAt(text, from);
  const line = text.indexOf('\n', from);
  return { from, to: line < 0 ? text.length : line };
}

function valueAt(text: string, from: number): Range | undefined {
  QUOTE.lastIndex = from;
  const quote = QUOTE.exec(text);
  if (quote !== null) return quotedValue(text, from + quote[0].length, quote[0]);
  const bare = match(BARE, text, endOf(SCHEME, text, from) ?? from);
  return bare && { from, to: bare.to };
}

/** The value ends at the same quotation mark behind as many backslashes, and never goes over the end of a line. */
function quotedValue(text: string, from: number, quote: string): Range | undefined {
  const line = text.indexOf('\n', from);
  const last = line < 0 ? text.length : line;
  let to = text.indexOf(quote, from);
  while (to > from && to < last && quote.length === 1 && text[to - 1] === '\\') to = text.indexOf(quote, to + 1);
  const end = to < 0 || to > last ? last : to;
  return end > from ? { from, to: end } : undefined;
}

/** Tokens of a model are counted: `prompt_tokens=120`. */
function isInnocent(name: string, value: string): boolean {
  return INNOCENT.test(value) || value.startsWith('[redacted') || (/tokens?$/i.test(name) && /^[\d.]+$/.test(value));
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  return match(pattern, text, from)?.to;
}

function match(pattern: RegExp, text: string, from: number): Range | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? { from, to: pattern.lastIndex } : undefined;
}
