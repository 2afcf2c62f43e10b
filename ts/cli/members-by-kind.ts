/** Options and columns of which there is one for each kind of things that groups grant and tokens are narrowed to. */
import { USE_KINDS } from '../client/use-kinds.ts';
import type { Option } from './command.ts';
import type { Columns } from './format.ts';

interface Kind {
  name: string;
  one: string;
  labels: readonly [one: string, many: string];
  word?: string;
}

type NameOf = (kind: Kind) => string;

const kinds: readonly Kind[] = USE_KINDS;

/** To be spread into a table of options, whose type knows none of them; `valuesByKind` reads them. */
export function optionsByKind(optionName: NameOf, optionOf: (kind: Kind) => Option): Readonly<Record<never, Option>> {
  return Object.fromEntries(kinds.map((kind) => [optionName(kind), optionOf(kind)]));
}

/** Those that were given, as members of a body. */
export function valuesByKind(optionName: NameOf, member: NameOf, options: object): Readonly<Record<never, never>> {
  const given = new Map(Object.entries(options));
  return Object.fromEntries(
    kinds.map((kind) => [member(kind), given.get(optionName(kind))]).filter(([, value]) => value !== undefined),
  );
}

export function columnsByKind<Row>(head: NameOf, textOf: (row: Row, kind: Kind) => string | null): Columns<Row> {
  return Object.fromEntries(kinds.map((kind) => [head(kind).toUpperCase(), (row: Row) => textOf(row, kind)]));
}

/** What a row says of a kind, under this name; undefined: nothing. */
export function memberOf<Value>(row: object, name: string): Value | undefined {
  return new Map<string, Value>(Object.entries(row)).get(name);
}
