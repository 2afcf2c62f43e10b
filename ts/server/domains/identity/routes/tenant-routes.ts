/** Tenants, for administrators. */
import Type from 'typebox';
import { listOf } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { UseKind } from '../../../platform/module/use-rules.ts';
import type { AccessByKind, Tenants } from '../accounts/tenants.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { identityErrors } from '../errors.ts';
import { accessOf, readByKind } from '../members-by-kind.ts';
import * as schemas from '../schemas.ts';
import type { TenantRow } from '../tables.ts';

const path = '/api/v1/identity/tenants';
const { Id } = schemas;

const { get, post, patch, del } = routes({
  tag: 'Identity',
  auth: 'superadmin',
  scope: 'identity:manage',
  errors: identityErrors,
});

/** What routes of tenants say and read, which the registered kinds are part of. */
interface Shapes extends schemas.TenantSchemas {
  bodyOf(row: TenantRow): ReturnType<typeof schemas.tenantBody>;
  accessOf(body: object): AccessByKind;
}

export function tenantRoutes(tenants: Tenants, kinds: readonly UseKind[]): Route[] {
  const shapes: Shapes = {
    ...schemas.tenantSchemas(kinds),
    bodyOf: (row) => schemas.tenantBody(kinds, row),
    accessOf: (body) => readByKind(kinds, accessOf, body),
  };
  return [...listAndCreate(tenants, shapes), ...changeAndDelete(tenants, shapes)];
}

function listAndCreate(tenants: Tenants, { Tenant, NewTenant, bodyOf, accessOf }: Shapes): Route[] {
  return [
    get(path, {
      auth: 'admin',
      scope: 'identity:read',
      summary: 'The caller’s tenant; for a superadmin all tenants',
      answer: listOf(Tenant),
      handle: async ({ caller }) => ({ data: (await tenants.list(caller)).map(bodyOf) }),
    }),
    post(path, {
      summary: 'Make a tenant',
      body: NewTenant,
      answer: Tenant,
      status: 201,
      errors: ['tenant_exists', 'tenant_id_used'],
      handle: async (context) => {
        const { id, name, tokens_per_minute: tokensPerMinute, priority } = context.body;
        const tenant = { id, name, tokensPerMinute, priority, access: accessOf(context.body) };
        return bodyOf(await tenants.create(tenant, auditSource(context)));
      },
    }),
  ];
}

function changeAndDelete(tenants: Tenants, { Tenant, TenantPatch, bodyOf, accessOf }: Shapes): Route[] {
  return [
    patch(`${path}/{id}`, {
      summary: 'Change a tenant: its name, its tokens a minute, and what its accounts may use',
      params: Id,
      body: TenantPatch,
      answer: Tenant,
      errors: ['tenant_not_found'],
      handle: async (context) => {
        const { name, tokens_per_minute, priority } = context.body;
        const changes = {
          access: accessOf(context.body),
          ...(name !== undefined && { name }),
          ...(tokens_per_minute !== undefined && { tokens_per_minute }),
          ...(priority !== undefined && { priority: priority ? 1 : 0 }),
        };
        return bodyOf(await tenants.update(context.params.id, changes, auditSource(context)));
      },
    }),
    del(`${path}/{id}`, {
      summary: 'Delete a tenant; with `force` its accounts go too, and their keys stop at once',
      description:
        'What the modules keep of it (knowledge, files, conversations, responses, usage, quotas, jobs) is erased behind the answer, for good. Its id is not ' +
        'used again.',
      params: Id,
      query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
      errors: ['forbidden', 'tenant_not_found', 'tenant_not_empty', 'last_superadmin'],
      handle: async (context) => {
        await tenants.remove(context.params.id, context.query.force === true, auditSource(context));
      },
    }),
  ];
}
