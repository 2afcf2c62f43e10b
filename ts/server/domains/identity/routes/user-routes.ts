/** Accounts, for administrators. */
import Type from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { nameKey } from '../accounts/account-name.ts';
import type { Users } from '../accounts/users.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { identityErrors } from '../errors.ts';
import * as schemas from '../schemas.ts';
import { KeyChoice } from './account-routes.ts';
import { NO_STORE } from './answers.ts';

interface UserRouteDeps {
  users: Users;
  keys: Keys;
  /** The accounts of this node count no more: it works for a cluster, whose controllers have theirs. */
  isMember(): boolean;
}

const path = '/api/v1/identity/users';
const { Id, User } = schemas;

const { get, post, patch, del } = routes({ tag: 'Identity', auth: 'admin', scope: 'identity:manage', errors: identityErrors });

export function userRoutes({ users, keys, isMember }: UserRouteDeps): Route[] {
  return [...listAndCreate(users), ...changeAndDelete(users), ...secretRoutes(users, keys), unknownRoute(users, isMember)];
}

function listAndCreate(users: Users): Route[] {
  return [
    get(path, {
      scope: 'identity:read',
      summary: 'Accounts of the tenant; for a superadmin those of all tenants',
      query: Type.Object({
        ...PageQuery.properties,
        username: Type.Optional(Type.String({ maxLength: 64 })),
        service: Type.Optional(Type.Boolean({ description: 'Only service accounts, or only those of people.' })),
      }),
      answer: listOf(User),
      handle: async ({ caller, query }) => {
        const { username, service: isService } = query;
        const usernameKey = username === undefined ? undefined : nameKey(username);
        const rows = await users.list({ ...pageRead(query), usernameKey, isService }, caller);
        return page(rows, query.limit, schemas.userBody);
      },
    }),
    post(path, {
      summary: 'Make an account; the first one of the installation switches authentication on',
      description:
        'Without a password the account signs in with a reset token first, or uses API keys only. A `service` account belongs to a tenant and to ' +
        'no person: it never gets a password.',
      body: schemas.NewUser,
      answer: User,
      status: 201,
      errors: [
        'server_busy',
        'service_account',
        'weak_password',
        'forbidden',
        'tenant_not_found',
        'name_taken',
        'superadmin_needed',
      ],
      handle: async (context) => {
        const { username, password, email, tenant, role, service: isService = false } = context.body;
        const user = await users.create({ username, password, email, tenant, role, isService }, auditSource(context));
        return schemas.userBody(user);
      },
    }),
  ];
}

function changeAndDelete(users: Users): Route[] {
  return [
    get(`${path}/{id}`, {
      scope: 'identity:read',
      summary: 'One account',
      params: Id,
      answer: User,
      errors: ['user_not_found'],
      handle: async ({ params, caller }) => schemas.userBody(await users.get(params.id, caller)),
    }),
    patch(`${path}/{id}`, {
      summary: 'Change the role or the password of an account, disable it, or enable it again',
      description: 'A new password and a disabled account end all sessions; keys of a disabled account are refused.',
      params: Id,
      body: schemas.UserPatch,
      answer: User,
      errors: ['server_busy', 'service_account', 'weak_password', 'forbidden', 'user_not_found', 'last_superadmin'],
      handle: async (context) => {
        const { role, disabled, password } = context.body;
        return schemas.userBody(await users.update(context.params.id, { role, disabled, password }, auditSource(context)));
      },
    }),
    del(`${path}/{id}`, {
      summary: 'Delete an account; its keys and sessions stop at once',
      params: Id,
      errors: ['forbidden', 'user_not_found', 'last_superadmin'],
      handle: async (context) => {
        await users.remove(context.params.id, auditSource(context));
      },
    }),
  ];
}

function secretRoutes(users: Users, keys: Keys): Route[] {
  return [
    post(`${path}/{id}/api-key`, {
      summary: 'Replace the API key of an account; the old one stops at once',
      description: 'The new key is shown this once. An account without a key gets its first.',
      params: Id,
      query: KeyChoice,
      answer: schemas.IssuedKey,
      headers: NO_STORE,
      errors: ['forbidden', 'scope_beyond_caller', 'user_not_found', 'key_not_found', 'several_keys'],
      handle: async (context) => {
        const issued = await keys.rotate(context.params.id, context.query.key_id, auditSource(context));
        return schemas.issuedKeyBody(issued);
      },
    }),
    post(`${path}/{id}/password-reset`, {
      summary: 'Issue a token with which the password of an account can be set once, within an hour',
      params: Id,
      answer: schemas.ResetToken,
      status: 201,
      headers: NO_STORE,
      errors: ['service_account', 'forbidden', 'user_not_found'],
      handle: async (context) => {
        const { token, expiresAt } = await users.issueReset(context.params.id, auditSource(context));
        return { token, expires_at: schemas.timeOf(expiresAt) };
      },
    }),
  ];
}

function unknownRoute(users: Users, isMember: () => boolean): Route {
  return get('/api/v1/identity/local-unknown', {
    scope: 'identity:read',
    summary: 'Accounts of this node that the controller never took over',
    description:
      'A node that joined a cluster by a token keeps the accounts that it had, and they sign nobody in. Any other node has none. Asked of the node itself.',
    query: PageQuery,
    answer: listOf(User),
    handle: async ({ caller, query }) =>
      isMember()
        ? page(
            await users.list({ ...pageRead(query), usernameKey: undefined, isService: undefined }, caller),
            query.limit,
            schemas.userBody,
          )
        : { data: [] },
  });
}
