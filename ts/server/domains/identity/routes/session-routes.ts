/** Who is signed in, for administrators: where from, and the way to end it. */
import Type from 'typebox';
import { listOf } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { AccountSessions } from '../accounts/account-sessions.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { identityErrors } from '../errors.ts';
import { Id, Session, sessionBody } from '../schemas.ts';

const path = '/api/v1/identity/users/{id}/sessions';
const SessionOfUser = Type.Object({ ...Id.properties, session: Type.String({ minLength: 1, maxLength: 128 }) });

const { get, del } = routes({ tag: 'Identity', auth: 'admin', scope: 'identity:manage', errors: identityErrors });

export function sessionRoutes(sessions: AccountSessions): Route[] {
  return [
    get(path, {
      scope: 'identity:read',
      summary: 'Sessions of an account, the last used first',
      params: Id,
      answer: listOf(Session),
      errors: ['forbidden', 'user_not_found'],
      handle: async ({ caller, params }) => {
        const rows = await sessions.list(params.id, caller);
        return { data: rows.map((row) => sessionBody(row, caller.keyId)) };
      },
    }),
    del(path, {
      summary: 'End all sessions of an account, at once',
      params: Id,
      errors: ['forbidden', 'user_not_found'],
      handle: async (context) => {
        await sessions.end(context.params.id, undefined, auditSource(context));
      },
    }),
    del(`${path}/{session}`, {
      summary: 'End one session of an account, at once',
      params: SessionOfUser,
      errors: ['forbidden', 'user_not_found', 'session_not_found'],
      handle: async (context) => {
        await sessions.end(context.params.id, context.params.session, auditSource(context));
      },
    }),
  ];
}
