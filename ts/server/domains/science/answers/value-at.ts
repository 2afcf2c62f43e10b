/**
 * The values at a path of an answer. Steps are separated by `/`: a member's name, a place of a list from 0 on, `*` for all members, and
 * `name[member=text]` for those of which a member has a text. A list on the way stands for each of its items. A path that begins with `^/` starts at
 * the answer and not at the record. What has another form than the path expects has no value.
 */

export interface Place {
  readonly record: unknown;
  readonly root: unknown;
}

/** More would be an answer made to be slow. */
const MOST_VALUES = 20_000;
const CHOSEN = /^([^[\]]+)\[([^[\]=]+)=([^[\]]*)\]$/;

/** The text of an XML element, beside its attributes (`@name`) and elements. */
export const TEXT = '#';

export function valuesAt({ record, root }: Place, path: string): unknown[] {
  const isFromRoot = path.startsWith('^/');
  let values: unknown[] = [isFromRoot ? root : record];
  const steps = isFromRoot ? path.slice(2) : path;
  if (steps !== '')
    for (const step of steps.split('/')) values = values.flatMap((value) => stepInto(value, step)).slice(0, MOST_VALUES);
  return values.flatMap(itemsOf).slice(0, MOST_VALUES);
}

/** The first text at the path that is not empty. */
export function textAt(place: Place, path: string): string | undefined {
  return valuesAt(place, path)
    .map(textOf)
    .find((text) => text !== undefined && text !== '');
}

/** The text of a value; undefined for what is none. */
export function textOf(value: unknown): string | undefined {
  // Half of a pair cannot be written as UTF-8.
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '').trim();
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isObject(value) && typeof value[TEXT] === 'string' ? value[TEXT] : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flat(3) : [value];
}

function stepInto(value: unknown, step: string): unknown[] {
  if (Array.isArray(value)) {
    if (/^\d{1,5}$/.test(step)) return value.length > Number(step) ? [value[Number(step)]] : [];
    return value.flat(3).flatMap((item) => (isObject(item) ? stepInto(item, step) : []));
  }
  if (!isObject(value)) return [];
  if (step === '*') return Object.values(value);
  const [, name, member, text] = CHOSEN.exec(step) ?? [];
  if (name === undefined || member === undefined) return Object.hasOwn(value, step) ? [value[step]] : [];
  return stepInto(value, name)
    .flatMap(itemsOf)
    .filter((item) => isObject(item) && Object.hasOwn(item, member) && textOf(itemsOf(item[member])[0]) === text);
}
