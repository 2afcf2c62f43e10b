/** Groups, for administrators. */
import Type, { type Static } from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { nameKey } from '../accounts/account-name.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { errorSpecs } from '../errors.ts';
import { Group, GroupPatch, groupBody, NewGroup, NewMembers } from '../groups/group-schemas.ts';
import type { Groups, GroupUpdate } from '../groups/groups.ts';
import * as schemas from '../schemas.ts';
import { DEFAULT_LIMIT, NO_CONTENT } from './answers.ts';

const tag = 'Identity';
const path = '/api/v1/identity/groups';
const MAX_BODY = 1024 * 1024;
const { Id } = schemas;
const read = { auth: 'admin', scope: 'identity:read', maxBody: 0, tag } as const;
const change = { auth: 'admin', scope: 'identity:manage', maxBody: MAX_BODY, tag } as const;
const remove = { ...change, method: 'DELETE', maxBody: 0, responses: { 204: Type.Null() } } as const;

export function groupRoutes(groups: Groups): Route[] {
  return [...listAndCreate(groups), ...oneGroup(groups), ...memberRoutes(groups)];
}

function listAndCreate(groups: Groups): Route[] {
  return [
    route({
      ...read,
      method: 'GET',
      path,
      summary: 'Groups of the tenant; for a superadmin those of all tenants',
      query: Type.Object({ ...schemas.Page.properties, name: Type.Optional(Type.String({ maxLength: 200 })) }),
      responses: { 200: schemas.listOfRows(Group) },
      handle: async ({ caller, query }) => {
        const { after = '', limit = DEFAULT_LIMIT, name } = query;
        const rows = await groups.list({ after, limit: limit + 1, nameKey: name && nameKey(name) }, caller);
        return json(200, schemas.pageOf(rows, limit, groupBody));
      },
    }),
    route({
      ...change,
      method: 'POST',
      path,
      summary: 'Make a group: a role for its members, and the models and knowledge bases that they may use',
      description:
        'Grants count where the tenant limits models or knowledge bases to what is granted (`model_access`, `namespace_access` of the tenant). ' +
        'Administrators may use everything.',
      body: NewGroup,
      responses: { 201: Group },
      errors: errorSpecs('forbidden', 'tenant_not_found', 'group_exists'),
      handle: async (context) => {
        const { name, tenant } = context.body;
        const group = await groups.create({ ...updateOf(context.body), name, tenant }, auditSource(context));
        return json(201, groupBody(group));
      },
    }),
  ];
}

function oneGroup(groups: Groups): Route[] {
  return [
    route({
      ...read,
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'One group',
      params: Id,
      responses: { 200: Group },
      errors: errorSpecs('group_not_found'),
      handle: async ({ params, caller }) => json(200, groupBody(await groups.get(params.id, caller))),
    }),
    route({
      ...change,
      method: 'PATCH',
      path: `${path}/{id}`,
      summary: 'Change a group; roles and grants of its members change at once',
      params: Id,
      body: GroupPatch,
      responses: { 200: Group },
      errors: errorSpecs('forbidden', 'group_not_found', 'group_exists'),
      handle: async (context) =>
        json(200, groupBody(await groups.update(context.params.id, updateOf(context.body), auditSource(context)))),
    }),
    route({
      ...remove,
      path: `${path}/{id}`,
      summary: 'Delete a group; its members lose what it gave them at once',
      params: Id,
      errors: errorSpecs('group_not_found'),
      handle: async (context) => {
        await groups.remove(context.params.id, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}

function memberRoutes(groups: Groups): Route[] {
  return [
    route({
      ...read,
      method: 'GET',
      path: `${path}/{id}/members`,
      summary: 'Accounts of a group',
      params: Id,
      query: schemas.Page,
      responses: { 200: schemas.listOfRows(schemas.User) },
      errors: errorSpecs('group_not_found'),
      handle: async ({ params, caller, query }) => {
        const { after = '', limit = DEFAULT_LIMIT } = query;
        const rows = await groups.members(params.id, after, limit + 1, caller);
        return json(200, schemas.pageOf(rows, limit, schemas.userBody));
      },
    }),
    route({
      ...change,
      method: 'POST',
      path: `${path}/{id}/members`,
      summary: 'Put accounts into a group',
      params: Id,
      body: NewMembers,
      responses: { 204: Type.Null() },
      errors: errorSpecs('group_not_found', 'user_not_found'),
      handle: async (context) => {
        await groups.addMembers(context.params.id, context.body.users, auditSource(context));
        return NO_CONTENT;
      },
    }),
    route({
      ...remove,
      path: `${path}/{id}/members/{user}`,
      summary: 'Take an account out of a group',
      description: 'What the sign-in provider says of groups is written again when the account signs in there.',
      params: Type.Object({ ...Id.properties, user: Type.String({ minLength: 1, maxLength: 128 }) }),
      errors: errorSpecs('group_not_found', 'user_not_found'),
      handle: async (context) => {
        await groups.removeMember(context.params.id, context.params.user, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}

function updateOf({ grants, external_id: externalId, name, description, role }: Static<typeof GroupPatch>): GroupUpdate {
  return { name, description, role, externalId, models: grants?.models, namespaces: grants?.namespaces };
}
