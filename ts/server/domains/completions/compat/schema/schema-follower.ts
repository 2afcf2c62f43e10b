/**
 * From a client's JSON Schema to one that llama.cpp's converter follows in every part: whatever is written under the grammar of the latter
 * satisfies the former. A schema at a place, with all that its references, `allOf` and alternatives add there, is a list of schemas that hold
 * together; each list that has no choices left becomes one schema in the few words that the converter knows (`leaf`).
 *
 * The engine has a compiler for one dialect, which is the converter's. A compiler that follows more takes the place of this walk: its input is
 * the same, and what it reports stays `Unfollowed`.
 */
import type { Members } from '../members.ts';
import { type Alternative, Alternatives } from './alternatives.ts';
import { isEveryName, isNumber, isObject, typesOf } from './forms.ts';
import { maxRepetitions } from './pattern-tree.ts';
import { Evaluator, itemsOf, Undecided } from './satisfies.ts';
import { ofValues, writeNumber, writeString } from './scalars.ts';
import { type Raw, type SchemaDocument, UnusableSchema } from './schema-document.ts';

/** A keyword that is not followed, and where it stands. */
export interface Unfollowed {
  pointer: string;
  keyword: string;
}

interface Known {
  node: Members | false | undefined;
  name?: string;
}

const maxParts = 5_000;
const maxDepth = 60;
/** Of the parts of a value that tell alternatives from each other. */
const maxProbedDepth = 8;
const maxOptional = 400;
const maxTupleTail = 4;

export class SchemaFollower {
  readonly #document: SchemaDocument;
  readonly #evaluator: Evaluator;
  readonly #alternatives: Alternatives;
  readonly #report: (unfollowed: Unfollowed) => void;
  readonly #nextName: () => string;
  readonly #ids = new Map<Raw, number>();
  readonly #known = new Map<string, Known>();
  readonly #definitions: Record<string, Members> = {};
  #isProbing = false;
  #nParts = 0;

