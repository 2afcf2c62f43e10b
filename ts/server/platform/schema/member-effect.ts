/**
 * What becomes of a member of a request, as its schema says. The schema of a route is the one table of them: validation, refusals, OpenAPI and
 * the pages of members are made of it.
 */
import Type, { type TOptional, type TUnsafe } from 'typebox';
import type { SchemaNode } from './accepted.ts';

/**
 * `honoured` unless the schema says otherwise. `refused`: 400 unsupported_member, but for values that ask for nothing. `ignored`: taken in any
 * form, since no answer depends on it.
 */
type MemberEffect = 'honoured' | 'refused' | 'ignored';

/** An OpenAPI extension. */
const KEY = 'x-effect';

export function effectOf(node: SchemaNode): MemberEffect {
  return (node[KEY] as MemberEffect | undefined) ?? 'honoured';
}

/** @param remedy What the client may do in its place: the sentence of the refusal ends with it. @param accepted Values that ask for nothing. */
export function refusedMember<T = unknown>(remedy: string, accepted: SchemaNode = { type: 'null' }): TOptional<TUnsafe<T>> {
  return Type.Optional(Type.Unsafe<T>({ ...accepted, description: remedy, [KEY]: 'refused' }));
}

/** @param reason Why no answer depends on it. */
export function ignoredMember(reason: string): TOptional<TUnsafe<unknown>> {
  return Type.Optional(Type.Unsafe<unknown>({ description: reason, [KEY]: 'ignored' }));
}

/** Members of a schema and of the objects in it, by their dotted names. */
export function memberEffects(schema: SchemaNode, prefix = ''): { name: string; node: SchemaNode; effect: MemberEffect }[] {
  const properties = (schema['properties'] ?? {}) as Record<string, SchemaNode>;
  return Object.entries(properties).flatMap(([key, node]) => {
    const name = `${prefix}${key}`;
    return [{ name, node, effect: effectOf(node) }, ...memberEffects(node, `${name}.`)];
  });
}
