/** Members of bodies of which there is one for each kind of things that modules registered. */
import type { TSchema } from 'typebox';
import type { UseKind } from '../../platform/module/use-rules.ts';

type KeyOf = (kind: UseKind) => string;

/** To be spread into the properties of an object. The types know none of them: which kinds there are is known when the server is made. */
export function schemasByKind(
  kinds: readonly UseKind[],
  keyOf: KeyOf,
  schemaOf: (kind: UseKind) => TSchema,
): Readonly<Record<never, TSchema>> {
  return Object.fromEntries(kinds.map((kind) => [keyOf(kind), schemaOf(kind)]));
}

/** What a body that was checked against them says, by the names of the kinds; those that it leaves out are absent. */
export function readByKind<Value>(kinds: readonly UseKind[], keyOf: KeyOf, body: object): Record<string, Value> {
  const members = new Map<string, Value>(Object.entries(body));
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const value = members.get(keyOf(kind));
      return value === undefined ? [] : [[kind.name, value] as const];
    }),
  );
}

/** The members of an answer. */
export function writeByKind<Value>(kinds: readonly UseKind[], keyOf: KeyOf, read: (kind: string) => Value) {
  return Object.fromEntries(kinds.map((kind) => [keyOf(kind), read(kind.name)]));
}

export const nameOf: KeyOf = ({ name }) => name;
/** Of a tenant: whether all things of the kind may be used. */
export const accessOf: KeyOf = ({ one }) => `${one}_access`;
