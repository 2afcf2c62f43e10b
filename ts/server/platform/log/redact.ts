/** Masks secrets: in the fields of our own lines, and in any text that is shown, sent or indexed. Its time is linear in the text. */
import { NO_VALUE, SECRET_SUFFIX, SECRET_WORDS, SENTENCE_WORDS, TOKEN_KINDS } from './secret-kinds.ts';

const SECRET_NAME =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[_-]?key|password|(?:client[_-]?)?secret|(?:(?:id|access|refresh)[_-]?)?token|code[_-]?verifier|provider[_-]?key)$/i;
const MASK = '[redacted]';
const MAX_DEPTH = 4;

/** A copy that is safe to log: secrets masked, errors unfolded, depth bounded. */
export function redact(fields: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) safe[name] = SECRET_NAME.test(name) ? MASK : redactValue(value, depth);
  }
  return safe;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Error) return describeError(value, depth);
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redactValue(item, depth + 1));
  return redact(value as Record<string, unknown>, depth + 1);
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const cause = error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: redactValue(error.cause, depth + 1) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  return { name: error.name, ...code, message: redactText(error.message), stack: redactText(error.stack ?? ''), ...cause };
}

/** Begin and end of what is masked. */
type Span = readonly [begin: number, end: number];

/** The text itself where it holds no secret. */
export function redactText(text: string): string {
  const spans = secretSpans(text);
  for (let view = decodedOnce(text), nViews = 0; view !== undefined && nViews < MAX_VIEWS; nViews++) {
    const { text: decoded, places } = view;
    for (const [begin, end] of secretSpans(decoded)) spans.push([places[begin] ?? 0, places[end] ?? text.length]);
    view = decodedOnce(decoded, places);
  }
  if (spans.length === 0) return text;
  spans.sort((a, b) => a[0] - b[0]);
  let safe = '';
  let done = 0;
  for (const [begin, end] of spans) {
    // Of what lies in one span or touches it, the mask stands once.
    if (begin > done || done === 0) safe += text.slice(done, begin) + MASK;
    done = Math.max(done, end);
  }
  return safe + text.slice(done);
}

/** An escape of an escape of an escape is looked into. */
const MAX_VIEWS = 3;
const ESCAPE = /%[0-9a-f]{2}|#0[0-3][0-7]|(?<!\\)\\{1,16}u00[0-9a-f]{2}|&(?:quot|amp|apos|lt|gt|#34|#39);/gi;
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', apos: "'", lt: '<', gt: '>', '#34': '"', '#39': "'" };

interface View {
  text: string;
  /** Where each character of it stands in the text that it was made of, and where that ends. */
  places: number[];
}

/** Undefined: nothing is escaped, by URLs (%3D), by rsyslog (#012), in JSON (\u0022) or in HTML. */
function decodedOnce(text: string, before?: readonly number[]): View | undefined {
  let decoded = '';
  const places: number[] = [];
  let done = 0;
  const copy = (end: number): void => {
    decoded += text.slice(done, end);
    for (let i = done; i < end; i++) places.push(before?.[i] ?? i);
  };
  for (const { 0: escaped, index } of text.matchAll(ESCAPE)) {
    copy(index);
    decoded += characterOf(escaped);
    places.push(before?.[index] ?? index);
    done = index + escaped.length;
  }
  if (done === 0) return undefined;
  copy(text.length);
  places.push(before?.[text.length] ?? text.length);
  return { text: decoded, places };
}

function characterOf(escaped: string): string {
  if (escaped.startsWith('%')) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  if (escaped.startsWith('#')) return String.fromCharCode(Number.parseInt(escaped.slice(1), 8));
  if (escaped.startsWith('&')) return ENTITIES[escaped.slice(1, -1).toLowerCase()] ?? ' ';
  return String.fromCharCode(Number.parseInt(escaped.slice(-2), 16));
}

/** A text without any of these is looked at no further. */
const HINT =
  /pass|pwd|pw[ "'=:]|secret|token|cred|key|psk|verifier|assertion|signature|sig=|auth|cookie|identified|bearer|basic |:\/\/|\$[0-9a-z]{1,8}\$|curl|mysql/i;
const RUN = /[\w.-]{11,}/g;

function secretSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index } of text.matchAll(RUN)) {
    const length = tokenLength(text, index);
    if (length > 0) spans.push([index, index + length]);
  }
  if (text.length < MOST_KEY_LINE && KEY_LINE.test(text)) spans.push([0, text.length]);
  if (!HINT.test(text)) return spans;
  addNamed(text, spans);
  for (const pattern of PATTERNS)
    for (const { index, indices } of text.matchAll(pattern)) {
      const [begin, end] = indices?.[1] ?? [index, index];
      if (end > begin) spans.push([begin, end]);
    }
  return spans;
}

