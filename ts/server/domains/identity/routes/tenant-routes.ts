/** Tenants, for administrators. */
import Type from 'typebox';
import { listOf } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { identityErrors } from '../errors.ts';
import * as schemas from '../schemas.ts';

const path = '/api/v1/identity/tenants';
const { Id, Tenant } = schemas;

const { get, post, patch, del } = routes({
  tag: 'Identity',
  auth: 'superadmin',
  scope: 'identity:manage',
  errors: identityErrors,
});

export function tenantRoutes(tenants: Tenants): Route[] {
  return [
    get(path, {
      auth: 'admin',
      scope: 'identity:read',
      summary: 'The caller’s tenant; for a superadmin all tenants',
      answer: listOf(Tenant),
      handle: async ({ caller }) => ({ data: (await tenants.list(caller)).map(schemas.tenantBody) }),
    }),
    post(path, {
      summary: 'Make a tenant',
      body: schemas.NewTenant,
      answer: Tenant,
      status: 201,
      errors: ['tenant_exists', 'tenant_id_used'],
      handle: async (context) => {
        const { id, name, tokens_per_minute: tokensPerMinute, priority, ...access } = context.body;
        const { model_access: modelAccess, namespace_access: namespaceAccess } = access;
        const tenant = { id, name, tokensPerMinute, priority, modelAccess, namespaceAccess };
        return schemas.tenantBody(await tenants.create(tenant, auditSource(context)));
      },
    }),
    ...changeAndDelete(tenants),
  ];
}

function changeAndDelete(tenants: Tenants): Route[] {
  return [
    patch(`${path}/{id}`, {
      summary: 'Change a tenant: its name, its tokens a minute, and what its accounts may use',
      params: Id,
      body: schemas.TenantPatch,
      answer: Tenant,
      errors: ['tenant_not_found'],
      handle: async (context) => {
        const { name, tokens_per_minute, priority, model_access, namespace_access } = context.body;
        const changes = {
          ...(name !== undefined && { name }),
          ...(tokens_per_minute !== undefined && { tokens_per_minute }),
          ...(priority !== undefined && { priority: priority ? 1 : 0 }),
          ...(model_access !== undefined && { model_access }),
          ...(namespace_access !== undefined && { namespace_access }),
        };
        return schemas.tenantBody(await tenants.update(context.params.id, changes, auditSource(context)));
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
