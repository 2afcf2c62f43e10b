/** The language of searches: words, `"phrases"`, `-without`, `prefix*` and `field:value`. All that is said must hold. */
import { type LogLine, searchedText } from './log-line.ts';
import { fieldHash, hashOf, hasToken, isOneToken, isWordCharacter, wordsOf } from './tokens.ts';

export class QueryError extends Error {
  /** Where in the text, from 0. */
  readonly position: number;

  constructor(position: number, sentence: string) {
    super(sentence);
    this.position = position;
  }
}

/** A part of a query: what is looked for, where, and whether it must not be there. */
interface Term {
  field: Field | undefined;
  kind: 'word' | 'phrase' | 'prefix';
  /** The text in lower case. */
  text: string;
  isWithout: boolean;
}

const FIELDS = ['app', 'class', 'facility', 'fromhost_ip', 'host', 'ip', 'msg', 'severity', 'uuid'] as const;
type Field = (typeof FIELDS)[number];

const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;
const MOST_TERMS = 32;
const OPERATORS = /^(?:AND|OR|NOT)$/;

/** Throws QueryError. */
export function parseQuery(text: string): Term[] {
  const terms: Term[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && /\s/.test(text[at] ?? '')) at++;
    if (at >= text.length) return terms;
    if (terms.length === MOST_TERMS) throw new QueryError(at, `there are more than ${MOST_TERMS} words`);
    const { term, end } = readTerm(text, at);
    terms.push(term);
    at = end;
  }
}

function readTerm(text: string, begin: number): { term: Term; end: number } {
  const isWithout = text[begin] === '-';
  let at = isWithout ? begin + 1 : begin;
  const [, name] = /^([a-z_]{1,32}):/.exec(text.slice(at, at + 40)) ?? [];
  let field: Field | undefined;
  if (name !== undefined) {
    field = FIELDS.find((each) => each === name);
    if (field === undefined)
      throw new QueryError(at, `there is no field ${name}; fields are ${FIELDS.join(', ')}, and quotes look for the text itself`);
    at += name.length + 1;
  }
  const { value, end, isQuoted } = text[at] === '"' ? readQuoted(text, at) : readBare(text, at);
  return { term: termOf({ field, value, isQuoted, isWithout, at }), end };
}

function readQuoted(text: string, begin: number) {
  let value = '';
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === '\\' && at + 1 < text.length) value += text[++at] ?? '';
    else if (text[at] === '"') return { value, end: requireSpace(text, at + 1), isQuoted: true };
    else value += text[at];
  }
  throw new QueryError(begin, 'a quote is opened and not closed');
}

function requireSpace(text: string, at: number): number {
  if (at < text.length && !/\s/.test(text[at] ?? '')) throw new QueryError(at, 'a space must follow the closing quote');
  return at;
}

function readBare(text: string, begin: number) {
  let end = begin;
  while (end < text.length && !/\s/.test(text[end] ?? '')) end++;
  const value = text.slice(begin, end);
  const quote = value.indexOf('"');
  if (quote >= 0) throw new QueryError(begin + quote, 'a quote begins inside of a word');
  return { value, end, isQuoted: false };
}

interface Read {
  field: Field | undefined;
  value: string;
  isQuoted: boolean;
  isWithout: boolean;
  at: number;
}

function termOf({ field, value, isQuoted, isWithout, at }: Read): Term {
  const lower = value.toLowerCase();
  if (field !== undefined && field !== 'msg') return { field, isWithout, ...fieldValue(field, lower, isQuoted, at) };
  if (lower.trim() === '') throw new QueryError(at, 'a word is missing here');
  if (isQuoted) return { field, isWithout, kind: 'phrase', text: requireWord(lower, at) };
  if (OPERATORS.test(value))
    throw new QueryError(at, `${value} is no word of this language: all words must be there, - stands before what must not`);
  const star = lower.indexOf('*');
  if (star < 0) return { field, isWithout, kind: isOneToken(lower) ? 'word' : 'phrase', text: requireWord(lower, at) };
  if (star < lower.length - 1) throw new QueryError(at + star, '* stands at the end of a word only');
  return { field, isWithout, kind: 'prefix', text: requireWord(lower.slice(0, -1), at) };
}

function requireWord(text: string, at: number): string {
  if (wordsOf(text).length === 0) throw new QueryError(at, 'there is no letter and no digit to look for');
  return text;
}

function fieldValue(field: Field, value: string, isQuoted: boolean, at: number): Pick<Term, 'kind' | 'text'> {
  if (value === '' && !isQuoted) throw new QueryError(at, `${field}: needs a value`);
  if (field === 'severity' || field === 'facility') {
    const named = SEVERITIES.indexOf(value as (typeof SEVERITIES)[number]);
    const number = field === 'severity' && named >= 0 ? named : /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN;
    const most = field === 'severity' ? 7 : 127;
    if (!(number <= most))
      throw new QueryError(
        at,
        `${field}: takes a number from 0 to ${most}${field === 'severity' ? ` or ${SEVERITIES.join(', ')}` : ''}`,
      );
    return { kind: 'word', text: String(number) };
  }
  if (isQuoted || !value.includes('*')) return { kind: 'word', text: value };
  if (value.indexOf('*') < value.length - 1) throw new QueryError(at + value.indexOf('*'), '* stands at the end of a value only');
  return { kind: 'prefix', text: value.slice(0, -1) };
}

