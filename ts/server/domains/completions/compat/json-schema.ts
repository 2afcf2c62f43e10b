/**
 * A JSON Schema of a request, made ready for llama.cpp's reader: that one knows no reference to the whole document, and takes a pattern
 * that it cannot read for any text. References that lead nowhere and nesting without end are the engine's to refuse.
 */
import { completionError } from '../errors.ts';
import { isMembers, type Members } from './members.ts';
import { PatternCheck } from './pattern-check.ts';

/** A schema inside the document. */
interface Place {
  schema: Members;
  /** The schema that holds it; absent for the root, and for what only a reference finds. */
  parent?: Place;
  /** The members that lead from there to here, or the reference that leads here. */
  steps: readonly string[];
}

/** The members that hold schemas, with what each holds: a schema, a list of them (or one for all items), or a map of them. */
const holders = new Map([
  ...['additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'].map((name) => [name, 'schema'] as const),
  ...['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'].map((name) => [name, 'list'] as const),
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'].map((name) => [name, 'map'] as const),
]);

/** Reads the schemas of one request: of its answer and of its tools. */
export class SchemaReader {
  #patterns: PatternCheck | undefined;

  /** Returns the schema that the engine is to follow. Throws invalid_grammar with the place of a pattern that is none or too long. */
  read(root: Members, param: string): Members {
    const places: Place[] = [];
    addPlaces(places, { schema: root, steps: ['#'] });
    // Few schemas have references, and every request with tools comes by here.
    const hasReferences = places.some(({ schema }) => schema['$ref'] !== undefined);
    if (hasReferences) addTargets(places, root);
    for (const place of places) this.#checkPattern(place, param);
    if (!hasReferences) return root;
    const toRoot = new Set(places.map(({ schema }) => schema).filter((schema) => schema['$ref'] === '#'));
    return toRoot.size === 0 ? root : withNamedRoot(root, toRoot);
  }

  #checkPattern(place: Place, param: string): void {
    const { pattern } = place.schema;
    if (typeof pattern !== 'string') return;
    this.#patterns ??= new PatternCheck();
    const fault = this.#patterns.findFault(pattern);
    if (fault) throw completionError('invalid_grammar', `${param}: the pattern at ${pointerOf(place)} ${fault}`, { param });
  }
}

/** Adds a schema and those inside it, each behind the one that holds it. Iterative, since a client may nest as it likes. */
function addPlaces(places: Place[], first: Place, isKnown: (schema: Members) => boolean = () => false): void {
  const waiting = [first];
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    if (isKnown(place.schema)) continue;
    places.push(place);
    for (const name of Object.keys(place.schema)) addChildren(waiting, place, name);
  }
}

function addChildren(waiting: Place[], parent: Place, name: string): void {
  const holder = holders.get(name);
  const held = parent.schema[name];
  if (holder === undefined || typeof held !== 'object' || held === null) return;
  const add = (schema: unknown, ...steps: string[]): void => {
    if (isMembers(schema)) waiting.push({ schema, parent, steps });
  };
  if (holder === (Array.isArray(held) ? 'list' : 'map')) for (const [key, schema] of Object.entries(held)) add(schema, name, key);
  else add(held, name);
}

/** Adds what only a reference finds, since it lies where no schema is expected. */
function addTargets(places: Place[], root: Members): void {
  const known = new Set(places.map(({ schema }) => schema));
  // The list grows while it is walked: targets may hold references of their own.
  for (const { schema } of places) {
    const target = findTarget(root, schema);
    const isKnown = (each: Members): boolean => known.has(each) || !known.add(each);
    if (target) addPlaces(places, { schema: target, steps: [String(schema['$ref'])] }, isKnown);
  }
}

/** A JSON pointer (RFC 6901) into the document. */
function pointerOf(place: Place): string {
  const steps: string[] = [];
  let top = place;
  for (; top.parent; top = top.parent) steps.push(...top.steps.map(escapeKey).toReversed());
  return [...top.steps, ...steps.toReversed()].join('/');
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Finds the schema that a reference into the document names. Returns undefined for any other reference: the engine says why it cannot follow it. */
function findTarget(root: Members, { $ref: ref }: Members): Members | undefined {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let target: unknown = root;
  for (const key of ref.slice(2).split('/')) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Members)[key];
  }
  return isMembers(target) ? target : undefined;
}

/** The document with its root among its own definitions, and the references to the root led there. */
function withNamedRoot(root: Members, toRoot: ReadonlySet<unknown>): Members {
  const { $defs, definitions: _definitions, ...rest } = root;
  const definitions = isMembers($defs) ? $defs : {};
  let name = 'root';
  while (Object.hasOwn(definitions, name)) name += '_';
  const text = JSON.stringify(
    { ...root, $defs: { ...definitions, [name]: rest } },
    function (this: unknown, key, value: unknown) {
      return key === '$ref' && toRoot.has(this) ? `#/$defs/${name}` : value;
    },
  );
  return JSON.parse(text) as Members;
}
