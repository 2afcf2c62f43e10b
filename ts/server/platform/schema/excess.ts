/** Finds the list or map that has more items or members than its schema takes. */
import type { SchemaNode } from './accepted.ts';

interface Excess {
  readonly keyword: string;
  /** JSON pointers. */
  readonly schemaPath: string;
  readonly instancePath: string;
}

/** A union stands for what is too long for one of its branches: the others may take it, and are named too. */
export function findExcess(schema: SchemaNode, value: unknown): { error: Excess & { params: object } } | undefined {
  const found = search(schema, value);
  return found === undefined ? undefined : { error: { ...found, schemaPath: `#${found.schemaPath}`, params: {} } };
}

function search(node: SchemaNode, value: unknown): Excess | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const keyword = ownExcess(node, value);
  if (keyword !== undefined) return { keyword, schemaPath: '', instancePath: '' };
  return searchBranches(node, value) ?? (Array.isArray(value) ? searchItems(node, value) : searchMembers(node, value));
}

function ownExcess(node: SchemaNode, value: object): 'maxItems' | 'maxProperties' | undefined {
  const isList = Array.isArray(value);
  const keyword = isList ? 'maxItems' : 'maxProperties';
  const most = node[keyword];
  return typeof most === 'number' && (isList ? value.length : Object.keys(value).length) > most ? keyword : undefined;
}

function searchBranches(node: SchemaNode, value: object): Excess | undefined {
  const branches = (node['anyOf'] ?? []) as SchemaNode[];
  const isFound = branches.some((branch) => search(branch, value) !== undefined);
  if (isFound) return { keyword: 'anyOf', schemaPath: '', instancePath: '' };
  const all = (node['allOf'] ?? []) as SchemaNode[];
  for (const [i, part] of all.entries()) {
    const found = search(part, value);
    if (found !== undefined) return { ...found, schemaPath: `/allOf/${i}${found.schemaPath}` };
  }
  return undefined;
}

function searchItems(node: SchemaNode, items: readonly unknown[]): Excess | undefined {
  for (const [i, item] of items.entries()) {
    const found = search((node['items'] ?? {}) as SchemaNode, item);
    if (found !== undefined) return under(found, '/items', String(i));
  }
  return undefined;
}

function searchMembers(node: SchemaNode, members: object): Excess | undefined {
  const properties = (node['properties'] ?? {}) as Record<string, SchemaNode>;
  const patterns = Object.entries((node['patternProperties'] ?? {}) as Record<string, SchemaNode>);
  for (const [name, member] of Object.entries(members)) {
    if (typeof member !== 'object' || member === null) continue;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const found = known === undefined ? undefined : search(known, member);
    if (found !== undefined) return under(found, `/properties/${encode(name)}`, name);
    for (const [pattern, schema] of known === undefined ? patterns : []) {
      const inPattern = search(schema, member);
      if (inPattern !== undefined) return under(inPattern, `/patternProperties/${encode(pattern)}`, name);
    }
  }
  return undefined;
}

function under(found: Excess, keyword: string, name: string): Excess {
  return { ...found, schemaPath: `${keyword}${found.schemaPath}`, instancePath: `/${encode(name)}${found.instancePath}` };
}

function encode(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
