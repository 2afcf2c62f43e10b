/** An account as a SCIM resource, and what of a resource becomes of an account. */
import type { UserDraft, UserRow } from '../identity/index.ts';
import { ENTERPRISE, USER } from './resource/kinds.ts';
import { isObject, type Resource } from './resource/resource.ts';
import { invalidScim } from './scim-error.ts';
import { withMeta } from './versioned.ts';

/** Groups of an account, as its resource names them. */
interface GroupReference {
  id: string;
  name: string;
}

const MAX_PROFILE_LENGTH = 64 * 1024;
const MAX_EXTERNAL_ID = 512;
/** They stand in columns of their own, or are not kept. */
const NOT_PROFILE = ['schemas', 'id', 'meta', 'userName', 'externalId', 'active', 'password', 'groups'];

/** What a client may write of the account. */
export function writableUser(row: UserRow): Resource {
  return {
    ...(JSON.parse(row.profile) as Resource),
    userName: row.username,
    active: row.disabled === 0,
    ...(row.external_id !== null && { externalId: row.external_id }),
  };
}

export function userResource(row: UserRow, groups: readonly GroupReference[]): Resource {
  const own = writableUser(row);
  // An account that no directory filled in has the address that it registered with.
  if (own['emails'] === undefined && row.email !== null) own['emails'] = [{ value: row.email, type: 'work', primary: true }];
  const schemas = [USER.core.urn, ...(own[ENTERPRISE] === undefined ? [] : [ENTERPRISE])];
  const references = groups.map(({ id, name }) => ({ value: id, $ref: `/scim/v2/Groups/${id}`, display: name, type: 'direct' }));
  const times = { created: row.created_at, lastModified: row.updated_at };
  const resource = { schemas, id: row.id, ...own, ...(references.length > 0 && { groups: references }) };
  return withMeta(USER, resource, times, own);
}

/** Throws invalidValue. */
export function userDraft(resource: Resource): UserDraft {
  const username = resource['userName'];
  if (typeof username !== 'string') throw invalidScim('invalidValue', 'userName is missing.');
  const profile = JSON.stringify(Object.fromEntries(Object.entries(resource).filter(([name]) => !NOT_PROFILE.includes(name))));
  if (profile.length > MAX_PROFILE_LENGTH) throw invalidScim('invalidValue', 'The resource is too large.');
  const password = resource['password'];
  return {
    username,
    profile,
    externalId: externalIdOf(resource),
    isDisabled: resource['active'] === false,
    email: emailOf(resource),
    password: typeof password === 'string' ? password : undefined,
  };
}

/** The preferred address, else the first; undefined: none that can be one. */
export function emailOf(resource: Resource): string | undefined {
  const emails = (Array.isArray(resource['emails']) ? (resource['emails'] as unknown[]) : []).filter(isObject);
  const chosen = emails.find(({ primary }) => primary === true) ?? emails[0];
  const value = chosen?.['value'];
  return typeof value === 'string' && /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(value) ? value : undefined;
}

export function externalIdOf(resource: Resource): string | null {
  const id = resource['externalId'];
  if (typeof id !== 'string' || id === '') return null;
  if (id.length > MAX_EXTERNAL_ID) throw invalidScim('invalidValue', `externalId is longer than ${MAX_EXTERNAL_ID} characters.`);
  return id;
}
