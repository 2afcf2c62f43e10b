/** The address that a call of an operation asks. What callers gave is escaped for the place where it stands, so that it never leaves it. */
import type { Adapter, RequestTemplate } from '../adapters/adapter.ts';

export type Arguments = Readonly<Record<string, string | number | undefined>>;

/** How a parameter is written where it stands in a language of the source. */
const FILTERS: Readonly<Record<string, (text: string) => string>> = {
  /** It stands within a JSON or SPARQL string. */
  json: (text) => JSON.stringify(text).slice(1, -1),
  /** It stands within an SQL or OData string. */
  sql: (text) => text.replaceAll("'", "''"),
  /** It stands within a phrase that has no escapes. */
  phrase: (text) => text.replace(/["\\]/g, ' '),
  /** Words alone, for languages with signs of their own. */
  words: (text) => wordsOf(text).join(' '),
  /** Every word, in the language of arXiv. */
  arxiv: (text) =>
    wordsOf(text)
      .map((word) => `all:${word}`)
      .join(' AND '),
  /** It stands within the pattern of an SQL `like`, in small letters. */
  like: (text) =>
    text
      .toLowerCase()
      .replaceAll("'", "''")
      .replace(/[%_\\]/g, ' '),
  /** Names separated by commas, each as a JSON string. */
  quoted: (text) =>
    text
      .split(',')
      .map((one) => JSON.stringify(one))
      .join(','),
  digits: (text) => text.replace(/\D/g, ''),
  /** It shortens a date. */
  year: (text) => text.slice(0, 4),
  month: (text) => text.slice(0, 7),
  slashes: (text) => text.replaceAll('-', '/'),
};

function wordsOf(text: string): string[] {
  return text
    .replace(/[^\p{L}\p{N}\s.-]/gu, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}

const PLACEHOLDER = /\{([a-z][a-z0-9_]*)(?:\|([a-z]+))?\}/g;

/** An argument cannot be part of an address. */
export class AddressFault extends Error {
  override readonly name = 'AddressFault';
}

/** Throws an AddressFault for an argument that would lead to another path. */
export function addressOf(
  adapter: Pick<Adapter, 'base_url' | 'identify'>,
  template: RequestTemplate,
  args: Arguments,
  contact: string,
): URL {
  const path = filled(template.path, args, encodeURIComponent);
  if (path === undefined) throw new AddressFault('An argument that is part of the address is missing.');
  // A URL takes such a segment, written in either way, for the folder above.
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) throw new AddressFault('An argument that is part of the address is `.` or `..`.');
  const url = new URL(/^https?:\/\//.test(template.path) ? path : adapter.base_url + path);
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') url.searchParams.append(name, value);
  };
  for (const [name, value] of Object.entries(template.query)) {
    if (typeof value === 'string') add(name, filled(value, args));
    else add(name, value.join.flatMap((part) => filled(part, args) ?? []).join(value.with));
  }
  for (const [name, value] of Object.entries(adapter.identify ?? {}))
    add(name, filled(value, { contact: contact === '' ? undefined : contact }));
  return url;
}

/** The names that a template has, with their filters. */
export function placeholdersOf(template: string): { name: string; filter: string | undefined }[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '', filter]) => ({ name, filter }));
}

export function isFilter(name: string): boolean {
  return Object.hasOwn(FILTERS, name);
}

/** Undefined where an argument is absent. */
function filled(template: string, args: Arguments, encode: (text: string) => string = (text) => text): string | undefined {
  let isWhole = true;
  const text = template.replace(PLACEHOLDER, (_, name: string, filter?: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined) isWhole = false;
    // Half of a pair cannot be part of an address.
    const written = String(value ?? '').toWellFormed();
    return encode(filter === undefined ? written : (FILTERS[filter]?.(written) ?? ''));
  });
  return isWhole ? text : undefined;
}
