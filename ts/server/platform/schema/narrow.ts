/**
 * A refused value without most of its members. Describing a fault asks each keyword of the schema about each member and remembers every answer,
 * which takes a hundred times as long as the compiled check of the same value: only few members are ever described.
 */
import type { SchemaNode } from './accepted.ts';

interface Narrowed {
  readonly value: unknown;
  /** Members and items that are left, but for those that the schema names. */
  readonly size: number;
  /** Says where the value of a JSON pointer lies in the whole: arrays have lost the items before those that are left. */
  locate(pointer: string): string;
}

/** A value of so many members is described as it came. */
export const FEW_MEMBERS = 256;
/** Deeper values are not cut. It is far below FEW_MEMBERS, so that a half with all that leads to it is smaller than the whole. */
const MOST_DEPTH = 64;
/** Arrays seem as long as they were, up to here, since schemas want a least number of items. */
const LEAST_LENGTH = 64;

/** Whether as few members are in it as may be described. It looks at no more of them. */
export function hasFewMembers(whole: unknown): boolean {
  const waiting = [whole];
  for (let n = 0; waiting.length > 0; ) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    n += Array.isArray(value) ? value.length : Object.keys(value).length;
    if (n > FEW_MEMBERS) return false;
    waiting.push(...Object.values(value));
  }
  return true;
}

/**
 * Takes the first members, twice as many each time, until they are refused, and halves those until few are left, or until both halves are fine, as
 * where there are too many. Members of the given names stay, since a schema may require them.
 */
export function narrow(whole: unknown, names: ReadonlySet<string>, isRefused: (value: unknown) => boolean): Narrowed {
  const first = (n: number, of?: Narrowed): Narrowed => new Slice(names, 0, n, of).of(of === undefined ? whole : of.value);
  let nTaken = FEW_MEMBERS;
  let narrowed = first(nTaken);
  while (narrowed.size === nTaken && !isRefused(narrowed.value)) {
    nTaken *= 2;
    narrowed = first(nTaken);
  }
  while (narrowed.size > FEW_MEMBERS) {
    const middle = Math.ceil(narrowed.size / 2);
    const before = first(middle, narrowed);
    const half = isRefused(before.value) ? before : new Slice(names, middle, Infinity, narrowed).of(narrowed.value);
    if (half !== before && !isRefused(half.value)) break;
    narrowed = half;
  }
  return narrowed;
}

/** Copies the members from one number to another, in the order of the text, with all that they lie in. */
class Slice {
  readonly #names: ReadonlySet<string>;
  readonly #from: number;
  readonly #to: number;
  readonly #before: Narrowed | undefined;
  /** Items that a copy lacks before its first one. */
  readonly #nLost = new Map<unknown, number>();
  #at = 0;
  #size = 0;

  constructor(names: ReadonlySet<string>, from: number, to: number, before?: Narrowed) {
    this.#names = names;
    this.#from = from;
    this.#to = to;
    this.#before = before;
  }

  of(whole: unknown): Narrowed {
    const value = this.#copy(whole, 0);
    const locate = (pointer: string): string => {
      const there = this.#locate(value, pointer);
      return this.#before?.locate(there) ?? there;
    };
    return { value, size: this.#size, locate };
  }

  #copy(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null || depth === MOST_DEPTH) return value;
    return Array.isArray(value) ? this.#copyItems(value, depth) : this.#copyMembers(value, depth);
  }

  #copyItems(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = [];
    for (let index = 0; index < items.length && this.#at < this.#to; index++) {
      const item = index in items ? this.#take(items[index], depth) : undefined;
      if (item === undefined) continue;
      if (kept.length === 0) this.#nLost.set(kept, index);
      kept.push(item.value);
    }
    kept.length = Math.max(kept.length, Math.min(items.length, LEAST_LENGTH));
    return kept;
  }

  #copyMembers(members: object, depth: number): object {
    const kept: [string, unknown][] = [];
    for (const name of Object.keys(members)) {
      const value = (members as Record<string, unknown>)[name];
      const isNamed = this.#names.has(name);
      const member = isNamed ? { value: this.#copy(value, depth + 1) } : this.#at < this.#to && this.#take(value, depth);
      if (member) kept.push([name, member.value]);
    }
    return Object.fromEntries(kept);
  }

  /** Undefined: neither it nor anything in it has one of the numbers. */
  #take(value: unknown, depth: number): { value: unknown } | undefined {
    this.#at++;
    const size = this.#size;
    const copy = this.#copy(value, depth + 1);
    if (this.#at <= this.#from) {
      this.#size = size;
      return undefined;
    }
    this.#size++;
    return { value: copy };
  }

  #locate(root: unknown, pointer: string): string {
    let value = root;
    const tokens = pointer.split('/').map((token, i) => {
      if (i === 0) return token;
      const nLost = this.#nLost.get(value);
      value = (value as Record<string, unknown> | undefined)?.[token.replaceAll('~1', '/').replaceAll('~0', '~')];
      return nLost === undefined ? token : String(Number(token) + nLost);
    });
    return tokens.join('/');
  }
}

/** Keywords by which a member's neighbours decide whether it is taken: a part of such a value says nothing about the whole. */
const ABOUT_NEIGHBOURS = [
  'additionalItems contains dependencies dependentRequired dependentSchemas else if minContains not oneOf prefixItems then unevaluatedItems',
  'unevaluatedProperties uniqueItems',
].flatMap((line) => line.split(' '));
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** Names of the members that a schema knows; undefined: it has keywords by which parts of a value cannot be judged. */
export function memberNames(schema: SchemaNode): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const waiting: unknown[] = [schema];
  const seen = new Set<unknown>();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    if (ABOUT_NEIGHBOURS.some((keyword) => Object.hasOwn(node, keyword)) || needsUnnamed(node as SchemaNode)) return undefined;
    for (const [key, below] of Object.entries(node)) {
      if (key === 'properties') for (const name of Object.keys(below as object)) names.add(name);
      if (key === 'required' && Array.isArray(below)) for (const name of below) names.add(String(name));
      if (key !== 'enum' && key !== 'const') waiting.push(...(MAPS.has(key) ? Object.values(below as object) : [below]));
    }
  }
  return names;
}

/** A part keeps all members that the schema names, and of the others few or none. */
function needsUnnamed({ minProperties, additionalProperties }: SchemaNode): boolean {
  return minProperties !== undefined && additionalProperties !== false;
}
