/** Whether a value satisfies a schema: what may be only one of a few values is decided by trying them. */
import type { Members } from '../members.ts';
import { formats } from './formats.ts';
import { isObject } from './forms.ts';
import { matches } from './pattern.ts';
import type { Raw, SchemaDocument } from './schema-document.ts';

/** Steps of one schema; a client chooses how often parts of it are tried. */
const maxSteps = 100_000;

/** What a schema has that is not decided here. */
export class Undecided extends Error {
  readonly keyword: string;

  constructor(keyword: string) {
    super(`${keyword} is not decided`);
    this.keyword = keyword;
  }
}

export class Evaluator {
  readonly #document: SchemaDocument;
  #nSteps = 0;

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  /** Throws Undecided. */
  satisfies(value: unknown, schema: Raw, depth = 0): boolean {
    if (typeof schema === 'boolean') return schema;
    if (++this.#nSteps > maxSteps || depth > 100) throw new Undecided('enum');
    for (const keyword of ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'])
      if (Object.hasOwn(schema, keyword)) throw new Undecided(keyword);
    const $ref = schema['$ref'];
    if ($ref !== undefined) {
      const target = this.#document.target(schema);
      if (target === undefined) throw new Undecided('$ref');
      if (!this.satisfies(value, target, depth + 1)) return false;
    }
    const each = (sub: unknown, part = value) => this.satisfies(part, raw(sub), depth + 1);
    return (
      isOfType(value, schema['type']) &&
      this.#isListed(value, schema) &&
      this.#combines(schema, each) &&
      (typeof value !== 'number' || isInBounds(value, schema)) &&
      (typeof value !== 'string' || this.#isText(value, schema)) &&
      (!Array.isArray(value) || isArray(value, schema, each)) &&
      (!isObject(value) || this.#isObject(value, schema, each))
    );
  }

  #isListed(value: unknown, schema: Members): boolean {
    this.#nSteps += Array.isArray(schema['enum']) ? schema['enum'].length : 0;
    if (Object.hasOwn(schema, 'const') && !isSame(value, schema['const'])) return false;
    return !Array.isArray(schema['enum']) || schema['enum'].some((each) => isSame(value, each));
  }

  #combines(schema: Members, each: (sub: unknown) => boolean): boolean {
    const { allOf, anyOf, oneOf, not, if: condition } = schema;
    if (Array.isArray(allOf) && !allOf.every((sub) => each(sub))) return false;
    if (Array.isArray(anyOf) && !anyOf.some((sub) => each(sub))) return false;
    if (Array.isArray(oneOf) && oneOf.filter((sub) => each(sub)).length !== 1) return false;
    if (not !== undefined && each(not)) return false;
    if (condition === undefined) return true;
    const branch = schema[each(condition) ? 'then' : 'else'];
    return branch === undefined || each(branch);
  }

  #isText(value: string, schema: Members): boolean {
    const length = [...value].length;
    if (length < count(schema['minLength'], 0) || length > count(schema['maxLength'], Infinity)) return false;
    const { pattern, format } = schema;
    if (typeof pattern === 'string' && !this.matches(pattern, value, schema)) return false;
    if (typeof format !== 'string') return true;
    // The patterns of formats leave some of their strings out.
    const known = formats.get(format);
    if (known === undefined || !this.matches(known, value, schema)) throw new Undecided('format');
    return true;
  }

  /** Throws Undecided for a pattern that cannot be followed. */
  matches(pattern: string, text: string, owner: Members): boolean {
    this.#nSteps += text.length;
    const node = this.#document.pattern(pattern, owner);
    if (node === undefined || text.length > 1000) throw new Undecided('pattern');
    return matches(node, text);
  }

  #isObject(value: Members, schema: Members, each: (sub: unknown, part?: unknown) => boolean): boolean {
    const names = Object.keys(value);
    const { properties, patternProperties, additionalProperties, propertyNames, required } = schema;
    if (names.length < count(schema['minProperties'], 0) || names.length > count(schema['maxProperties'], Infinity)) return false;
    const has = (name: unknown) => Object.hasOwn(value, String(name));
    if (Array.isArray(required) && !required.every(has)) return false;
    const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : [];
    for (const name of names) {
      if (propertyNames !== undefined && !each(propertyNames, name)) return false;
      const isDeclared = isObject(properties) && Object.hasOwn(properties, name);
      if (isDeclared && !each(properties[name], value[name])) return false;
      const found = patterns.filter(([pattern]) => this.matches(pattern, name, schema));
      if (!found.every(([, sub]) => each(sub, value[name]))) return false;
      if (!isDeclared && found.length === 0 && additionalProperties !== undefined && !each(additionalProperties, value[name]))
        return false;
    }
    return dependencies(schema).every(([name, needed]) => {
      if (!has(name)) return true;
      return Array.isArray(needed) ? needed.every(has) : each(needed);
    });
  }
}

/** What each property that is there needs: other properties, or a schema of the whole object. */
export function dependencies(schema: Members): [name: string, needed: unknown][] {
  return ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
    isObject(schema[keyword]) ? Object.entries(schema[keyword]) : [],
  );
}

function raw(schema: unknown): Raw {
  if (typeof schema === 'boolean' || isObject(schema)) return schema;
  throw new Undecided('enum');
}

function count(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return types.includes(typeOf(value)) || (types.includes('integer') && Number.isInteger(value));
}

function isInBounds(value: number, schema: Members): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && value < minimum) return false;
  if (typeof maximum === 'number' && value > maximum) return false;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf);
}

function isArray(value: readonly unknown[], schema: Members, each: (sub: unknown, part: unknown) => boolean): boolean {
  if (value.length > 1000) throw new Undecided('enum');
  if (value.length < count(schema['minItems'], 0) || value.length > count(schema['maxItems'], Infinity)) return false;
  const { prefix, rest } = itemsOf(schema);
  if (!value.every((item, index) => each(prefix[index] ?? rest ?? true, item))) return false;
  if (schema['contains'] !== undefined) {
    const nFound = value.filter((item) => each(schema['contains'], item)).length;
    if (nFound < count(schema['minContains'], 1) || nFound > count(schema['maxContains'], Infinity)) return false;
  }
  return (
    schema['uniqueItems'] !== true || value.every((item, index) => !value.slice(0, index).some((other) => isSame(item, other)))
  );
}

/** The schemas of the first items, and of those behind them, in either draft's words. */
export function itemsOf(schema: Members): { prefix: readonly unknown[]; rest: unknown } {
  const { items, prefixItems, additionalItems } = schema;
  if (Array.isArray(items)) return { prefix: items, rest: additionalItems };
  return { prefix: Array.isArray(prefixItems) ? prefixItems : [], rest: items };
}

export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, index) => isSame(each, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]));
}
