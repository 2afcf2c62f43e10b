/** Values of a Sigma rule: what a field has to be, with modifiers. */
import { setFlagsFromString } from 'node:v8';
import { AddressList } from '../../../platform/network/address-list.ts';

/** Part of the rule cannot be done here; none of it is then. */
export class Unsupported extends Error {}
/** The text is no rule. */
export class InvalidRule extends Error {}

/** Undefined: the line has no such field. */
type ValueTest = (value: string | undefined) => boolean;

const MOST_PATTERN = 1_000;
const MODIFIERS = new Set([
  'contains',
  'startswith',
  'endswith',
  'all',
  're',
  'cidr',
  'exists',
  'lt',
  'lte',
  'gt',
  'gte',
  'cased',
]);

// The linear engine of V8: a pattern of a stranger may not hold up all others. It is asked for by the flag of each pattern.
setFlagsFromString('--enable-experimental-regexp-engine');

/** One field of a selection, or `undefined` as its name for keywords. `key`: `FIELD|MODIFIER|...`. */
export function fieldTest(modifiers: readonly string[], given: unknown): ValueTest {
  const unknown = modifiers.find((name) => !MODIFIERS.has(name));
  if (unknown !== undefined) throw new Unsupported(`the modifier ${unknown}`);
  const isAll = modifiers.includes('all');
  const kinds = modifiers.filter((name) => name !== 'all' && name !== 'cased');
  if (kinds.length > 1) throw new Unsupported(`the modifiers ${kinds.join(' and ')} together`);
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  if (values.length === 0) throw new InvalidRule('a list of values is empty');
  const tests = values.map((value) => oneTest(kinds[0], value, modifiers.includes('cased')));
  if (isAll) return (value) => tests.every((test) => test(value));
  return (value) => tests.some((test) => test(value));
}

function oneTest(kind: string | undefined, given: unknown, isCased: boolean): ValueTest {
  if (kind === 'exists') {
    if (typeof given !== 'boolean') throw new InvalidRule('`exists` takes true or false');
    return (value) => (value !== undefined) === given;
  }
  if (given === null) return (value) => value === undefined || value === '';
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean')
    throw new InvalidRule('a value is neither text, number nor null');
  const text = String(given);
  if (kind === 'cidr') return cidrTest(text);
  if (kind === 're') return patternTest(text);
  if (kind === 'lt' || kind === 'lte' || kind === 'gt' || kind === 'gte') return numberTest(kind, text);
  return textTest(kind as 'contains' | 'startswith' | 'endswith' | undefined, text, isCased);
}

function cidrTest(text: string): ValueTest {
  try {
    const networks = new AddressList([text]);
    return (value) => value !== undefined && networks.has(value);
  } catch {
    throw new InvalidRule(`${text} is no network`);
  }
}

function patternTest(source: string): ValueTest {
  if (source.length > MOST_PATTERN) throw new Unsupported(`a pattern above ${MOST_PATTERN} characters`);
  try {
    new RegExp(source);
  } catch (error) {
    if (/^\(\?[a-z]+\)/.test(source)) throw new Unsupported('flags within a pattern');
    throw new InvalidRule(`a pattern is none: ${(error as Error).message}`);
  }
  try {
    const pattern = new RegExp(source, 'l');
    return (value) => value !== undefined && pattern.test(value);
  } catch {
    throw new Unsupported('a pattern that cannot be matched in linear time (looking around, references back, large counts)');
  }
}

function numberTest(kind: 'lt' | 'lte' | 'gt' | 'gte', text: string): ValueTest {
  const bound = Number(text);
  if (text.trim() === '' || !Number.isFinite(bound)) throw new InvalidRule(`\`${kind}\` takes a number`);
  return (value) => {
    if (value === undefined || value.trim() === '') return false;
    const number = Number(value);
    if (kind === 'lt') return number < bound;
    if (kind === 'lte') return number <= bound;
    return kind === 'gt' ? number > bound : number >= bound;
  };
}

const ANY_TEXT = Symbol('*');
const ANY_CHARACTER = Symbol('?');
type Piece = string | typeof ANY_TEXT | typeof ANY_CHARACTER;

/** Upper and lower case are the same unless `cased` says otherwise. */
function textTest(kind: 'contains' | 'startswith' | 'endswith' | undefined, text: string, isCased: boolean): ValueTest {
  if (text.length > MOST_PATTERN) throw new Unsupported(`a value above ${MOST_PATTERN} characters`);
  const folded = (value: string): string => (isCased ? value : value.toLowerCase());
  const pieces = piecesOf(folded(text));
  if (pieces.every((piece) => typeof piece === 'string')) {
    const plain = pieces.join('');
    if (kind === 'contains') return (value) => value !== undefined && folded(value).includes(plain);
    if (kind === 'startswith') return (value) => value !== undefined && folded(value).startsWith(plain);
    if (kind === 'endswith') return (value) => value !== undefined && folded(value).endsWith(plain);
    return (value) => value !== undefined && folded(value) === plain;
  }
  const body = pieces.map((piece) => (typeof piece === 'string' ? escaped(piece) : piece === ANY_TEXT ? '.*' : '.')).join('');
  const begin = kind === 'contains' || kind === 'endswith' ? '' : '^';
  const end = kind === 'contains' || kind === 'startswith' ? '' : '$';
  const pattern = new RegExp(`${begin}${body}${end}`, 'ls');
  return (value) => value !== undefined && pattern.test(folded(value));
}

/** `*` and `?` stand for text and a character, unless a backslash stands before them. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    const next = text[i + 1];
    if (character === '\\' && (next === '*' || next === '?' || next === '\\')) {
      plain += next;
      i += 1;
    } else if (character === '*' || character === '?') {
      pieces.push(plain, character === '*' ? ANY_TEXT : ANY_CHARACTER);
      plain = '';
    } else plain += character;
  }
  pieces.push(plain);
  return pieces.filter((piece) => piece !== '');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
