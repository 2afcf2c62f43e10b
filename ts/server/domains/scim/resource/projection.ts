/** Which attributes an answer holds: `attributes` and `excludedAttributes` (RFC 7644 section 3.9). */
import type { ResourceKind } from './attribute.ts';
import { resolvePath } from './attribute-path.ts';
import { isObject, type Resource } from './resource.ts';

export interface Projection {
  attributes: string | undefined;
  excludedAttributes: string | undefined;
}

/** Always there, whatever was asked for. */
const ALWAYS = ['schemas', 'id'];

export function project(kind: ResourceKind, resource: Resource, { attributes, excludedAttributes }: Projection): Resource {
  if (attributes !== undefined) return only(kind, resource, namesOf(attributes));
  if (excludedAttributes !== undefined) return without(kind, resource, namesOf(excludedAttributes));
  return resource;
}

/** Whether an answer needs an attribute that costs reading. */
export function isWanted({ attributes, excludedAttributes }: Projection, name: string): boolean {
  const isNamed = (list: string): boolean => namesOf(list).some((each) => each.toLowerCase().split(/[.:]/).includes(name));
  if (attributes !== undefined) return isNamed(attributes);
  return excludedAttributes === undefined || !isNamed(excludedAttributes);
}

function only(kind: ResourceKind, resource: Resource, names: readonly string[]): Resource {
  const kept: Resource = {};
  for (const name of ALWAYS) if (resource[name] !== undefined) kept[name] = resource[name];
  for (const name of names) {
    const { extension, attribute, sub } = resolvePath(kind, name) ?? {};
    if (extension !== undefined) {
      if (resource[extension.urn] !== undefined) kept[extension.urn] = resource[extension.urn];
    } else if (attribute !== undefined && resource[attribute.name] !== undefined) {
      kept[attribute.name] = sub === undefined ? resource[attribute.name] : part(resource[attribute.name], sub.name);
    }
  }
  return kept;
}

function without(kind: ResourceKind, resource: Resource, names: readonly string[]): Resource {
  const kept = { ...resource };
  for (const name of names) {
    const { extension, attribute, sub } = resolvePath(kind, name) ?? {};
    const member = extension?.urn ?? attribute?.name;
    if (member !== undefined && sub === undefined && !ALWAYS.includes(member)) Reflect.deleteProperty(kept, member);
  }
  return kept;
}

function part(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => part(each, name));
  return isObject(value) && value[name] !== undefined ? { [name]: value[name] } : {};
}

function namesOf(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
