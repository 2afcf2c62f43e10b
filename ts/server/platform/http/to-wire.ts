/**
 * A record as the API spells it, where that is all the difference: `lastVersion` becomes `last_version`, `isPinned` `pinned`, undefined null,
 * and the milliseconds of a member that ends in `At` an ISO time.
 */

type Snake<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Rest>}`
  : '';
type Spelled<K extends string> = K extends `is${infer Rest}`
  ? Rest extends Capitalize<Rest>
    ? Snake<Uncapitalize<Rest>>
    : Snake<K>
  : Snake<K>;
type NullFor<T> = undefined extends T ? null : never;

export type Wire<T> = {
  [K in keyof T & string as Spelled<K>]: K extends `${string}At`
    ? string | NullFor<T[K]>
    : Exclude<T[K], undefined> | NullFor<T[K]>;
};

const spellings = new Map<string, string>();

/** Members of its members stay as they are. */
export function toWire<T extends object>(record: T): Wire<T> {
  const members = Object.entries(record).map(([name, value]) => [spelled(name), wireValue(name, value)]);
  return Object.fromEntries(members) as Wire<T>;
}

function wireValue(name: string, value: unknown): unknown {
  if (value === undefined) return null;
  return name.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value;
}

/** There are few names, and each is spelled for every row. */
function spelled(name: string): string {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const spelling = name
    .replace(/^is(?=[A-Z])/, '')
    .replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
  spellings.set(name, spelling);
  return spelling;
}
