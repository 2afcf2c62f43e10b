/** Texts of a query or path as the numbers and booleans that a schema wants, where they are written as such and as nothing else. */
import type { SchemaNode } from './accepted.ts';

const INTEGER = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Members of an object by the schema's properties. What cannot be read stays a text, which the schema then refuses. */
export function readTexts(schema: SchemaNode, raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, SchemaNode | undefined>;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      readText(Object.hasOwn(properties, name) ? properties[name] : undefined, value),
    ]),
  );
}

function readText(node: SchemaNode | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => readText(node?.['items'] as SchemaNode | undefined, item));
  if (typeof value !== 'string') return value;
  switch (node?.['type']) {
    case 'integer':
      return INTEGER.test(value) ? Number(value) : value;
    case 'number':
      return NUMBER.test(value) ? Number(value) : value;
    case 'boolean':
      return BOOLEANS.get(value) ?? value;
    default:
      return value;
  }
}