/** Filters that stand beside a query. */
export interface Filters {
  severity?: number | undefined;
  host?: string | undefined;
  app?: string | undefined;
}

export function filterTerms({ severity, host, app }: Filters): Term[] {
  const given = { severity: severity?.toString(), host, app };
  return (['severity', 'host', 'app'] as const).flatMap((field) => {
    const text = given[field]?.toLowerCase();
    return text === undefined ? [] : [{ field, kind: 'word' as const, text, isWithout: false }];
  });
}

/** A matcher is what a query asks of frames and of lines. */
export interface Matcher {
  /** Tokens that a frame with a match holds, all of them. */
  tokens: readonly number[];
  /** A text in lower case that every line with a match has as it was written; undefined: nothing is sure. */
  literal: string | undefined;
  /** Bits of the severities that may match. */
  severities: number;
  /** Its tokens and severities say all that it asks: whatever has these matches. */
  isExact: boolean;
  matches(line: LogLine): boolean;
}

const ALL_SEVERITIES = 0xff;
/** Stands where something was masked, and not in the file. */
const MASK_WORD = 'redacted';

export function matcherOf(terms: readonly Term[]): Matcher {
  const wanted = terms.filter(({ isWithout }) => !isWithout);
  const tests = terms.map(testOf);
  const literals = wanted.filter(({ field }) => field === undefined || field === 'msg').flatMap(literalsOf);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what ASCII is
  const usable = literals.filter((text) => /^[\x00-\x7f]+$/.test(text) && !MASK_WORD.includes(text));
  return {
    tokens: [...new Set(wanted.flatMap(tokensOf))],
    literal: usable.sort((a, b) => b.length - a.length)[0],
    severities: wanted.reduce(
      (bits, term) => bits & (term.field === 'severity' ? severityBits(term) : ALL_SEVERITIES),
      ALL_SEVERITIES,
    ),
    isExact: terms.every(isOfTokens),
    matches: (line) => tests.every((test) => test(line)),
  };
}

function isOfTokens({ field, kind, isWithout }: Term): boolean {
  const isField = field === 'severity' || field === 'host' || field === 'app' || field === 'ip' || field === 'fromhost_ip';
  return !isWithout && kind === 'word' && (field === undefined || isField);
}

function severityBits({ text }: Term): number {
  return (1 << (Number(text) + 1)) - 1;
}

function tokensOf({ field, kind, text }: Term): number[] {
  if (field === 'severity' || field === 'facility' || field === 'class') return [];
  // A uuid is a word of its line.
  if (field === 'uuid') return kind === 'word' ? [hashOf(text)] : [];
  if (field !== undefined && field !== 'msg') return kind === 'word' ? [fieldHash(columnOf(field), text)] : [];
  if (kind === 'word') return [hashOf(text)];
  const words = wordsOf(text);
  // The last word of a prefix goes on, unless something stands behind it.
  if (kind === 'prefix' && isWordCharacter(text.charCodeAt(text.length - 1))) words.pop();
  return words.map(({ hash }) => hash);
}

function literalsOf(term: Term): string[] {
  if (term.kind === 'phrase') return wordsOf(term.text).map(({ text }) => text);
  return term.kind === 'prefix' && !isOneToken(term.text) ? wordsOf(term.text).map(({ text }) => text) : [term.text];
}

function columnOf(field: Field): 'app' | 'class' | 'fromhost_ip' | 'host' | 'uuid' | 'msg' {
  return field === 'ip' || field === 'severity' || field === 'facility' ? 'fromhost_ip' : field;
}

function testOf(term: Term): (line: LogLine) => boolean {
  const test = positiveTest(term);
  return term.isWithout ? (line) => !test(line) : test;
}

function positiveTest(term: Term): (line: LogLine) => boolean {
  const { field, kind, text } = term;
  if (field === 'severity') return ({ severity }) => severity <= Number(text);
  if (field === 'facility') return ({ facility }) => facility === Number(text);
  if (field !== undefined && field !== 'msg') {
    const column = columnOf(field);
    return kind === 'prefix'
      ? (line) => line[column].toLowerCase().startsWith(text)
      : (line) => line[column].toLowerCase() === text;
  }
  const searched = field === 'msg' ? ({ msg }: LogLine) => msg : searchedText;
  const hash = hashOf(text);
  if (kind === 'word')
    return (line) => {
      const lower = searched(line).toLowerCase();
      return lower.includes(text) && hasToken(lower, hash);
    };
  return (line) => hasBounded(searched(line).toLowerCase(), text, kind === 'phrase');
}

/** Whether the text stands there from the beginning of a word on, and to the end of one. */
function hasBounded(lower: string, text: string, isEnded: boolean): boolean {
  const [first, last] = [text.charCodeAt(0), text.charCodeAt(text.length - 1)];
  for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + 1)) {
    const end = at + text.length;
    const isBegun = at === 0 || !isWordCharacter(first) || !isWordCharacter(lower.charCodeAt(at - 1));
    const isWhole = !isEnded || end === lower.length || !isWordCharacter(last) || !isWordCharacter(lower.charCodeAt(end));
    if (isBegun && isWhole) return true;
  }
  return false;
}
