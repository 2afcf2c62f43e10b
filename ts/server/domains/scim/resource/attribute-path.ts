/** Names of attributes, as filters and patches spell them, found in a kind of resource. */
import { type Attribute, attributesOf, findAttribute, type ResourceKind, type ResourceSchema } from './attribute.ts';

export interface AttributePath {
  /** The extension whose attribute it is; undefined: the resource's own. */
  extension: ResourceSchema | undefined;
  /** Undefined: the whole extension. */
  attribute: Attribute | undefined;
  sub: Attribute | undefined;
}

/**
 * `userName`, `name.givenName`, or with the URN of a schema in front. Entra ID filters by `manager` without the URN of its extension. Undefined: there is
 * no such attribute.
 */
export function resolvePath(kind: ResourceKind, text: string): AttributePath | undefined {
  if (!text.toLowerCase().startsWith('urn:')) return withoutUrn(kind, text);
  for (const schema of [kind.core, ...kind.extensions]) {
    const extension = schema === kind.core ? undefined : schema;
    if (text.toLowerCase() === schema.urn.toLowerCase()) return extension && { extension, attribute: undefined, sub: undefined };
    if (text.toLowerCase().startsWith(`${schema.urn.toLowerCase()}:`)) {
      return within(kind, extension, text.slice(schema.urn.length + 1));
    }
  }
  return undefined;
}

function withoutUrn(kind: ResourceKind, text: string): AttributePath | undefined {
  for (const extension of [undefined, ...kind.extensions]) {
    const found = within(kind, extension, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

function within(kind: ResourceKind, extension: ResourceSchema | undefined, text: string): AttributePath | undefined {
  const [name = '', subName, ...rest] = text.split('.');
  if (rest.length > 0) return undefined;
  const attribute = findAttribute(extension?.attributes ?? attributesOf(kind), name);
  if (attribute === undefined) return undefined;
  if (subName === undefined) return { extension, attribute, sub: undefined };
  const sub = findAttribute(attribute.sub ?? [], subName);
  return sub && { extension, attribute, sub };
}
