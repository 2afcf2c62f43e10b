/**
 * Arguments of calls whose strings stand between tags, without quotation marks: Qwen3-Coder, GLM and others write so. llama.cpp lets any text stand
 * there; here are the grammars that take its place, and what cannot be said with them. No such string holds `</`, which ends it.
 */
import type { Members } from '../members.ts';
import { isObject } from './forms.ts';
import type { PatternNode, Range } from './pattern-tree.ts';
import { patternOf } from './scalars.ts';
import type { Unfollowed } from './schema-follower.ts';

/** An open one is what the string begins with. */
interface RawString {
  gbnf: string;
  isOpen: boolean;
}

interface RawArguments {
  strings: Record<string, RawString>;
  unfollowed: Unfollowed[];
}

/** The member of a followed schema that has the strings: native/llama/grammar/raw_strings.h. */
export const rawStringsMember = 'x-strings';

/** @param schema Of a tool's arguments, in the words that the engine follows. */
export function rawArguments(schema: Members): RawArguments {
  const { type, properties, $defs } = schema;
  const raw: RawArguments = { strings: {}, unfollowed: [] };
  if (type !== 'object') return { ...raw, unfollowed: [{ pointer: '#', keyword: Object.keys(schema)[0] ?? 'type' }] };
  for (const [name, node] of Object.entries(isObject(properties) ? properties : {})) {
    const string = rawString(partsOf(node, isObject($defs) ? $defs : {}));
    if (typeof string === 'object') raw.strings[name] = string;
    else if (string !== undefined) raw.unfollowed.push({ pointer: `#/properties/${pointerPart(name)}`, keyword: string });
  }
  return raw;
}

/** A value of no properties can be written in any notation. */
export function hasProperties({ type, properties }: Members): boolean {
  return type !== 'object' || (isObject(properties) && Object.keys(properties).length > 0);
}

function partsOf(node: unknown, definitions: Members): Members[] {
  if (!isObject(node)) return [];
  const { $ref, anyOf } = node;
  if (typeof $ref === 'string') return partsOf(definitions[$ref.replace('#/$defs/', '')], {});
  return Array.isArray(anyOf) ? anyOf.flatMap((each) => partsOf(each, definitions)) : [node];
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Undefined: nothing limits the string, or there is none. A keyword: it cannot be followed. */
function rawString(parts: readonly Members[]): RawString | string | undefined {
  const words: string[] = [];
  const forms: Members[] = [];
  const others: Members[] = [];
  for (const part of parts) {
    const values = valuesOf(part);
    words.push(...(values?.filter((value) => typeof value === 'string') ?? []));
    if (part['type'] === 'string') forms.push(part);
    else if (values === undefined ? part['type'] !== 'null' : values.some((value) => value !== null && typeof value !== 'string'))
      others.push(part);
  }
  if (words.length + forms.length === 0) return undefined;
  if (forms.some(isFree)) return others.every(isPlain) ? undefined : 'anyOf';
  // Where other values may stand, a text of theirs is not the string.
  if (others.length > 0) return 'anyOf';
  return joined(words, forms);
}

function joined(words: readonly string[], forms: readonly Members[]): RawString | string {
  const [form, ...more] = forms;
  if (form !== undefined && isOpen(form)) {
    if (words.length + more.length > 0) return 'minLength';
    return { gbnf: `[^<]{${form['minLength']}}`, isOpen: true };
  }
  const spoken = words.filter((word) => !word.includes('</'));
  const written = forms.map(writeForm);
  const fault = written.indexOf(undefined);
  if (fault !== -1) return Object.keys(forms[fault] ?? {}).find((keyword) => keyword !== 'type') ?? 'type';
  const options = [...spoken.map(literal), ...written];
  return options.length === 0 ? 'enum' : { gbnf: `(${options.join(' | ')})`, isOpen: false };
}

function valuesOf(part: Members): unknown[] | undefined {
  if ('const' in part) return [part['const']];
  return Array.isArray(part['enum']) ? part['enum'] : undefined;
}

/** Any string. */
function isFree(form: Members): boolean {
  return Object.keys(form).length === 1;
}

function isOpen({ pattern, minLength, maxLength }: Members): boolean {
  return pattern === undefined && maxLength === undefined && minLength !== undefined;
}

/** Whatever the model writes, it is read as a value that the schema allows. */
function isPlain(part: Members): boolean {
  return Object.entries(part).every(
    ([keyword, value]) => keyword === 'type' || (keyword === 'items' && isObject(value) && Object.keys(value).length === 0),
  );
}

function writeForm(form: Members): string | undefined {
  const { minLength: min = 0, maxLength: max } = form;
  const pattern = patternOf.get(form);
  if (pattern !== undefined) return writeRaw(pattern);
  return form['pattern'] === undefined && max !== undefined ? `[^<]{${min},${max}}` : undefined;
}

/** Undefined: one of its letters can only be `<`. */
function writeRaw(node: PatternNode): string | undefined {
  switch (node.kind) {
    case 'set':
      return writeSet(node.ranges);
    case 'sequence': {
      const parts = node.parts.map(writeRaw);
      return parts.includes(undefined) ? undefined : `(${['""', ...parts].join(' ')})`;
    }
    case 'choice': {
      const options = node.options.map(writeRaw).filter((option) => option !== undefined);
      return options.length === 0 ? undefined : `(${options.join(' | ')})`;
    }
    case 'repeat': {
      const of = node.max === 0 ? undefined : writeRaw(node.of);
      if (of === undefined) return node.min === 0 ? '""' : undefined;
      return `${of}{${node.min},${Number.isFinite(node.max) ? node.max : ''}}`;
    }
    default:
      return '""';
  }
}

const notWritten: readonly Range[] = [
  [0, 0],
  [0x3c, 0x3c],
  // UTF-8 holds no surrogates.
  [0xd800, 0xdfff],
];

function writeSet(ranges: readonly Range[]): string | undefined {
  let left: Range[] = [...ranges];
  for (const [low, high] of notWritten)
    left = left
      .flatMap(([begin, end]): Range[] => [
        [begin, Math.min(end, low - 1)],
        [Math.max(begin, high + 1), end],
      ])
      .filter(([begin, end]) => begin <= end);
  return left.length === 0 ? undefined : `[${left.map(([begin, end]) => `${code(begin)}-${code(end)}`).join('')}]`;
}

function code(letter: number): string {
  return `\\U${letter.toString(16).toUpperCase().padStart(8, '0')}`;
}

function literal(word: string): string {
  const escaped = word.toWellFormed().replace(/["\\\p{Cc}]/gu, (letter) => code(letter.codePointAt(0) as number));
  return `"${escaped}"`;
}
