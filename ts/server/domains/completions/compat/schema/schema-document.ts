/** A schema of a request as a document: where its parts stand, and what its references lead to. */
import type { Members } from '../members.ts';
import { isObject } from './forms.ts';
import { readPattern } from './pattern.ts';
import type { PatternCheck } from './pattern-check.ts';
import { type PatternNode, UnfollowedPattern } from './pattern-tree.ts';

export type Raw = Members | boolean;

/** No value satisfies the schema, it is none, or it is too large to be walked. */
export class UnusableSchema extends Error {}

/** Says that a keyword of the schema is not followed. */
export type LeaveOut = (schema: Members, keyword: string) => void;

/** A part, and how it is reached from the one that holds it. */
interface Place {
  parent: Members | undefined;
  steps: readonly (string | number)[];
}

export class SchemaDocument {
  readonly root: Members;
  /** Draft 7, or one before it: an `$id` beside a reference counts for nothing, and what a text encodes may be checked. */
  readonly isOlder: boolean;
  /** Whether it counts what its parts have named, of which a negation names nothing. */
  readonly hasUnevaluated: boolean;
  readonly #places = new Map<Members, Place>();
  /** Parts of schemas inside the document that have an `$id`, which their references are relative to. */
  readonly #bases = new Map<Members, Members>();
  /** Schemas that the walk made of a keyword of others. */
  readonly #made = new Map<Members, string>();
  readonly #patterns = new Map<string, PatternNode | undefined>();
  readonly #check: PatternCheck;

  constructor(root: Members, check: PatternCheck) {
    this.root = root;
    this.#check = check;
    this.#places.set(root, { parent: undefined, steps: ['#'] });
    this.isOlder = /draft-0[3467]\b/.test(String(root['$schema'] ?? ''));
    this.hasUnevaluated = this.#findBases();
  }

  /** Iterative, since a client may nest as it likes. */
  #findBases(): boolean {
    let hasUnevaluated = false;
    const waiting: [value: unknown, base: Members][] = [[this.root, this.root]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [value, outer] = next;
      if (typeof value !== 'object' || value === null) continue;
      const hasBase = isObject(value) && value !== this.root && isBase(value) && !(this.isOlder && value['$ref'] !== undefined);
      const base = hasBase ? value : outer;
      if (base !== this.root && isObject(value)) this.#bases.set(value, base);
      hasUnevaluated ||= 'unevaluatedProperties' in value || 'unevaluatedItems' in value;
      for (const each of Object.values(value)) waiting.push([each, base]);
    }
    return hasUnevaluated;
  }

  /** A JSON pointer (RFC 6901) as a fragment. */
  pointerOf(schema: Members): string {
    const steps: string[] = [];
    for (let place = this.#places.get(schema); place; place = place.parent && this.#places.get(place.parent))
      steps.unshift(...place.steps.map(escapeStep));
    return steps.join('/');
  }

  /** Notes where a part stands; the first place counts. */
  #note(schema: Members, parent: Members, ...steps: readonly (string | number)[]): void {
    if (!this.#places.has(schema)) this.#places.set(schema, { parent, steps });
  }

  /** A schema that stands for a keyword of another, and is named as that in messages. */
  make(schema: Members, original: Members, keyword: string): Members {
    this.#made.set(schema, this.keywordOf(original) ?? keyword);
    this.#places.set(schema, { parent: original, steps: [] });
    const base = this.#bases.get(original);
    if (base) this.#bases.set(schema, base);
    return schema;
  }

  /** The keyword that a made schema stands for; undefined for one of the client's. */
  keywordOf(schema: Members): string | undefined {
    return this.#made.get(schema);
  }

  /** A part of a schema. Throws UnusableSchema for what is none. */
  child(parent: Members, schema: unknown, ...steps: (string | number)[]): Raw {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) throw new UnusableSchema(`${this.pointerOf(parent)}/${steps.join('/')} is no schema`);
    this.#note(schema, parent, ...steps);
    return schema;
  }

  /** What its `$ref` leads to; undefined where that is not in the document. */
  target(schema: Members): Raw | undefined {
    const base = this.#bases.get(schema) ?? this.root;
    const ref = schema['$ref'];
    if (typeof ref !== 'string') return undefined;
    const id = typeof base['$id'] === 'string' ? base['$id'].replace(/#$/, '') : undefined;
    const fragment = ref === id ? '#' : id !== undefined && ref.startsWith(`${id}#`) ? ref.slice(id.length) : ref;
    if (fragment === '#') return base;
    if (fragment.startsWith('#/')) return this.#atPointer(base, fragment);
    return fragment.startsWith('#') ? this.#atAnchor(base, fragment.slice(1)) : undefined;
  }

  #atPointer(base: Members, fragment: string): Raw | undefined {
    let target: unknown = base;
    const steps = fragment.slice(2).split('/').map(decodeStep);
    for (const step of steps) {
      if (typeof target !== 'object' || target === null || step === undefined || !Object.hasOwn(target, step)) return undefined;
      target = (target as Members)[step];
    }
    if (typeof target === 'boolean') return target;
    if (!isObject(target)) return undefined;
    this.#note(target, base, ...steps.map(String));
    return target;
  }

  #atAnchor(base: Members, anchor: string): Members | undefined {
    const waiting: unknown[] = [base];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      const schema = value as Members;
      const isOwn = (this.#bases.get(schema) ?? this.root) === base;
      if (isOwn && (schema['$anchor'] === anchor || schema['$id'] === `#${anchor}`)) {
        this.#note(schema, base, '$anchor', anchor);
        return schema;
      }
      for (const [name, each] of Object.entries(schema))
        if (name !== 'enum' && name !== 'const' && each !== null) waiting.push(each);
    }
    return undefined;
  }

  /** Undefined: it cannot be followed. Throws UnusableSchema for what is no regular expression. */
  pattern(text: string, owner: Members): PatternNode | undefined {
    if (this.#patterns.has(text)) return this.#patterns.get(text);
    const fault = this.#check.findFault(text);
    if (fault) throw new UnusableSchema(`the pattern at ${this.pointerOf(owner)} ${fault}`);
    const node = readFollowed(text);
    this.#patterns.set(text, node);
    return node;
  }
}

function readFollowed(text: string): PatternNode | undefined {
  try {
    return readPattern(text);
  } catch (error) {
    if (error instanceof UnfollowedPattern) return undefined;
    throw error;
  }
}

function isBase(schema: Members): boolean {
  return typeof schema['$id'] === 'string' && !schema['$id'].startsWith('#');
}

function escapeStep(step: string | number): string {
  return String(step).replaceAll('~', '~0').replaceAll('/', '~1');
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
