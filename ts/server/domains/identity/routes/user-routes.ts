/** Accounts, for administrators. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { nameKey } from '../accounts/account-name.ts';
import type { Users } from '../accounts/users.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { errorSpecs } from '../errors.ts';
import * as schemas from '../schemas.ts';
import { KeyChoice } from './account-routes.ts';
import { DEFAULT_LIMIT, NO_CONTENT, NO_STORE } from './answers.ts';

export interface UserRouteDeps {
  users: Users;
  keys: Keys;
}

const tag = 'Identity';
const path = '/api/v1/identity/users';
const MAX_BODY = 4096;
const { Id, User } = schemas;

export function userRoutes({ users, keys }: UserRouteDeps): Route[] {
  return [...listAndCreate(users), ...changeAndDelete(users), ...secretRoutes(users, keys)];
}

function listAndCreate(users: Users): Route[] {
  return [
    route({
      method: 'GET',
      path,
      auth: 'admin',
      scope: 'identity:read',
      maxBody: 0,
      tag,
      summary: 'Accounts of the tenant; for a superadmin those of all tenants',
      query: Type.Object({
        ...schemas.Page.properties,
        username: Type.Optional(Type.String({ maxLength: 64 })),
        service: Type.Optional(Type.Boolean({ description: 'Only service accounts, or only those of people.' })),
      }),
      responses: { 200: schemas.listOfRows(User) },
      handle: async ({ caller, query }) => {
        const { after = '', limit = DEFAULT_LIMIT, username, service: isService } = query;
        const usernameKey = username === undefined ? undefined : nameKey(username);
        const rows = await users.list({ after, limit: limit + 1, usernameKey, isService }, caller);
        return json(200, schemas.pageOf(rows, limit, schemas.userBody));
      },
    }),
    route({
      method: 'POST',
      path,
      auth: 'admin',
      scope: 'identity:manage',
      maxBody: MAX_BODY,
      tag,
      summary: 'Make an account; the first one of the installation switches authentication on',
      description:
        'Without a password the account signs in with a reset token first, or uses API keys only. A `service` account belongs to a tenant and to ' +
        'no person: it never gets a password.',
      body: schemas.NewUser,
      responses: { 201: User },
      errors: errorSpecs(
        'server_busy',
        'service_account',
        'weak_password',
        'forbidden',
        'tenant_not_found',
        'name_taken',
        'superadmin_needed',
      ),
      handle: async (context) => {
        const { username, password, email, tenant, role, service: isService = false } = context.body;
        const user = await users.create({ username, password, email, tenant, role, isService }, auditSource(context));
        return json(201, schemas.userBody(user));
      },
    }),
  ];
}

function changeAndDelete(users: Users): Route[] {
  return [
    route({
      method: 'GET',
      path: `${path}/{id}`,
      auth: 'admin',
      scope: 'identity:read',
      maxBody: 0,
      tag,
      summary: 'One account',
      params: Id,
      responses: { 200: User },
      errors: errorSpecs('user_not_found'),
      handle: async ({ params, caller }) => json(200, schemas.userBody(await users.get(params.id, caller))),
    }),
    route({
      method: 'PATCH',
      path: `${path}/{id}`,
      auth: 'admin',
      scope: 'identity:manage',
      maxBody: MAX_BODY,
      tag,
      summary: 'Change the role or the password of an account, disable it, or enable it again',
      description: 'A new password and a disabled account end all sessions; keys of a disabled account are refused.',
      params: Id,
      body: schemas.UserPatch,
      responses: { 200: User },
      errors: errorSpecs('server_busy', 'service_account', 'weak_password', 'forbidden', 'user_not_found', 'last_superadmin'),
      handle: async (context) => {
        const { role, disabled, password } = context.body;
        return json(
          200,
          schemas.userBody(await users.update(context.params.id, { role, disabled, password }, auditSource(context))),
        );
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      auth: 'admin',
      scope: 'identity:manage',
      maxBody: 0,
      tag,
      summary: 'Delete an account; its keys and sessions stop at once',
      params: Id,
      responses: { 204: Type.Null() },
      errors: errorSpecs('forbidden', 'user_not_found', 'last_superadmin'),
      handle: async (context) => {
        await users.remove(context.params.id, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}

function secretRoutes(users: Users, keys: Keys): Route[] {
  return [
    route({
      method: 'POST',
      path: `${path}/{id}/api-key`,
      auth: 'admin',
      scope: 'identity:manage',
      maxBody: 0,
      tag,
      summary: 'Replace the API key of an account; the old one stops at once',
      description: 'The new key is shown this once. An account without a key gets its first.',
      params: Id,
      query: KeyChoice,
      responses: { 200: schemas.IssuedKey },
      errors: errorSpecs('forbidden', 'scope_beyond_caller', 'user_not_found', 'key_not_found', 'several_keys'),
      handle: async (context) => {
        const issued = await keys.rotate(context.params.id, context.query.key_id, auditSource(context));
        return json(200, schemas.issuedKeyBody(issued), NO_STORE);
      },
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/password-reset`,
      auth: 'admin',
      scope: 'identity:manage',
      maxBody: 0,
      tag,
      summary: 'Issue a token with which the password of an account can be set once, within an hour',
      params: Id,
      responses: { 201: schemas.ResetToken },
      errors: errorSpecs('service_account', 'forbidden', 'user_not_found'),
      handle: async (context) => {
        const { token, expiresAt } = await users.issueReset(context.params.id, auditSource(context));
        return json(201, { token, expires_at: schemas.timeOf(expiresAt) }, NO_STORE);
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/identity/local-unknown',
      auth: 'admin',
      scope: 'identity:read',
      maxBody: 0,
      tag,
      summary: 'Accounts of this node that the controller never took over',
      description: 'A node that belongs to no cluster is its own controller and has none.',
      responses: { 200: schemas.listOfRows(User) },
      handle: () => json(200, { data: [] }),
    }),
  ];
}
