/** Who is signed in, for administrators: where from, and the way to end it. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import type { AccountSessions } from '../accounts/account-sessions.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { errorSpecs } from '../errors.ts';
import { Id, listOfRows, Session, sessionBody } from '../schemas.ts';
import { NO_CONTENT } from './answers.ts';

const path = '/api/v1/identity/users/{id}/sessions';
const common = { auth: 'admin', maxBody: 0, tag: 'Identity' } as const;
const SessionOfUser = Type.Object({ ...Id.properties, session: Type.String({ minLength: 1, maxLength: 128 }) });

export function sessionRoutes(sessions: AccountSessions): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path,
      scope: 'identity:read',
      summary: 'Sessions of an account, the last used first',
      params: Id,
      responses: { 200: listOfRows(Session) },
      errors: errorSpecs('forbidden', 'user_not_found'),
      handle: async ({ caller, params }) => {
        const rows = await sessions.list(params.id, caller);
        return json(200, { data: rows.map((row) => sessionBody(row, caller.keyId)) });
      },
    }),
    route({
      ...common,
      method: 'DELETE',
      path,
      scope: 'identity:manage',
      summary: 'End all sessions of an account, at once',
      params: Id,
      responses: { 204: Type.Null() },
      errors: errorSpecs('forbidden', 'user_not_found'),
      handle: async (context) => {
        await sessions.end(context.params.id, undefined, auditSource(context));
        return NO_CONTENT;
      },
    }),
    route({
      ...common,
      method: 'DELETE',
      path: `${path}/{session}`,
      scope: 'identity:manage',
      summary: 'End one session of an account, at once',
      params: SessionOfUser,
      responses: { 204: Type.Null() },
      errors: errorSpecs('forbidden', 'user_not_found', 'session_not_found'),
      handle: async (context) => {
        await sessions.end(context.params.id, context.params.session, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}
