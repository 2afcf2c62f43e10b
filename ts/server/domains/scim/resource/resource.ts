/** A resource as a JSON object whose members have the names of its schema, whatever case a client wrote them in. */
import { invalidScim } from '../scim-error.ts';
import { type Attribute, attributesOf, findAttribute, type ResourceKind } from './attribute.ts';

export type Resource = Record<string, unknown>;

const MAX_TEXT_LENGTH = 4096;
/** Of lists other than members. */
const MAX_VALUES = 100;
const MAX_MEMBERS = 20_000;

/**
 * What a client may write of a resource; what it may not, and what the schema does not know, is left out (RFC 7644 section 3.3). Throws
 * invalidValue for a value of another type.
 */
export function readResource(kind: ResourceKind, input: Readonly<Record<string, unknown>>): Resource {
  const resource = readObject(attributesOf(kind), input, '');
  for (const { urn, attributes } of kind.extensions) {
    const given = Object.entries(input).find(([name]) => name.toLowerCase() === urn.toLowerCase())?.[1];
    if (isObject(given)) resource[urn] = readObject(attributes, given, `${urn}:`);
  }
  return resource;
}

/** The value as it is kept; undefined: none. Throws invalidValue. */
export function readValue(attribute: Attribute, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (attribute.multiValued !== true) return readSingle(attribute, value, path);
  // Some directories send one value without a list around it.
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  const most = attribute.name === 'members' ? MAX_MEMBERS : MAX_VALUES;
  if (list.length > most) throw invalidScim('tooMany', `${path} has ${list.length} values; at most ${most} are taken.`);
  const values = list.map((each) => readSingle(attribute, each, path)).filter((each) => each !== undefined);
  return values.length === 0 ? undefined : values;
}

/** One value of a list, or the value of an attribute that has one. */
export function readSingle(attribute: Attribute, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return undefined;
  switch (attribute.type) {
    case 'boolean':
      return readBoolean(value, path);
    case 'complex':
      return readComplex(attribute, value, path);
    default:
      return readText(value, path);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readObject(attributes: readonly Attribute[], input: Readonly<Record<string, unknown>>, prefix: string): Resource {
  const read: Resource = {};
  for (const [name, value] of Object.entries(input)) {
    const attribute = findAttribute(attributes, name);
    if (attribute === undefined || attribute.mutability === 'readOnly') continue;
    const kept = readValue(attribute, value, prefix + attribute.name);
    if (kept !== undefined) read[attribute.name] = kept;
  }
  return read;
}

/** A text stands for the value of a complex attribute: `"manager": "42"`, as Entra ID sends it. */
function readComplex(attribute: Attribute, value: unknown, path: string): unknown {
  const sub = attribute.sub ?? [];
  const given = typeof value === 'string' && findAttribute(sub, 'value') !== undefined ? { value } : value;
  if (!isObject(given)) throw invalidScim('invalidValue', `${path} must be an object.`);
  const read = readObject(sub, given, `${path}.`);
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Entra ID writes booleans as texts with a capital. */
function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalidScim('invalidValue', `${path} must be true or false.`);
}

function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalidScim('invalidValue', `${path} must be a text.`);
  if (value.length > MAX_TEXT_LENGTH) throw invalidScim('invalidValue', `${path} is longer than ${MAX_TEXT_LENGTH} characters.`);
  if (value.includes('\0')) throw invalidScim('invalidValue', `${path} holds a NUL character.`);
  return value;
}
