/** Query strings to plain objects. */
import { decodedTextFault, textFault } from '../../text/given-text.ts';
import { HttpError } from '../errors.ts';

/**
 * A name that repeats becomes an array where the schema wants one and is refused elsewhere: picking one of two is a guess. Throws HttpError 400
 * for a value that is no text, see given-text.ts.
 */
export function parseQuery(query: string, arrayNames: ReadonlySet<string>): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [name, value] of pairsOf(query)) {
    if (name === '__proto__') continue;
    const before = Object.hasOwn(values, name) ? values[name] : undefined;
    if (arrayNames.has(name)) values[name] = [...((before as string[] | undefined) ?? []), value];
    else if (before === undefined) values[name] = value;
    else throw refusal(name, 'is given more than once in the query');
  }
  return values;
}

/** As URLSearchParams reads them, which puts U+FFFD in the place of escapes that are no UTF-8. */
function pairsOf(query: string): [name: string, value: string][] {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      const name = decode(at < 0 ? pair : pair.slice(0, at), pair);
      return [name, at < 0 ? '' : decode(pair.slice(at + 1), name)];
    });
}

function decode(encoded: string, name: string): string {
  // A percent sign that starts no escape is one, as browsers read it.
  const escapes = encoded.replaceAll('+', ' ').replace(/%(?![0-9a-fA-F]{2})/g, '%25');
  const text = decodeEscapes(escapes);
  if (text === undefined) throw refusal(name, 'holds escapes that are not UTF-8; encode it as UTF-8');
  const fault = decodedTextFault(encoded) ?? textFault(text);
  if (fault !== undefined) throw refusal(name, fault);
  return text;
}

/** Undefined: an escape is no UTF-8, or a percent sign starts none. */
export function decodeEscapes(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function refusal(name: string, fault: string): HttpError {
  const shown = name.slice(0, 60).toWellFormed();
  return new HttpError(400, 'invalid_request', `\`${shown}\` ${fault}.`, { param: shown });
}
