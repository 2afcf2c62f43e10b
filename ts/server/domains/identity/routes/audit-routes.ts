/** The audit log, for administrators. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { administeredScope } from '../accounts/reach.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { AuditLine, auditBody } from '../schemas.ts';
import { DEFAULT_LIMIT } from './answers.ts';

const tag = 'Identity';
const Before = Type.Integer({ minimum: 1, description: 'Entries before this number: `next` of the page before.' });
const Lines = Type.Object({ data: Type.Array(AuditLine), next: Type.Optional(Type.Integer()) });
const Verification = Type.Object({
  entries: Type.Integer({ description: 'Entries that hold, from the first one on.' }),
  broken_at: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The first number at which the log is not what was written; null: all of it is.',
  }),
});

export function auditRoutes(audit: AuditLog): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/identity/audit',
      auth: 'admin',
      scope: 'audit:read',
      maxBody: 0,
      tag,
      summary: 'The audit log, newest first: of the tenant, for a superadmin of all tenants',
      query: Type.Object({
        before: Type.Optional(Before),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      }),
      responses: { 200: Lines },
      handle: async ({ caller, query }) => {
        const { before, limit = DEFAULT_LIMIT } = query;
        await audit.flush();
        const rows = await audit.list(administeredScope(caller), { before, limit: limit + 1 });
        const shown = rows.slice(0, limit);
        const next = rows.length > limit ? shown.at(-1)?.seq : undefined;
        return json(200, { data: shown.map(auditBody), ...(next !== undefined && { next }) });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/identity/audit/verify',
      auth: 'superadmin',
      scope: 'audit:read',
      maxBody: 0,
      tag,
      summary: 'Check the hash chain of the audit log',
      responses: { 200: Verification },
      handle: async () => {
        await audit.flush();
        const { entries, brokenAt } = await audit.verify();
        return json(200, { entries, broken_at: brokenAt ?? null });
      },
    }),
  ];
}