  /** `report` is called for each keyword that is left out, and may throw. `nextName` names a definition, once in a request. */
  constructor(document: SchemaDocument, report: (unfollowed: Unfollowed) => void, nextName: () => string) {
    this.#document = document;
    this.#evaluator = new Evaluator(document);
    this.#alternatives = new Alternatives({
      document,
      evaluator: this.#evaluator,
      leaveOut: this.#leaveOut,
      isImpossible: (schemas, members) => this.#isImpossible(schemas, members),
    });
    this.#report = report;
    this.#nextName = nextName;
  }

  /** Throws UnusableSchema, and what `report` throws. */
  follow(isObject: boolean): Members {
    const { root } = this.#document;
    const first = isObject ? [root, this.#document.make({ type: 'object' }, root, 'type')] : [root];
    const node = this.#compile(first, 0);
    if (node === undefined) throw new UnusableSchema('no value satisfies it');
    const names = Object.keys(this.#definitions);
    return names.length === 0 ? node : { ...node, $defs: this.#definitions };
  }

  readonly #leaveOut = (owner: Members, keyword: string): void => {
    if (this.#isProbing) return;
    this.#report({ pointer: this.#document.pointerOf(owner), keyword: this.#document.keywordOf(owner) ?? keyword });
  };

  /** What is not followed may make it possible: then it is not known to be impossible. */
  #isImpossible(schemas: readonly Raw[], members: readonly Members[]): boolean {
    const wasProbing = this.#isProbing;
    this.#isProbing = true;
    try {
      const all = this.#alternatives.expand(schemas, members);
      return all.every((alternative) => this.#leaf(alternative, [], maxDepth - maxProbedDepth) === undefined);
    } finally {
      this.#isProbing = wasProbing;
    }
  }

  /** Undefined: no value satisfies all of them. */
  #compile(schemas: readonly Raw[], depth: number): Members | undefined {
    if (schemas.includes(false)) return undefined;
    const first = [...new Set(schemas.filter(isObject))];
    const key = `${this.#isProbing ? '?' : ''}${first
      .map((schema) => this.#idOf(schema))
      .sort((a, b) => a - b)
      .join()}`;
    const known = this.#known.get(key);
    if (known) return this.#again(known);
    if (++this.#nParts > maxParts) throw new UnusableSchema(`it has more than ${maxParts} parts`);
    if (depth > maxDepth) throw new UnusableSchema(`it is nested more than ${maxDepth} levels deep`);
    const entry: Known = { node: undefined };
    this.#known.set(key, entry);
    const node = this.#join(this.#alternatives.expand(first).map((alternative) => this.#leaf(alternative, first, depth)));
    entry.node = node ?? false;
    if (entry.name !== undefined) {
      if (!node) throw new UnusableSchema('no value satisfies a part of it that refers to itself');
      this.#definitions[entry.name] = node;
    }
    return node;
  }

  /** A part that is met again, or inside itself. */
  #again(known: Known): Members | undefined {
    const { node } = known;
    if (node === false) return undefined;
    if (this.#isProbing) return node ?? {};
    if (node && !['object', 'array'].includes(String(node['type'])) && !node['anyOf']) return node;
    if (known.name === undefined) {
      known.name = this.#nextName();
      if (node) this.#definitions[known.name] = node;
    }
    return { $ref: `#/$defs/${known.name}` };
  }

  #idOf(schema: Raw): number {
    const id = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }

  #join(nodes: readonly (Members | undefined)[]): Members | undefined {
    const byText = new Map(nodes.filter((node) => node !== undefined).map((node) => [JSON.stringify(node), node]));
    const all = [...byText.values()].flatMap((node) => (isAlternatives(node) ? node.anyOf : [node]));
    if (all.length < 2) return all[0];
    return all.find((node) => Object.keys(node).length === 0) ?? { anyOf: all };
  }

  #leaf(alternative: Alternative, first: readonly Members[], depth: number): Members | undefined {
    if ('values' in alternative) return ofValues(alternative.values);
    const { members } = alternative;
    const types = typesOf(members);
    if (types === undefined) return {};
    const writers: Record<string, () => Members | undefined> = {
      null: () => ({ type: 'null' }),
      boolean: () => ({ type: 'boolean' }),
      number: () => writeNumber(members, types.isInteger, this.#leaveOut),
      string: () => writeString(members, this.#document, this.#leaveOut),
      array: () => this.#array(members, first, depth),
      object: () => this.#object(members, first, depth),
    };
    return this.#join([...types.names].map((name) => writers[name]?.()));
  }

  #array(members: readonly Members[], first: readonly Members[], depth: number): Members | undefined {
    let min = 0;
    let max = Infinity;
    let nPrefix = 0;
    for (const schema of members) {
      if (isNumber(schema['minItems'])) min = Math.max(min, schema['minItems']);
      if (isNumber(schema['maxItems'])) max = Math.min(max, schema['maxItems']);
      nPrefix = Math.max(nPrefix, itemsOf(schema).prefix.length);
    }
    max = this.#closeArray(members, first, nPrefix, max);
    const rest = this.#compile(
      members.map((schema) => this.#item(schema, Infinity)),
      depth + 1,
    );
    if (!rest) max = Math.min(max, nPrefix);
    if (min > max) return undefined;
    for (const schema of members) {
      if (schema['uniqueItems'] === true && max > 1) this.#leaveOut(schema, 'uniqueItems');
      if (schema['contains'] === undefined) continue;
      if (schema['minContains'] !== 0 || isNumber(schema['maxContains'])) this.#leaveOut(schema, 'contains');
    }
    if (max === 0) return { const: [] };
    if (nPrefix > 0) return this.#tuples(members, { min, max, nPrefix, depth });
    if (min > maxRepetitions || (Number.isFinite(max) && max > maxRepetitions)) {
      for (const schema of members)
        for (const keyword of ['minItems', 'maxItems'])
          if (Number(schema[keyword]) > maxRepetitions) this.#leaveOut(schema, keyword);
      if (min > maxRepetitions) min = 0;
      if (max > maxRepetitions) max = Infinity;
    }
    return {
      type: 'array',
      items: rest ?? {},
      ...(min > 0 && { minItems: min }),
      ...(Number.isFinite(max) && { maxItems: max }),
    };
  }

  #item(schema: Members, index: number): Raw {
    const { prefix, rest } = itemsOf(schema);
    if (index < prefix.length)
      return this.#document.child(schema, prefix[index], Array.isArray(schema['items']) ? 'items' : 'prefixItems', index);
    return rest === undefined
      ? true
      : this.#document.child(schema, rest, Array.isArray(schema['items']) ? 'additionalItems' : 'items');
  }

  /** The converter knows tuples of one length, so there is one for each that the list may have. */
  #tuples(
    members: readonly Members[],
    { min, max, nPrefix, depth }: { min: number; max: number; nPrefix: number; depth: number },
  ) {
    const hasRest = members.some((schema) => itemsOf(schema).rest !== undefined);
    const most = Math.max(Math.min(max, hasRest ? nPrefix + maxTupleTail : nPrefix), Math.min(min, max));
    if (most - min > 64 || most > 200) {
      for (const schema of members)
        if (itemsOf(schema).prefix.length > 0) this.#leaveOut(schema, Array.isArray(schema['items']) ? 'items' : 'prefixItems');
      return { type: 'array' };
    }
    const items: Members[] = [];
    for (let index = 0; index < most; index++) {
      const item = this.#compile(
        members.map((schema) => this.#item(schema, index)),
        depth + 1,
      );
      if (!item) break;
      items.push(item);
    }
    const lists: Members[] = [];
    for (let n = min; n <= items.length; n++)
      lists.push(n === 0 ? { const: [] } : { type: 'array', prefixItems: items.slice(0, n) });
    return this.#join(lists);
  }

  #closeArray(members: readonly Members[], first: readonly Members[], nPrefix: number, max: number): number {
    for (const schema of members) {
      if (schema['unevaluatedItems'] === undefined || schema['unevaluatedItems'] === true) continue;
      // One inside the place sees nothing of what stands beside it.
      if (!this.#isWholePlace(schema, first)) this.#leaveOut(schema, 'unevaluatedItems');
      else if (!members.some((each) => itemsOf(each).rest !== undefined)) max = Math.min(max, nPrefix);
    }
    return max;
  }

  /** Whether all that is at the place stands in this schema or below it. */
  #isWholePlace(schema: Members, first: readonly Members[]): boolean {
    const own = first.filter((each) => this.#document.keywordOf(each) === undefined);
    return own.length === 1 && own[0] === schema;
  }

  #object(members: readonly Members[], first: readonly Members[], depth: number): Members | undefined {
    const required = new Set(members.flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : [])));
    const names = new Set([
      ...members.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
      ...required,
    ]);
    let isClosed = this.#isClosed(members, first);
    const properties: [name: string, schema: Members][] = [];
    let hasImpossible = false;
    for (const name of names) {
      const parts = members.flatMap((schema) => this.#property(schema, name));
      const node = this.#compile([...parts, ...this.#unevaluated(members, name)], depth + 1);
      if (node) properties.push([name, node]);
      else if (required.has(name)) return undefined;
      else hasImpossible = true;
    }
    if (!this.#isProbing) isClosed ||= hasImpossible || properties.some(([name]) => hasOddLetters(name));
    const additional = isClosed
      ? undefined
      : this.#compile(
          members.map((schema) => this.#additional(schema)),
          depth + 1,
        );
    this.#reportOfNames(members, additional !== undefined);
    return this.#counted(members, { properties, required, additional });
  }

  /** Where properties are named and nothing is said of others, there are none: the model writes what the schema tells of. */
  #isClosed(members: readonly Members[], first: readonly Members[]): boolean {
    // Whether alternatives exclude each other does not depend on what the model does not write.
    if (this.#isProbing) return false;
    const own = members.filter((schema) => this.#document.keywordOf(schema) === undefined);
    const isStated = own.some((schema) => schema['additionalProperties'] !== undefined);
    let isClosed = !isStated && own.some((schema) => isObject(schema['properties']));
    for (const schema of members) {
      const { unevaluatedProperties } = schema;
      if (unevaluatedProperties === undefined || unevaluatedProperties === true) continue;
      if (!this.#isWholePlace(schema, first)) this.#leaveOut(schema, 'unevaluatedProperties');
      isClosed = true;
    }
    return isClosed;
  }

  #property(schema: Members, name: string): Raw[] {
    const { properties, patternProperties, propertyNames } = schema;
    const found: Raw[] = [];
    if (isObject(properties) && Object.hasOwn(properties, name))
      found.push(this.#document.child(schema, properties[name], 'properties', name));
    if (isObject(patternProperties)) {
      for (const [pattern, sub] of Object.entries(patternProperties))
        if (this.#matches(schema, pattern, name)) found.push(this.#document.child(schema, sub, 'patternProperties', pattern));
    }
    if (found.length === 0) found.push(this.#additional(schema));
    if (propertyNames !== undefined && !this.#isName(schema, name)) found.push(false);
    return found;
  }

  /** What holds for a property that no schema of the client's names: one that is required, or that was made of a negation. */
  #unevaluated(members: readonly Members[], name: string): Raw[] {
    if (this.#isProbing) return [];
    const own = members.filter((schema) => this.#document.keywordOf(schema) === undefined);
    const isEvaluated = own.some(({ properties, additionalProperties, patternProperties }) => {
      return (
        additionalProperties !== undefined ||
        [properties, patternProperties].some((map) => isObject(map) && Object.hasOwn(map, name))
      );
    });
    if (isEvaluated) return [];
    return own.flatMap((schema) => {
      const { unevaluatedProperties } = schema;
      if (unevaluatedProperties === undefined) return [];
      return [this.#document.child(schema, unevaluatedProperties, 'unevaluatedProperties')];
    });
  }

  #additional(schema: Members): Raw {
    const { additionalProperties } = schema;
    return additionalProperties === undefined ? true : this.#document.child(schema, additionalProperties, 'additionalProperties');
  }

  #matches(schema: Members, pattern: string, name: string): boolean {
    try {
      return this.#evaluator.matches(pattern, name, schema);
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.#leaveOut(schema, 'patternProperties');
      return false;
    }
  }

  #isName(schema: Members, name: string): boolean {
    const sub = this.#document.child(schema, schema['propertyNames'], 'propertyNames');
    try {
      return this.#evaluator.satisfies(name, sub);
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.#leaveOut(schema, 'propertyNames');
      return true;
    }
  }

  /** The converter has no words for the names of further properties. */
  #reportOfNames(members: readonly Members[], isOpen: boolean): void {
    for (const schema of members) {
      const { patternProperties, propertyNames } = schema;
      const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
      if (patterns.some((sub) => sub !== false) || (patterns.length > 0 && isOpen)) this.#leaveOut(schema, 'patternProperties');
      if (propertyNames !== undefined && isOpen && !isEveryName(propertyNames)) this.#leaveOut(schema, 'propertyNames');
    }
  }

  #counted(
    members: readonly Members[],
    {
      properties,
      required,
      additional,
    }: { properties: [string, Members][]; required: Set<string>; additional: Members | undefined },
  ): Members | undefined {
    const min = Math.max(0, ...members.map(({ minProperties }) => (isNumber(minProperties) ? minProperties : 0)));
    const max = Math.min(...members.map(({ maxProperties }) => (isNumber(maxProperties) ? maxProperties : Infinity)), Infinity);
    if (required.size > max || (!additional && properties.length < min)) return undefined;
    if (!additional && properties.length === min) for (const [name] of properties) required.add(name);
    const isMost = required.size === max;
    const kept = isMost ? properties.filter(([name]) => required.has(name)) : properties;
    const open = isMost ? undefined : additional;
    if (required.size < min)
      for (const schema of members) if (schema['minProperties'] !== undefined) this.#leaveOut(schema, 'minProperties');
    if (open || kept.length > max)
      for (const schema of members) if (Number(schema['maxProperties']) < Infinity) this.#leaveOut(schema, 'maxProperties');
    if (kept.length - required.size > maxOptional)
      throw new UnusableSchema(`an object in it has more than ${maxOptional} properties that are not required`);
    if (kept.length === 0 && open && Object.keys(open).length === 0) return { type: 'object' };
    return {
      type: 'object',
      properties: Object.fromEntries(kept),
      ...(required.size > 0 && { required: [...required] }),
      ...(open && { additionalProperties: open }),
    };
  }
}

function isAlternatives(node: Members): node is { anyOf: Members[] } {
  return Array.isArray(node['anyOf']);
}

/** The converter writes the letters of names that are taken into classes as they are, and has a meaning of its own for `*`. */
function hasOddLetters(name: string): boolean {
  return [...name].some((letter) => letter < ' ' || '"\\]^*'.includes(letter));
}
