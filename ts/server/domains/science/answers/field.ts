/** The texts that a field of an adapter makes of a record. */
import type { Field } from '../adapters/adapter.ts';
import { isObject, type Place, textAt, textOf, valuesAt } from './value-at.ts';

type FieldObject = Exclude<Field, string>;
type As = NonNullable<FieldObject['as']>;

const MOST_TEXTS = 200;
const MOST_CHARACTERS = 20_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** All of them, without empty ones. */
export function textsOf(place: Place, field: Field | undefined): string[] {
  if (field === undefined) return [];
  const made = typeof field === 'string' ? plainTexts(place, field) : textsOfObject(place, field);
  return made
    .filter((text): text is string => text !== undefined && text !== '')
    .slice(0, MOST_TEXTS)
    .map((text) => text.slice(0, MOST_CHARACTERS));
}

function plainTexts(place: Place, path: string): (string | undefined)[] {
  return valuesAt(place, path).map(textOf);
}

function textsOfObject(place: Place, { as, ...field }: FieldObject): (string | undefined)[] {
  if (as === 'parts') return pathsOf(field).map((path) => dateOfParts(valuesAt(place, path)));
  if (as === 'inverted') return pathsOf(field).map((path) => textOfInverted(valuesAt(place, path)[0]));
  return rawTexts(place, field).map((text) => (as === undefined || text === undefined ? text : readAs(text, as)));
}

function rawTexts(place: Place, field: FieldObject): (string | undefined)[] {
  const { text, join, each, of, template } = field;
  if (text !== undefined) return [text];
  if (template !== undefined) return [filled(place, template)];
  if (join !== undefined) return [joined(place, join)];
  if (each !== undefined)
    return valuesAt(place, each).map((record) => {
      const item = { ...place, record };
      return of === undefined || typeof of === 'string' ? textAt(item, of ?? '') : joined(item, of.join);
    });
  for (const path of pathsOf(field)) {
    const found = plainTexts(place, path).filter((one) => one !== undefined && one !== '');
    if (found.length > 0) return found;
  }
  return [];
}

function pathsOf({ path = [] }: FieldObject): readonly string[] {
  return typeof path === 'string' ? [path] : path;
}

function joined(place: Place, paths: readonly string[]): string {
  return paths
    .map((path) => textAt(place, path) ?? '')
    .filter((part) => part !== '')
    .join(' ');
}

/** Undefined where a part has no text. */
function filled(place: Place, template: string): string | undefined {
  let isWhole = true;
  const isAddress = template.startsWith('https://');
  const text = template.replace(/\{([^{}]+)\}/g, (_, path: string) => {
    const part = textAt(place, path);
    if (part === undefined) isWhole = false;
    return isAddress ? encodeURI(part ?? '') : (part ?? '');
  });
  return isWhole ? text : undefined;
}

function readAs(text: string, as: As): string | undefined {
  switch (as) {
    case 'plain':
      return withoutTags(text);
    case 'date':
      return dateOf(text);
    case 'seconds':
      return timeOf(Number(text) * 1000);
    case 'milliseconds':
      return timeOf(Number(text));
    default:
      return text;
  }
}

/** Tags of titles and abstracts (JATS, HTML) say how a text looks. */
function withoutTags(text: string): string {
  return text
    .replace(/<[^<>]{0,500}>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

/** `2024`, `2024-03`, `2024-03-15`, with a time behind it or none; undefined for what is no date. */
export function dateOf(text: string): string | undefined {
  const [, named, name = '', namedDay] = /^(\d{4})[\s-]+([A-Za-z]{3})[a-z]*(?:[\s-]+(\d{1,2}))?/.exec(text) ?? [];
  const month = MONTHS.indexOf(name.toLowerCase());
  if (named !== undefined && month >= 0) return checkedDate(named, String(month + 1), namedDay);
  const [, packed, packedMonth, packedDay] = /^(\d{4})(\d{2})(\d{2})(?!\d)/.exec(text) ?? [];
  if (packed !== undefined) return checkedDate(packed, packedMonth, packedDay);
  const [whole = '', year, ofYear, day] = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?!\d)/.exec(text) ?? [];
  const date = year === undefined ? undefined : checkedDate(year, ofYear, day);
  if (date === undefined || day === undefined) return date;
  const [time] = /^[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/.exec(text.slice(whole.length)) ?? [];
  return time === undefined ? date : `${date}T${time.slice(1)}`;
}

/** Parts that are 0 are not known (`2016-02-00`). */
function checkedDate(year: string, ofYear: string | undefined, ofMonth: string | undefined): string | undefined {
  const month = Number(ofYear) === 0 ? undefined : ofYear;
  const day = Number(ofMonth) === 0 ? undefined : ofMonth;
  if (month === undefined) return year;
  const [m, d] = [Number(month), Number(day ?? 1)];
  if (m < 1 || m > 12 || d < 1 || d > 31) return undefined;
  const text = `${year}-${String(m).padStart(2, '0')}`;
  return day === undefined ? text : `${text}-${String(d).padStart(2, '0')}`;
}

function timeOf(ms: number): string | undefined {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** Year, month and day as numbers, the last ones of which may lack. */
function dateOfParts(parts: readonly unknown[]): string | undefined {
  const [year, month, day] = parts.map((part) => textOf(part));
  if (year === undefined || !/^\d{4}$/.test(year)) return undefined;
  return checkedDate(year, month, month === undefined ? undefined : day);
}

/** Words with their places, as OpenAlex keeps abstracts. */
function textOfInverted(index: unknown): string | undefined {
  if (!isObject(index)) return undefined;
  const words: string[] = [];
  for (const [word, places] of Object.entries(index))
    for (const place of Array.isArray(places) ? places : [])
      if (Number.isSafeInteger(place) && place >= 0 && place < MOST_CHARACTERS) words[place as number] = word;
  return words.filter((word) => word !== undefined).join(' ');
}
