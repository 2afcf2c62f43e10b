/** What callers handle of their own account: settings, sessions, the key that they use. */
import Type from 'typebox';
import { listOf } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import type { Users } from '../accounts/users.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { endedSessionCookie } from '../credentials/session-cookie.ts';
import { identityErrors } from '../errors.ts';
import { Id, IssuedKey, issuedKeyBody, Session, Settings, sessionBody } from '../schemas.ts';
import { NO_CONTENT, NO_STORE } from './answers.ts';

interface AccountRouteDeps {
  users: Users;
  signIn: SignIn;
  keys: Keys;
}

const MAX_SETTINGS_BYTES = 64 * 1024;
const scope = 'account:manage';
const noAccount = ['no_account', 'user_not_found'] as const;
export const KeyChoice = Type.Object({
  key_id: Type.Optional(
    Type.String({ maxLength: 128, description: 'The key to replace; needed where the account has several.' }),
  ),
});

const { get, post, put, del } = routes({ tag: 'Account', auth: 'viewer', errors: identityErrors });

export function accountRoutes({ users, signIn, keys }: AccountRouteDeps): Route[] {
  return [
    ...settingsRoutes(users),
    ...sessionRoutes(signIn),
    post('/api/v1/users/me/api-key', {
      summary: 'Replace one’s own API key',
      description:
        'The old key stops at once; the new one has its name, scopes and length of life, and is shown this once. Replaced is the key that the request was made ' +
        'with, else the one that `key_id` names, else the only one. An account without a key gets its first.',
      query: KeyChoice,
      answer: IssuedKey,
      headers: NO_STORE,
      errors: ['no_account', 'user_not_found', 'scope_beyond_caller', 'key_not_found', 'several_keys'],
      handle: async (context) => issuedKeyBody(await keys.rotate(undefined, context.query.key_id, auditSource(context))),
    }),
  ];
}

function settingsRoutes(users: Users): Route[] {
  const path = '/api/v1/users/me/settings';
  return [
    get(path, {
      scope,
      summary: 'The caller’s settings',
      answer: Settings,
      errors: noAccount,
      handle: ({ caller }) => users.settings(caller),
    }),
    put(path, {
      scope,
      maxBody: MAX_SETTINGS_BYTES,
      summary: 'Replace the caller’s settings',
      body: Settings,
      answer: Settings,
      errors: noAccount,
      handle: async ({ caller, body }) => {
        await users.writeSettings(caller, body);
        return body;
      },
    }),
  ];
}

function sessionRoutes(signIn: SignIn): Route[] {
  const path = '/api/v1/users/me/sessions';
  return [
    get(path, {
      scope,
      summary: 'The caller’s sessions, the last used first',
      answer: listOf(Session),
      errors: noAccount,
      handle: async ({ caller }) => {
        const rows = await signIn.sessions(caller);
        return { data: rows.map((row) => sessionBody(row, caller.keyId)) };
      },
    }),
    del(path, {
      scope,
      summary: 'End all of the caller’s sessions',
      responses: { 204: Type.Null() },
      errors: noAccount,
      handle: async (context) => {
        await signIn.end(undefined, auditSource(context));
        return { ...NO_CONTENT, headers: { 'set-cookie': [endedSessionCookie(context)] } };
      },
    }),
    del(`${path}/{id}`, {
      scope,
      summary: 'End one of the caller’s sessions; a page signs out by ending its own',
      params: Id,
      responses: { 204: Type.Null() },
      errors: ['no_account', 'session_not_found'],
      handle: async (context) => {
        await signIn.end(context.params.id, auditSource(context));
        const isOwn = context.params.id === context.caller.keyId;
        return isOwn ? { ...NO_CONTENT, headers: { 'set-cookie': [endedSessionCookie(context)] } } : NO_CONTENT;
      },
    }),
  ];
}
