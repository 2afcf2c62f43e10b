/** Whether a resource matches a filter. */
import { nameKey } from '../../identity/index.ts';
import type { Attribute, ResourceKind } from '../resource/attribute.ts';
import { findAttribute } from '../resource/attribute.ts';
import { resolvePath } from '../resource/attribute-path.ts';
import type { Resource } from '../resource/resource.ts';
import { invalidScim } from '../scim-error.ts';
import type { Filter, FilterValue, Operator } from './filter.ts';

interface Found {
  attribute: Attribute;
  values: readonly unknown[];
}

/** Finds values in what a filter is applied to: a resource, or an element of a list. */
type Lookup = (path: string) => Found;

/** Throws invalidFilter for an attribute that the kind does not have. */
export function matchesFilter(kind: ResourceKind, resource: Resource, filter: Filter): boolean {
  return evaluate(filter, (path) => valuesAt(kind, resource, path));
}

/** For elements of a list, in filters and in the paths of patches. */
export function matchesElement(attribute: Attribute, element: unknown, filter: Filter): boolean {
  return evaluate(filter, (path) => valuesIn(attribute, element, path));
}

function evaluate(filter: Filter, lookup: Lookup): boolean {
  switch (filter.kind) {
    case 'and':
      return evaluate(filter.left, lookup) && evaluate(filter.right, lookup);
    case 'or':
      return evaluate(filter.left, lookup) || evaluate(filter.right, lookup);
    case 'not':
      return !evaluate(filter.filter, lookup);
    case 'present':
      return lookup(filter.path).values.some((value) => value !== '' && !(Array.isArray(value) && value.length === 0));
    case 'element': {
      const { attribute, values } = lookup(filter.path);
      return values.some((value) => matchesElement(attribute, value, filter.filter));
    }
    case 'compare':
      return compareAll(filter.operator, filter.value, lookup(filter.path));
  }
}

/** A list matches when one of its values does; `ne`, when none is equal. */
function compareAll(operator: Operator, wanted: FilterValue, { attribute, values }: Found): boolean {
  const simple = values.flatMap((value) => (isObject(value) ? [value['value']] : [value])).filter((value) => value !== undefined);
  if (wanted === null) return (simple.length === 0) === (operator === 'eq');
  if (operator === 'ne') return !simple.some((value) => compare('eq', value, wanted, attribute));
  return simple.some((value) => compare(operator, value, wanted, attribute));
}

function compare(operator: Operator, value: unknown, wanted: FilterValue, { caseExact }: Attribute): boolean {
  if (typeof value !== 'string' || typeof wanted !== 'string') return operator === 'eq' && value === asType(value, wanted);
  const [left, right] = caseExact === true ? [value, wanted] : [nameKey(value), nameKey(wanted)];
  return COMPARISONS[operator](left, right);
}

/** Times are ISO 8601 in UTC, which as texts have the order of the times. */
const COMPARISONS: Readonly<Record<Operator, (left: string, right: string) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  co: (left, right) => left.includes(right),
  sw: (left, right) => left.startsWith(right),
  ew: (left, right) => left.endsWith(right),
  gt: (left, right) => left > right,
  ge: (left, right) => left >= right,
  lt: (left, right) => left < right,
  le: (left, right) => left <= right,
};

/** Some directories write `active eq "true"`. */
function asType(value: unknown, wanted: FilterValue): FilterValue {
  if (typeof value !== 'boolean' || typeof wanted !== 'string') return wanted;
  return /^(true|false)$/i.test(wanted) ? wanted.toLowerCase() === 'true' : wanted;
}

function valuesAt(kind: ResourceKind, resource: Resource, path: string): Found {
  const found = resolvePath(kind, path);
  if (found?.attribute === undefined || found.attribute.mutability === 'writeOnly') throw unknownAttribute(path);
  const { extension, attribute, sub } = found;
  const holder = extension === undefined ? resource : resource[extension.urn];
  const values = listOf(isObject(holder) ? holder[attribute.name] : undefined);
  if (sub === undefined) return { attribute: defaultSub(attribute), values };
  return { attribute: sub, values: values.flatMap((value) => listOf(isObject(value) ? value[sub.name] : undefined)) };
}

function valuesIn(attribute: Attribute, element: unknown, path: string): Found {
  const sub = findAttribute(attribute.sub ?? [], path);
  if (sub === undefined) throw unknownAttribute(path);
  return { attribute: sub, values: listOf(isObject(element) ? element[sub.name] : undefined) };
}

/** `emails co "x"` means their values; what they are inside is kept for `emails[...]`. */
function defaultSub(attribute: Attribute): Attribute {
  const value = findAttribute(attribute.sub ?? [], 'value');
  return value === undefined ? attribute : { ...attribute, caseExact: value.caseExact === true };
}

function unknownAttribute(path: string): Error {
  return invalidScim('invalidFilter', `${path.slice(0, 100)} is no attribute that can be filtered by.`);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
