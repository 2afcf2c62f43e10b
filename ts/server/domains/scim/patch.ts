/**
 * PATCH (RFC 7644 section 3.5.2), with what Entra ID and Okta send beside the letter of it: operations in any case, no path and dotted names in the value,
 * booleans as texts, members to remove in the value, elements that are not there yet.
 */

import type { Filter } from './filter/filter.ts';
import { matchesElement } from './filter/match-filter.ts';
import { parseFilter } from './filter/parse-filter.ts';
import type { Attribute, ResourceKind } from './resource/attribute.ts';
import { type AttributePath, resolvePath } from './resource/attribute-path.ts';
import { addElements, mergeElement, removeElements } from './resource/elements.ts';
import { isObject, type Resource, readSingle, readValue } from './resource/resource.ts';
import { invalidScim } from './scim-error.ts';

export interface PatchOperation {
  op: string;
  path?: string | undefined;
  value?: unknown;
}

type Verb = 'add' | 'replace' | 'remove';

interface Target extends AttributePath {
  attribute: Attribute;
  /** Which elements of a list. */
  filter: Filter | undefined;
  text: string;
}

const MAX_OPERATIONS = 1_000;

/** A changed copy. Throws invalidPath, invalidValue, invalidSyntax, mutability or noTarget. */
export function patched(kind: ResourceKind, resource: Resource, operations: readonly PatchOperation[]): Resource {
  if (operations.length > MAX_OPERATIONS) throw invalidScim('tooMany', `At most ${MAX_OPERATIONS} operations are taken at once.`);
  const copy = structuredClone(resource);
  for (const operation of operations) apply(kind, copy, operation);
  return copy;
}

function apply(kind: ResourceKind, resource: Resource, { op, path, value }: PatchOperation): void {
  const verb = verbOf(op);
  if (path !== undefined && path !== '') {
    applyAt(kind, resource, verb, path, value);
    return;
  }
  if (verb === 'remove') throw invalidScim('noTarget', 'An operation that removes something needs a path.');
  if (!isObject(value)) throw invalidScim('invalidValue', 'An operation without a path needs an object as its value.');
  changeMembers(kind, resource, verb, value, '');
}

function applyAt(kind: ResourceKind, resource: Resource, verb: Verb, path: string, value: unknown): void {
  const { extension, attribute } = resolvePath(kind, path) ?? {};
  if (extension === undefined || attribute !== undefined) {
    change(resource, verb, targetOf(kind, path), value);
    return;
  }
  if (verb !== 'add') drop(resource, extension.urn);
  if (verb !== 'remove' && isObject(value)) changeMembers(kind, resource, verb, value, `${extension.urn}:`);
}

function changeMembers(kind: ResourceKind, resource: Resource, verb: Verb, members: object, prefix: string): void {
  for (const [name, value] of Object.entries(members) as [string, unknown][]) {
    const path = resolvePath(kind, prefix + name);
    if (path !== undefined && path.attribute === undefined && isObject(value)) {
      changeMembers(kind, resource, verb, value, `${path.extension?.urn}:`);
      continue;
    }
    // Okta repeats the id beside what it changes; what no schema knows is left out, as in a whole resource.
    const isFiltered = path === undefined && /[[\]]/.test(name);
    if (!isFiltered && (path?.attribute === undefined || path.attribute.mutability === 'readOnly')) continue;
    change(resource, verb, targetOf(kind, prefix + name), value);
  }
}

function verbOf(op: string): Verb {
  const verb = op.toLowerCase();
  if (verb === 'add' || verb === 'replace' || verb === 'remove') return verb;
  throw invalidScim('invalidSyntax', `${op.slice(0, 20)} is no operation; use add, replace or remove.`);
}

/** `attribute`, `attribute.sub`, `attribute[filter]`, `attribute[filter].sub`, each with a URN in front or not. */
function targetOf(kind: ResourceKind, text: string): Target {
  const parts = /^([^[\]]+)(?:\[(.*)\](?:\.([\w$]+))?)?$/s.exec(text);
  const [, name = '', filterText, subName] = parts ?? [];
  const path = parts === null ? undefined : resolvePath(kind, subName === undefined ? name : `${name}.${subName}`);
  const attribute = path?.attribute;
  if (
    path === undefined ||
    attribute === undefined ||
    (filterText !== undefined && (attribute.multiValued !== true || (path.sub !== undefined && subName === undefined)))
  ) {
    throw invalidScim('invalidPath', `${text.slice(0, 200)} is no path to an attribute of a ${kind.name}.`);
  }
  if (attribute.mutability === 'readOnly') throw invalidScim('mutability', `${attribute.name} cannot be written.`);
  return { ...path, attribute, filter: filterText === undefined ? undefined : parseFilter(filterText), text };
}