const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKEN_KINDS.map(([prefix, rest]) => `${prefix}${rest}`).join('|')})`, 'y');
/** A line of a key as PEM, which syslog may have as a message of its own. */
const KEY_LINE = /^\s?(?=[^\s]{0,60}[A-Z])(?=[^\s]{0,60}[a-z])[A-Za-z0-9+/]{60,76}={0,2}\s?$/;
const MOST_KEY_LINE = 84;

function tokenLength(text: string, at: number): number {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0].length ?? 0;
}

/** The first group of each is masked. */
const PATTERNS: readonly RegExp[] = [
  // User and password of a URL; a user alone, where it is long enough for a token.
  /:\/\/[^\s/:@"'<>]{0,128}:([^\s/"'<>]{1,256})@/dg,
  /:\/\/([^\s/:@"'<>]{16,256})@/dg,
  /\bBearer\s{1,3}(?!authentication\b|authorization\b|[a-z_]{2,20}=[^=\s])([\w.~+/=-]{8,})/dgi,
  /\bBasic (?=[A-Za-z+/]{0,200}[\d=])([A-Za-z0-9+/]{8,}={0,2})/dg,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----((?:(?!-----END)[\s\S])*)/dg,
  /(?<![\w$])(\$(?:[156y]|2[abxy]|argon2(?:id?|d)|scrypt|pbkdf2[\w-]{0,12})\$[^\s:"',]{8,})/dg,
  /\bcurl\b[^|;]{0,512}?\s(?:-u|--user)[ =]["']?[^\s:"']{1,64}:([^\s"']+)/dg,
  /\bsshpass -p ?["']?([^\s"']+)/dg,
  /\bmysql\w{0,10}\b[^|;]{0,256}? -p([^\s"']+)/dg,
];

const NAME = new RegExp(`(?:${SECRET_WORDS.join('|')})${SECRET_SUFFIX}{0,4}`, 'gi');
/** A separator stands between a name and its value. */
const SEPARATOR = /\\{0,8}["'`\]]?[ \t]{0,4}(?:=>|:=|[=:]{1,2})[ \t\r\n]{0,4}/y;
const END_OF_ELEMENT = />/y;
const BEFORE_QUOTE = /[ \t]{1,4}(?=\\{0,8}["'])/y;
const BEHIND_OPTION = /[ \t]{1,4}(?!-)/y;
const QUOTE = /\\{0,8}["'`]/y;
/** A password may hold nearly anything; these end it in what is logged. */
const END_OF_WORD = /[\s"'`&;,<>()[\]{}|]|\\[nrt"']|$/g;
const END_OF_HEADER = /["'`\r\n]|\\[nr"']|#012|$/g;
const SCHEME = /(?:Basic|Bearer|Digest|Token|Negotiate|NTLM|ApiKey|Api-Key|AWS4-HMAC-SHA256|Hawk)[ \t]{1,4}/iy;
const IN_SENTENCE = new RegExp(`${SENTENCE_WORDS}(?![\\w-])`, 'iy');
const NOTHING = new RegExp(`${NO_VALUE}(?![^\\s"',;&)}\\]])`, 'iy');
/** And nothing of a value behind them: secrets in base 64 begin with a digit as well. */
const FEW_DIGITS = /-?\d{1,8}(?:[./]\d{1,8})?%?(?=$|[\s"'`&;,<>()[\]{}|\\]|#0|[.:](?:\s|$))/y;

function addNamed(text: string, spans: Span[]): void {
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const span = valueBehind(text, found[0].toLowerCase(), found.index);
    if (span === undefined) continue;
    spans.push(span);
    NAME.lastIndex = Math.max(NAME.lastIndex, span[1]);
  }
}

/** Undefined: no value follows the name. */
function valueBehind(text: string, name: string, nameAt: number): Span | undefined {
  const nameEnd = nameAt + name.length;
  const behind = (pattern: RegExp): number | undefined => {
    pattern.lastIndex = nameEnd;
    return pattern.test(text) ? pattern.lastIndex : undefined;
  };
  let at = behind(SEPARATOR);
  const isSaid = at !== undefined;
  at ??= behind(BEFORE_QUOTE);
  if (at === undefined && isElement(text, nameAt)) at = behind(END_OF_ELEMENT);
  if (at === undefined && isOption(text, nameAt)) at = behind(BEHIND_OPTION);
  if (at === undefined) return undefined;
  const between = text.slice(nameEnd, at);
  const isSentence = isSaid && /: /.test(between) && !/["'`\]]/.test(between);
  if (isAt(NOTHING, text, at) || (isSentence && isAt(IN_SENTENCE, text, at))) return undefined;
  // The working folder of a command.
  if (name === 'pwd' && text[at] === '/') return undefined;
  // A count of tokens, or the number of a key.
  if (!name.startsWith('pass') && isAt(FEW_DIGITS, text, at)) return undefined;
  const span = valueAt(text, at, name, between);
  return span[1] > span[0] ? span : undefined;
}

function valueAt(text: string, at: number, name: string, between: string): Span {
  QUOTE.lastIndex = at;
  const quote = QUOTE.exec(text)?.[0];
  if (quote !== undefined) return [at + quote.length, closingQuote(text, quote, at + quote.length)];
  const isHeader = between.includes(':');
  if (name.startsWith('cookie')) return [at, endBy(isHeader ? END_OF_HEADER : END_OF_WORD, text, at)];
  if (!name.startsWith('authorization')) return [at, endBy(END_OF_WORD, text, at)];
  SCHEME.lastIndex = at;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  const begin = at + scheme.length;
  const isLong = isHeader && /^(?:digest|aws4|hawk)/i.test(scheme);
  return [begin, endBy(isLong ? END_OF_HEADER : END_OF_WORD, text, begin)];
}

/** A quote of the same depth of backslashes; a text that was cut before it is masked to its end. */
function closingQuote(text: string, quote: string, from: number): number {
  for (let end = text.indexOf(quote, from); end >= 0; end = text.indexOf(quote, end + 1)) if (text[end - 1] !== '\\') return end;
  return text.length;
}

function endBy(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.index ?? text.length;
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

const MOST_NAME = 64;

/** `<db:password>`: from the name back to the bracket. */
function isElement(text: string, nameAt: number): boolean {
  return /<[\w:.-]*$/.test(text.slice(Math.max(0, nameAt - MOST_NAME), nameAt));
}

/** `--db-password`. */
function isOption(text: string, nameAt: number): boolean {
  return /(?:^|\s)--?[\w-]*$/.test(text.slice(Math.max(0, nameAt - MOST_NAME), nameAt));
}
