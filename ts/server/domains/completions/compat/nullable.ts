/** Schemas of optional members in which null means absent, as the OpenAI SDKs send it. */
import Type, { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox';

type Nullable<T> = TOptional<TUnsafe<T | null>>;

/** A type array keeps the range errors of one schema; anyOf would hide them behind its own. */
function nullable<T>(type: string, schema: TSchema | Record<string, unknown>): Nullable<T> {
  return Type.Optional(Type.Unsafe<T | null>({ ...schema, type: [type, 'null'] }));
}

export function nullableInteger(minimum: number, maximum: number, description: string): Nullable<number> {
  return nullable('integer', { minimum, maximum, description });
}

export function nullableNumber(minimum: number, maximum: number, description: string): Nullable<number> {
  return nullable('number', { minimum, maximum, description });
}

export function nullableBoolean(description: string): Nullable<boolean> {
  return nullable('boolean', { description });
}

export function nullableString(description: string, options: { maxLength?: number; enum?: string[] } = {}): Nullable<string> {
  const { enum: values, ...rest } = options;
  return nullable('string', { description, ...rest, ...(values ? { enum: [...values, null] } : {}) });
}

/** An object of any members; the code that reads it checks them. */
export function nullableRecord(description: string): Nullable<Record<string, unknown>> {
  return nullable('object', { description });
}

/** An object whose members are named; others in it are taken too. */
export function nullableObject<P extends TProperties>(description: string, members: P): Nullable<Static<TObject<P>>> {
  return nullable('object', { ...Type.Object(members), description });
}

export function nullableList<T>(items: TSchema | Record<string, unknown>, maxItems: number, description: string): Nullable<T[]> {
  return nullable('array', { items, maxItems, description });
}

/** Either of two shapes, or null. */
export function nullableEither<T>(types: string[], description: string, rest: Record<string, unknown> = {}): Nullable<T> {
  return Type.Optional(Type.Unsafe<T | null>({ type: [...types, 'null'], description, ...rest }));
}
