/** What callers handle of their own account: settings, sessions, the key that they use. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import type { Users } from '../accounts/users.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { endedSessionCookie } from '../credentials/session-cookie.ts';
import { errorSpecs } from '../errors.ts';
import { Id, IssuedKey, issuedKeyBody, listOfRows, Session, Settings, sessionBody } from '../schemas.ts';
import { NO_CONTENT, NO_STORE } from './answers.ts';

export interface AccountRouteDeps {
  users: Users;
  signIn: SignIn;
  keys: Keys;
}

const tag = 'Account';
const MAX_SETTINGS_BYTES = 64 * 1024;
const scope = 'account:manage';
const noAccount = errorSpecs('no_account', 'user_not_found');
export const KeyChoice = Type.Object({
  key_id: Type.Optional(
    Type.String({ maxLength: 128, description: 'The key to replace; needed where the account has several.' }),
  ),
});

export function accountRoutes({ users, signIn, keys }: AccountRouteDeps): Route[] {
  return [
    ...settingsRoutes(users),
    ...sessionRoutes(signIn),
    route({
      method: 'POST',
      path: '/api/v1/users/me/api-key',
      auth: 'viewer',
      maxBody: 0,
      tag,
      summary: 'Replace one’s own API key',
      description:
        'The old key stops at once; the new one has its name, scopes and length of life, and is shown this once. Replaced is the key that the request was made ' +
        'with, else the one that `key_id` names, else the only one. An account without a key gets its first.',
      query: KeyChoice,
      responses: { 200: IssuedKey },
      errors: errorSpecs('no_account', 'user_not_found', 'scope_beyond_caller', 'key_not_found', 'several_keys'),
      handle: async (context) =>
        json(200, issuedKeyBody(await keys.rotate(undefined, context.query.key_id, auditSource(context))), NO_STORE),
    }),
  ];
}

function settingsRoutes(users: Users): Route[] {
  const path = '/api/v1/users/me/settings';
  return [
    route({
      method: 'GET',
      path,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'The caller’s settings',
      responses: { 200: Settings },
      errors: noAccount,
      handle: async ({ caller }) => json(200, await users.settings(caller)),
    }),
    route({
      method: 'PUT',
      path,
      auth: 'viewer',
      scope,
      maxBody: MAX_SETTINGS_BYTES,
      tag,
      summary: 'Replace the caller’s settings',
      body: Settings,
      responses: { 200: Settings },
      errors: noAccount,
      handle: async ({ caller, body }) => {
        await users.writeSettings(caller, body);
        return json(200, body);
      },
    }),
  ];
}

function sessionRoutes(signIn: SignIn): Route[] {
  const path = '/api/v1/users/me/sessions';
  return [
    route({
      method: 'GET',
      path,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'The caller’s sessions, the last used first',
      responses: { 200: listOfRows(Session) },
      errors: noAccount,
      handle: async ({ caller }) => {
        const rows = await signIn.sessions(caller);
        return json(200, { data: rows.map((row) => sessionBody(row, caller.keyId)) });
      },
    }),
    route({
      method: 'DELETE',
      path,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'End all of the caller’s sessions',
      responses: { 204: Type.Null() },
      errors: noAccount,
      handle: async (context) => {
        await signIn.end(undefined, auditSource(context));
        return { ...NO_CONTENT, headers: { 'set-cookie': [endedSessionCookie(context)] } };
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'End one of the caller’s sessions; a page signs out by ending its own',
      params: Id,
      responses: { 204: Type.Null() },
      errors: errorSpecs('no_account', 'session_not_found'),
      handle: async (context) => {
        await signIn.end(context.params.id, auditSource(context));
        const isOwn = context.params.id === context.caller.keyId;
        return isOwn ? { ...NO_CONTENT, headers: { 'set-cookie': [endedSessionCookie(context)] } } : NO_CONTENT;
      },
    }),
  ];
}