function change(resource: Resource, verb: Verb, target: Target, value: unknown): void {
  const holder = holderOf(resource, target);
  changeIn(holder, verb, target, value);
  if (holder !== resource && Object.keys(holder).length === 0) drop(resource, target.extension?.urn ?? '');
}

function changeIn(holder: Resource, verb: Verb, target: Target, value: unknown): void {
  const { attribute, sub } = target;
  if (attribute.multiValued === true) changeList(holder, verb, target, value);
  else if (sub !== undefined) changeSub(holder, verb, target, sub, value);
  else if (verb === 'remove') drop(holder, attribute.name);
  else changeWhole(holder, target, value);
}

/** Other parts of a name stay. */
function changeWhole(holder: Resource, { attribute, text }: Target, value: unknown): void {
  const given = readValue(attribute, value, text);
  const before = holder[attribute.name];
  put(holder, attribute.name, isObject(given) && isObject(before) ? { ...before, ...given } : given);
}

/** The resource, or its part for an extension. */
function holderOf(resource: Resource, { extension }: Target): Resource {
  if (extension === undefined) return resource;
  const part = resource[extension.urn];
  if (isObject(part)) return part;
  const made: Resource = {};
  resource[extension.urn] = made;
  return made;
}

function changeSub(holder: Resource, verb: Verb, { attribute, text }: Target, sub: Attribute, value: unknown): void {
  const before = holder[attribute.name];
  const part: Resource = isObject(before) ? before : {};
  put(part, sub.name, verb === 'remove' ? undefined : readSingle(sub, value, text));
  put(holder, attribute.name, Object.keys(part).length === 0 ? undefined : part);
}

function changeList(holder: Resource, verb: Verb, target: Target, value: unknown): void {
  const { attribute, filter, sub } = target;
  const before = (holder[attribute.name] ?? []) as unknown[];
  const isMatch = (element: unknown): boolean => filter === undefined || matchesElement(attribute, element, filter);
  const isWhole = filter === undefined && sub === undefined;
  const changed = isWhole ? changedList(before, verb, target, value) : changeElements(before, verb, target, isMatch, value);
  // An element that lost its last part is none.
  const after = changed.filter((element) => !isObject(element) || Object.keys(element).length > 0);
  put(holder, attribute.name, after.length === 0 ? undefined : after);
}

/** Entra ID names what it removes in the value; without one all goes. */
function changedList(before: readonly unknown[], verb: Verb, { attribute, text }: Target, value: unknown): unknown[] {
  const given = (readValue(attribute, value, text) ?? []) as unknown[];
  if (verb === 'replace') return given;
  if (verb === 'add') return addElements(before, given);
  return value === undefined || value === null ? [] : removeElements(before, given);
}

function changeElements(
  before: readonly unknown[],
  verb: Verb,
  { attribute, filter, sub, text }: Target,
  isMatch: (element: unknown) => boolean,
  value: unknown,
): unknown[] {
  if (verb === 'remove' && sub === undefined) return before.filter((element) => !isMatch(element));
  const given = partOf(attribute, sub, verb === 'remove' ? undefined : value, text);
  const after = before.map((element) => (isMatch(element) ? mergeElement(element, given, sub?.name) : element));
  if (verb === 'remove' || before.some(isMatch)) return after;
  // Directories set the work address of a person who has none yet.
  return addElements(after, [mergeElement(equalities(attribute, filter), given, sub?.name)]);
}

function partOf(attribute: Attribute, sub: Attribute | undefined, value: unknown, path: string): Resource {
  if (sub !== undefined) return { [sub.name]: readSingle(sub, value, path) };
  const read = readSingle(attribute, Array.isArray(value) ? value[0] : value, path);
  return isObject(read) ? read : {};
}

/** The element that a filter describes; throws noTarget where it does not say one. */
function equalities(attribute: Attribute, filter: Filter | undefined): Resource {
  if (filter === undefined) return {};
  if (filter.kind === 'and') return { ...equalities(attribute, filter.left), ...equalities(attribute, filter.right) };
  const sub =
    filter.kind === 'compare' && filter.operator === 'eq' ? attribute.sub?.find(({ name }) => name === filter.path) : undefined;
  if (filter.kind === 'compare' && sub !== undefined) return { [sub.name]: readSingle(sub, filter.value, filter.path) };
  throw invalidScim('noTarget', `No element of ${attribute.name} matches the filter of the path.`);
}

function put(holder: Resource, name: string, value: unknown): void {
  if (value === undefined) drop(holder, name);
  else holder[name] = value;
}

function drop(holder: Resource, name: string): void {
  Reflect.deleteProperty(holder, name);
}
