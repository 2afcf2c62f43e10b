/** Entity tags of resources (RFC 7644 section 3.14): a hash of what clients may write, so that nothing has to be counted. */
import { hash } from 'node:crypto';
import { scimError } from './errors.ts';
import type { ResourceKind } from './resource/attribute.ts';
import type { Resource } from './resource/resource.ts';

export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

export const SCIM_BASE = '/scim/v2';
const LENGTH = 16;

function versionOf(writable: Resource): string {
  return `W/"${hash('sha256', JSON.stringify(writable), 'base64url').slice(0, LENGTH)}"`;
}

export function withMeta(
  kind: ResourceKind,
  resource: Resource & { id: string },
  /** Unix milliseconds. */
  times: { created: number; lastModified: number },
  writable: Resource,
): Resource {
  const location = `${SCIM_BASE}${kind.endpoint}/${resource.id}`;
  const [created, lastModified] = [times.created, times.lastModified].map((ms) => new Date(ms).toISOString());
  return { ...resource, meta: { resourceType: kind.name, created, lastModified, location, version: versionOf(writable) } };
}

/** Throws `precondition_failed` when the client knows another version of what it wants to change. */
export function requireMatch({ ifMatch }: Conditions, writable: Resource): void {
  if (ifMatch === undefined || isListed(ifMatch, versionOf(writable))) return;
  throw scimError('precondition_failed', 'The resource has changed since this version of it; read it again.');
}

export function isListed(header: string, version: string): boolean {
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim() === version);
}
