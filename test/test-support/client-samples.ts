/** Values of a client's own types, made from the types. */
import ts from 'typescript';
import type { ClientTypes } from '../../scripts/check/client-types.ts';

/** Deeper members are left out where they are optional. */
const MOST_DEPTH = 4;

/** Each literal and each branch of a union once; each optional member of an object once, beside those that it must have. */
export function samplesOf(types: ClientTypes, type: ts.Type, depth = 0): unknown[] {
  const { checker } = types;
  if (type.isUnion()) return type.types.flatMap((each) => samplesOf(types, each, depth));
  if (type.isIntersection()) return ['some text'];
  if (type.isLiteral()) return [type.value];
  if ((type.flags & ts.TypeFlags.BooleanLiteral) !== 0) return [checker.typeToString(type) === 'true'];
  if ((type.flags & ts.TypeFlags.Boolean) !== 0) return [true, false];
  if ((type.flags & ts.TypeFlags.String) !== 0) return ['some text'];
  if ((type.flags & ts.TypeFlags.Number) !== 0) return [1];
  if ((type.flags & ts.TypeFlags.Null) !== 0) return [null];
  if ((type.flags & ts.TypeFlags.Undefined) !== 0) return [];
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return [{ some: 'value' }];
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference);
    return [[], ...(item === undefined ? [] : samplesOf(types, item, depth + 1).map((each) => [each]))];
  }
  return depth > MOST_DEPTH ? [{}] : samplesOfObject(types, type, depth);
}

function samplesOfObject(types: ClientTypes, type: ts.Type, depth: number): unknown[] {
  const members = types.members(type);
  const index = types.checker.getIndexInfosOfType(type)[0];
  const needed: Record<string, unknown> = index === undefined ? {} : { key: samplesOf(types, index.type, depth + 1)[0] };
  for (const { name, type: of, isOptional } of members) if (!isOptional) needed[name] = samplesOf(types, of, depth + 1)[0];
  if (depth >= MOST_DEPTH) return [needed];
  const varied = members.flatMap(({ name, type: of, isOptional }) =>
    samplesOf(types, of, depth + 1)
      .slice(isOptional ? 0 : 1)
      .map((value) => ({ ...needed, [name]: value })),
  );
  return [needed, ...varied];
}
