/** Invitations, for administrators. Guests use them at POST /api/v1/auth/register. */
import Type, { type Static } from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { identityErrors } from '../errors.ts';
import type { Invitations } from '../invitations/invitations.ts';
import * as schemas from '../schemas.ts';
import type { InvitationRow } from '../tables.ts';
import { NO_STORE } from './answers.ts';

const path = '/api/v1/identity/invitations';
const MAX_BODY = 16 * 1024;
const DAY_SECONDS = 24 * 60 * 60;
/** The page that takes an invitation. What stands behind the `#` reaches no server's log. */
const PAGE = '/login#invitation=';

const Ids = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
  maxItems: 100,
  description: 'Ids of groups of the tenant.',
});
const Note = Type.String({ maxLength: 200, description: 'For whom it is; shown in lists.' });
const MaxUses = Type.Integer({ minimum: 1, maximum: 1000, description: 'Accounts that can be made with it; 1 by default.' });
const Invitation = named(
  'Invitation',
  Type.Object({
    id: Type.String(),
    tenant: Type.String(),
    role: schemas.RoleName,
    groups: Type.Array(Type.String()),
    note: Type.String(),
    max_uses: Type.Integer(),
    uses: Type.Integer(),
    created_by: schemas.Nullable(Type.String()),
    created_at: schemas.Time,
    expires_at: schemas.Time,
    state: Type.Enum(['open', 'used_up', 'expired']),
  }),
);
const IssuedInvitation = named(
  'IssuedInvitation',
  Type.Object({
    ...Invitation.properties,
    token: Type.String({ description: 'Shown this once.' }),
    link: Type.String({ description: 'Path of the page that takes it; put the address of the server in front.' }),
  }),
);
const NewInvitation = named(
  'NewInvitation',
  Type.Object({
    role: Type.Optional(schemas.RoleName),
    tenant: Type.Optional(schemas.TenantId),
    groups: Type.Optional(Ids),
    note: Type.Optional(Note),
    max_uses: Type.Optional(MaxUses),
    expires_in_seconds: Type.Optional(
      Type.Integer({ minimum: 60, maximum: 90 * DAY_SECONDS, description: 'Seven days by default.' }),
    ),
  }),
);

const { get, post, del } = routes({ tag: 'Identity', auth: 'admin', scope: 'identity:manage', errors: identityErrors });

export function invitationRoutes(invitations: Invitations): Route[] {
  return [
    get(path, {
      scope: 'identity:read',
      summary: 'Invitations of the tenant; for a superadmin those of all tenants',
      query: PageQuery,
      answer: listOf(Invitation),
      handle: async ({ caller, query }) => {
        const { after, limit } = pageRead(query);
        return page(await invitations.list(after, limit, caller), query.limit, invitationBody);
      },
    }),
    post(path, {
      maxBody: MAX_BODY,
      summary: 'Make an invitation, whose token is shown this once',
      description:
        'Whoever has the token makes an account in the tenant, with the role and the groups, also where self-registration is closed. It stops working when ' +
        'the account that made it is deleted, disabled, or loses the role that it gives.',
      body: NewInvitation,
      answer: IssuedInvitation,
      status: 201,
      headers: NO_STORE,
      errors: ['forbidden', 'tenant_not_found', 'group_not_found'],
      handle: async (context) => {
        const { role = 'viewer', tenant, groups = [], note = '', max_uses: maxUses = 1 } = context.body;
        const expiresInSeconds = context.body.expires_in_seconds ?? 7 * DAY_SECONDS;
        const asked = { role, tenant, groups, note, maxUses, expiresInSeconds };
        const { row, token } = await invitations.create(asked, auditSource(context));
        return { ...invitationBody(row), token, link: PAGE + token };
      },
    }),
    del(`${path}/{id}`, {
      summary: 'Withdraw an invitation; accounts that were made with it stay',
      params: schemas.Id,
      errors: ['invitation_not_found'],
      handle: async (context) => {
        await invitations.remove(context.params.id, auditSource(context));
      },
    }),
  ];
}

function invitationBody(row: InvitationRow): Static<typeof Invitation> {
  const { id, tenant, role, note, max_uses, uses, created_by } = row;
  const times = { created_at: schemas.timeOf(row.created_at), expires_at: schemas.timeOf(row.expires_at) };
  const state = uses >= max_uses ? 'used_up' : row.expires_at <= Date.now() ? 'expired' : 'open';
  return { id, tenant, role, groups: JSON.parse(row.groups) as string[], note, max_uses, uses, created_by, ...times, state };
}
