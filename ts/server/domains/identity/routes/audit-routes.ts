/** The audit log, for administrators. It is read whether or not the node has the role `security`. */
import Type from 'typebox';
import { DEFAULT_PAGE_ROWS } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { administeredScope } from '../accounts/access-check.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { identityError, identityErrors } from '../errors.ts';
import { AuditLine, auditBody } from '../schemas.ts';

const Position = Type.Integer({
  minimum: 1,
  maximum: 2 ** 53 - 1,
  description: '`next` of the page before: older entries follow.',
});
const Moment = Type.String({
  maxLength: 40,
  description: 'ISO 8601, for example 2026-11-01 or 2026-11-01T08:00:00Z. Lines from `from` on and before `to`.',
});
const Page = Type.Object({
  after: Type.Optional(Position),
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1, description: 'The former name of `after`.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000]*$',
      description:
        'What stands somewhere in who, what, to what, from where or the details; the case of ASCII letters does not matter.',
    }),
  ),
  outcome: Type.Optional(Type.Enum(['done', 'denied', 'failed'])),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
});
const Lines = named('AuditEntryPage', Type.Object({ data: Type.Array(AuditLine), next: Type.Optional(Type.Integer()) }));
const Verification = named(
  'AuditVerification',
  Type.Object({
    entries: Type.Integer({ description: 'Entries that hold, from the first one on.' }),
    broken_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The first number at which the log is not what was written; null: all of it is.',
    }),
  }),
);

/** Under its path, and under its former one. */
const PATHS = ['/api/v1/security/audit', '/api/v1/identity/audit'];

const { get } = routes({ tag: 'Security', auth: 'admin', scope: 'audit:read', errors: identityErrors });

export function auditRoutes(audit: AuditLog): Route[] {
  return PATHS.flatMap((path) => [linesRoute(path, audit), verificationRoute(path, audit)]);
}

function linesRoute(path: string, audit: AuditLog): Route {
  return get(path, {
    summary: 'The audit log, newest first: of the tenant, for a superadmin of all tenants',
    query: Page,
    answer: Lines,
    errors: ['invalid_request'],
    handle: async ({ caller, query }) => {
      const { after = query.before, limit = DEFAULT_PAGE_ROWS, q: text, outcome } = query;
      const filter = { text, outcome, from: timeOf('from', query.from), to: timeOf('to', query.to) };
      await audit.flush();
      const { rows, hasMore } = await audit.list(administeredScope(caller), { ...filter, after, limit });
      const next = hasMore ? rows.at(-1)?.seq : undefined;
      return { data: rows.map(auditBody), ...(next !== undefined && { next }) };
    },
  });
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isSafeInteger(ms)) return ms;
  throw identityError('invalid_request', `${name} must be a time in ISO 8601, for example 2026-11-01T08:00:00Z.`, {
    param: name,
  });
}

function verificationRoute(path: string, audit: AuditLog): Route {
  return get(`${path}/verify`, {
    auth: 'superadmin',
    summary: 'Check the hash chain of the audit log',
    answer: Verification,
    handle: async () => {
      await audit.flush();
      const { entries, brokenAt } = await audit.verify();
      return { entries, broken_at: brokenAt ?? null };
    },
  });
}
