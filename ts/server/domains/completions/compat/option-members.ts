/** Members of a request's body, made of a table of options: their schemas, and their values as the engine takes them. */
import type { TOptional, TUnsafe } from 'typebox';
import type { Option, OptionTable, OptionValue, OptionValues } from '../../../native/options/option.ts';
import { nullableBoolean, nullableInteger, nullableList, nullableNumber } from './nullable.ts';

type WireName<O> = O extends { wire: { name: infer N extends string } } ? N : never;

/** By the names in the body. */
export type MemberSchemas<T> = { [K in keyof T as WireName<T[K]>]: TOptional<TUnsafe<OptionValue<T[K]> | null>> };

export type MemberValues<T> = { [K in keyof T as WireName<T[K]>]?: OptionValue<T[K]> | null | undefined };

/** A character takes up to four bytes. */
const bytesPerCharacter = 4;

export function membersOf<const T extends OptionTable>(table: T): MemberSchemas<T> {
  const members = Object.values<Option>(table).flatMap((option) =>
    option.wire === undefined ? [] : [[option.wire.name, schemaOf(option)]],
  );
  return Object.fromEntries(members) as MemberSchemas<T>;
}

function schemaOf(option: Option) {
  const { help } = option;
  switch (option.kind) {
    case 'integer':
      return nullableInteger(option.wire?.minimum ?? option.minimum, option.wire?.maximum ?? option.maximum, help);
    case 'number':
      return nullableNumber(option.wire?.minimum ?? option.minimum, option.wire?.maximum ?? option.maximum, help);
    case 'boolean':
      return nullableBoolean(help);
    case 'choices': {
      const names = Object.keys(option.choices);
      return nullableList<string>({ type: 'string', enum: names }, names.length, help);
    }
    case 'texts': {
      const maxLength = Math.floor(option.mostBytes / bytesPerCharacter);
      return nullableList<string>({ type: 'string', minLength: 1, maxLength }, option.most, help);
    }
    default:
      throw new Error(`no member of a body is of the kind ${option.kind}`);
  }
}

/** Those that the body names; null means absent. */
export function readMembers<const T extends OptionTable>(table: T, body: MemberValues<T>): OptionValues<T> {
  const values = Object.entries<Option>(table).flatMap(([key, { wire }]) => {
    const value = wire === undefined ? undefined : (body as Record<string, unknown>)[wire.name];
    if (value === undefined || value === null) return [];
    return [[key, value === -1 && wire?.minusOne !== undefined ? wire.minusOne : value]];
  });
  return Object.fromEntries(values) as OptionValues<T>;
}
