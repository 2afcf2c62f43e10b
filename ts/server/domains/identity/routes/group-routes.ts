/** Groups, for administrators. */
import Type, { type Static } from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import { nameKey } from '../accounts/account-name.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { identityErrors } from '../errors.ts';
import { type GroupSchemas, groupBody, groupSchemas, NewMembers } from '../groups/group-schemas.ts';
import type { CountedGroup } from '../groups/group-store.ts';
import type { Groups, GroupUpdate } from '../groups/groups.ts';
import { accessOf, nameOf, readByKind } from '../members-by-kind.ts';
import * as schemas from '../schemas.ts';

const path = '/api/v1/identity/groups';
const MAX_BODY = 1024 * 1024;
const { Id } = schemas;

const { get, post, patch, del } = routes({
  tag: 'Identity',
  auth: 'admin',
  scope: 'identity:manage',
  maxBody: MAX_BODY,
  errors: identityErrors,
});

/** What routes of groups say and read, which the registered kinds are part of. */
interface Shapes extends GroupSchemas {
  bodyOf(row: CountedGroup): ReturnType<typeof groupBody>;
  updateOf(body: Static<GroupSchemas['GroupPatch']>): GroupUpdate;
}

export function groupRoutes(groups: Groups, kinds: readonly UseKind[]): Route[] {
  const shapes = {
    ...groupSchemas(kinds),
    bodyOf: (row: CountedGroup) => groupBody(kinds, row),
    updateOf: (body: Static<GroupSchemas['GroupPatch']>) => updateOf(kinds, body),
  };
  return [...listAndCreate(groups, shapes, kinds), ...oneGroup(groups, shapes), ...memberRoutes(groups)];
}

function listAndCreate(groups: Groups, { Group, NewGroup, bodyOf, updateOf }: Shapes, kinds: readonly UseKind[]): Route[] {
  const accesses = kinds.map((kind) => `\`${accessOf(kind)}\``).join(', ');
  return [
    get(path, {
      scope: 'identity:read',
      summary: 'Groups of the tenant; for a superadmin those of all tenants',
      query: Type.Object({ ...PageQuery.properties, name: Type.Optional(Type.String({ maxLength: 200 })) }),
      answer: listOf(Group),
      handle: async ({ caller, query }) => {
        const { name } = query;
        const rows = await groups.list({ ...pageRead(query), nameKey: name && nameKey(name) }, caller);
        return page(rows, query.limit, bodyOf);
      },
    }),
    post(path, {
      summary: 'Make a group: a role for its members, and what they may use',
      description:
        `Grants count where the tenant limits a kind of things to what is granted (its ${accesses}). ` +
        'Administrators may use everything.',
      body: NewGroup,
      answer: Group,
      status: 201,
      errors: ['forbidden', 'tenant_not_found', 'group_exists'],
      handle: async (context) => {
        const { name, tenant } = context.body;
        const group = await groups.create({ ...updateOf(context.body), name, tenant }, auditSource(context));
        return bodyOf(group);
      },
    }),
  ];
}

function oneGroup(groups: Groups, { Group, GroupPatch, bodyOf, updateOf }: Shapes): Route[] {
  return [
    get(`${path}/{id}`, {
      scope: 'identity:read',
      summary: 'One group',
      params: Id,
      answer: Group,
      errors: ['group_not_found'],
      handle: async ({ params, caller }) => bodyOf(await groups.get(params.id, caller)),
    }),
    patch(`${path}/{id}`, {
      summary: 'Change a group; roles and grants of its members change at once',
      params: Id,
      body: GroupPatch,
      answer: Group,
      errors: ['forbidden', 'group_not_found', 'group_exists'],
      handle: async (context) => bodyOf(await groups.update(context.params.id, updateOf(context.body), auditSource(context))),
    }),
    del(`${path}/{id}`, {
      summary: 'Delete a group; its members lose what it gave them at once',
      params: Id,
      errors: ['group_not_found'],
      handle: async (context) => {
        await groups.remove(context.params.id, auditSource(context));
      },
    }),
  ];
}

function memberRoutes(groups: Groups): Route[] {
  return [
    get(`${path}/{id}/members`, {
      scope: 'identity:read',
      summary: 'Accounts of a group',
      params: Id,
      query: PageQuery,
      answer: listOf(schemas.User),
      errors: ['group_not_found'],
      handle: async ({ params, caller, query }) => {
        const { after, limit } = pageRead(query);
        const rows = await groups.members(params.id, after, limit, caller);
        return page(rows, query.limit, schemas.userBody);
      },
    }),
    post(`${path}/{id}/members`, {
      summary: 'Put accounts into a group',
      params: Id,
      body: NewMembers,
      errors: ['group_not_found', 'user_not_found'],
      handle: async (context) => {
        await groups.addMembers(context.params.id, context.body.users, auditSource(context));
      },
    }),
    del(`${path}/{id}/members/{user}`, {
      summary: 'Take an account out of a group',
      description: 'What the sign-in provider says of groups is written again when the account signs in there.',
      params: Type.Object({ ...Id.properties, user: Type.String({ minLength: 1, maxLength: 128 }) }),
      errors: ['group_not_found', 'user_not_found'],
      handle: async (context) => {
        await groups.removeMember(context.params.id, context.params.user, auditSource(context));
      },
    }),
  ];
}

function updateOf(
  kinds: readonly UseKind[],
  { grants, external_id: externalId, name, description, role }: Static<GroupSchemas['GroupPatch']>,
): GroupUpdate {
  return { name, description, role, externalId, grants: grants && readByKind<string[]>(kinds, nameOf, grants) };
}
