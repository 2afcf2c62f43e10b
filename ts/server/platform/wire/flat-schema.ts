/**
 * Tables of FlatBuffers (https://flatbuffers.dev/internals/) as data: the members of a table in the order of its `.fbs` file, where new ones come last. Whoever
 * reads an older table finds their defaults, and one that is newer has members that are not looked at. Names are in camelCase here.
 */

/** Numbers that stand in the table itself, by their bytes. A `ulong` is a whole number that JavaScript has exactly. */
export const NUMBER_BYTES = { bool: 1, ubyte: 1, uint: 4, ulong: 8, double: 8 } as const;
/** Vectors of numbers, by the bytes of an element. */
export const ELEMENT_BYTES = { '[ubyte]': 1, '[int]': 4, '[float]': 4 } as const;

type Kind = keyof typeof NUMBER_BYTES | keyof typeof ELEMENT_BYTES | 'string' | '[string]';
/** One element: a list of such tables. */
export type Member = Kind | FlatSchema | readonly [FlatSchema];
export interface FlatSchema {
  readonly [name: string]: Member;
}

interface Values {
  bool: boolean;
  ubyte: number;
  uint: number;
  ulong: number;
  double: number;
  string: string;
  '[string]': readonly string[];
  '[ubyte]': Uint8Array;
  '[int]': Int32Array;
  '[float]': Float32Array;
}

type ValueOf<M> = M extends Kind ? Values[M] : M extends readonly [infer S] ? readonly FlatTable<S>[] : FlatTable<M> | undefined;
/** A table as it is read: of what is absent false, 0, an empty text or list, and no table. */
export type FlatTable<S> = { readonly [N in keyof S]: ValueOf<S[N]> };
/** A table as it is written: what is left out is absent. */
export type FlatDraft<S> = { readonly [N in keyof S]?: DraftOf<S[N]> | undefined };
type DraftOf<M> = M extends Kind ? Values[M] : M extends readonly [infer S] ? readonly FlatDraft<S>[] : FlatDraft<M>;

export function isNumber(member: Member): member is keyof typeof NUMBER_BYTES {
  return typeof member === 'string' && Object.hasOwn(NUMBER_BYTES, member);
}

export function isVector(member: Member): member is keyof typeof ELEMENT_BYTES {
  return typeof member === 'string' && Object.hasOwn(ELEMENT_BYTES, member);
}

export function isList(member: Member): member is readonly [FlatSchema] {
  return Array.isArray(member);
}

export function bytesInTable(member: Member): number {
  return isNumber(member) ? NUMBER_BYTES[member] : 4;
}
