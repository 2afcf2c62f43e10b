/** Lists of values, as patches change them. */
import { isDeepStrictEqual } from 'node:util';
import { isObject, type Resource } from './resource.ts';

/** What is there already is not added again; a new preferred value takes that from the one before (RFC 7643 section 2.4). */
export function addElements(before: readonly unknown[], added: readonly unknown[]): unknown[] {
  const known = new Set(before.map(keyOf));
  const fresh = added.filter((element) => {
    const key = keyOf(element);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
  const isPreferred = (element: unknown): boolean => isObject(element) && element['primary'] === true;
  const kept = fresh.some(isPreferred)
    ? before.map((element) => (isPreferred(element) ? { ...(element as Resource), primary: false } : element))
    : before;
  return [...kept, ...fresh];
}

/** Those with the same value go, or the same ones where they have none. */
export function removeElements(before: readonly unknown[], removed: readonly unknown[]): unknown[] {
  const values = new Set(removed.flatMap((element) => textOf(element) ?? []));
  return before.filter((element) => {
    const value = textOf(element);
    return value === undefined ? !removed.some((each) => isDeepStrictEqual(each, element)) : !values.has(value);
  });
}

/** `sub` names the one part that `part` holds; a part without a value is taken away. */
export function mergeElement(element: unknown, part: Resource, sub: string | undefined): Resource {
  const merged: Resource = { ...(isObject(element) ? element : {}), ...part };
  if (sub !== undefined && part[sub] === undefined) Reflect.deleteProperty(merged, sub);
  return merged;
}

/** Members of a group are the same by their id, other values when all of them is. */
function keyOf(element: unknown): string {
  const value = textOf(element);
  const type = isObject(element) && typeof element['type'] === 'string' ? element['type'] : '';
  return value === undefined ? JSON.stringify(element) : JSON.stringify([value, type]);
}

function textOf(element: unknown): string | undefined {
  return isObject(element) && typeof element['value'] === 'string' ? element['value'] : undefined;
}
