/** Query strings to plain objects. */
import { HttpError } from '../errors.ts';

/** A name that repeats becomes an array where the schema wants one and is refused elsewhere: picking one of two is a guess. */
export function parseQuery(query: string, arrayNames: ReadonlySet<string>): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === '__proto__') continue;
    const before = Object.hasOwn(values, name) ? values[name] : undefined;
    if (arrayNames.has(name)) values[name] = [...((before as string[] | undefined) ?? []), value];
    else if (before === undefined) values[name] = value;
    else
      throw new HttpError(400, 'invalid_request', `\`${name.slice(0, 60)}\` is given more than once in the query.`, {
        param: name,
      });
  }
  return values;
}
