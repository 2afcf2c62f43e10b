/** The largest values that a schema admits, of the characters that are worst for who reads them. */
import type { Schema } from './request-places.ts';

/** Each costs something else: folding, escaping, splitting, tokens, trimming, backtracking. */
export const WORST_CHARACTERS = [' ', '\u0301\u0323', '<', '[', '\\', '"', '漢', '🦙', '7', '{"a":', '\n'] as const;
/** Some schemas bound nothing but what a pattern says. */
const PLAIN = ['a', '0', 'A', 'f', '_'] as const;
/** Of a list or a map without a bound. */
const MOST_ITEMS = 100_000;

/** Undefined: no value of the schema is large. `bytes` is what its JSON may take. */
export function largestValue(schema: Schema, characters: string, bytes: number): unknown {
  if (schema.const !== undefined || schema.enum !== undefined) return undefined;
  const branches = schema.anyOf?.map((each) => largestValue(each, characters, bytes)).filter((each) => each !== undefined);
  if (branches !== undefined) return branches.at(-1);
  const types = typesOf(schema);
  if (types.includes('array')) return list(schema, characters, bytes);
  if (types.includes('string')) return text(schema, characters, bytes);
  if (types.includes('integer') || types.includes('number')) return schema.maximum;
  return types.includes('object') ? map(schema, characters, bytes) : undefined;
}

function typesOf({ type = [] }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function text({ maxLength = Number.POSITIVE_INFINITY, pattern }: Schema, characters: string, bytes: number): string | undefined {
  const of = (unit: string): string => {
    const unitBytes = JSON.stringify(unit).length - 2 + Buffer.byteLength(unit) - unit.length;
    return unit.repeat(Math.max(1, Math.min(Math.floor(bytes / unitBytes), Math.floor(maxLength / unit.length))));
  };
  if (pattern === undefined) return of(characters);
  const isTaken = new RegExp(pattern, 'u');
  return [characters, ...PLAIN].map(of).find((each) => isTaken.test(each));
}

/** Many items, each as small as it may be, are worse than a few large ones, which other places have. */
function list({ items, maxItems = MOST_ITEMS }: Schema, characters: string, bytes: number): unknown[] | undefined {
  const item = items === undefined ? {} : smallItem(items, characters);
  if (item === undefined) return undefined;
  const itemBytes = JSON.stringify(item).length + 1;
  return Array.from({ length: Math.max(1, Math.min(maxItems, Math.floor(bytes / itemBytes))) }, () => item);
}

function smallItem(schema: Schema, characters: string): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  if (typesOf(schema).includes('object') || schema.properties !== undefined) {
    const members = Object.entries(schema.properties ?? {}).map(([name, each]) => [
      name,
      each.const ?? largestValue(each, characters, 16),
    ]);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }
  return largestValue(schema, characters, 16) ?? 0;
}

/** Of an object that says not what is in it: as many members as fit. */
function map({ properties = {} }: Schema, characters: string, bytes: number): object {
  const named = Object.entries(properties);
  if (named.length > 0)
    return Object.fromEntries(
      named
        .map(([name, each]) => [name, largestValue(each, characters, bytes / named.length)])
        .filter(([, value]) => value !== undefined),
    );
  const nMembers = Math.min(MOST_ITEMS, Math.floor(bytes / 32));
  return Object.fromEntries(Array.from({ length: nMembers }, (_, i) => [`${characters}${i}`, characters]));
}
