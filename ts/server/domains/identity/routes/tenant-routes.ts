/** Tenants, for administrators. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { auditSource } from '../audit/audit-entry.ts';
import { errorSpecs } from '../errors.ts';
import * as schemas from '../schemas.ts';
import { NO_CONTENT } from './answers.ts';

const tag = 'Identity';
const path = '/api/v1/identity/tenants';
const MAX_BODY = 4096;
const { Id, Tenant } = schemas;

export function tenantRoutes(tenants: Tenants): Route[] {
  return [
    route({
      method: 'GET',
      path,
      auth: 'admin',
      scope: 'identity:read',
      maxBody: 0,
      tag,
      summary: 'The caller’s tenant; for a superadmin all tenants',
      responses: { 200: schemas.listOfRows(Tenant) },
      handle: ({ caller }) => json(200, { data: tenants.list(caller).map(schemas.tenantBody) }),
    }),
    route({
      method: 'POST',
      path,
      auth: 'superadmin',
      scope: 'identity:manage',
      maxBody: MAX_BODY,
      tag,
      summary: 'Make a tenant',
      body: schemas.NewTenant,
      responses: { 201: Tenant },
      errors: errorSpecs('tenant_exists', 'tenant_id_used'),
      handle: async (context) => {
        const { id, name, tokens_per_minute: tokensPerMinute, priority, ...access } = context.body;
        const { model_access: modelAccess, namespace_access: namespaceAccess } = access;
        const tenant = { id, name, tokensPerMinute, priority, modelAccess, namespaceAccess };
        return json(201, schemas.tenantBody(await tenants.create(tenant, auditSource(context))));
      },
    }),
    ...changeAndDelete(tenants),
  ];
}

function changeAndDelete(tenants: Tenants): Route[] {
  return [
    route({
      method: 'PATCH',
      path: `${path}/{id}`,
      auth: 'superadmin',
      scope: 'identity:manage',
      maxBody: MAX_BODY,
      tag,
      summary: 'Change a tenant: its name, its tokens a minute, and what its accounts may use',
      params: Id,
      body: schemas.TenantPatch,
      responses: { 200: Tenant },
      errors: errorSpecs('tenant_not_found'),
      handle: async (context) => {
        const { name, tokens_per_minute, priority, model_access, namespace_access } = context.body;
        const changes = {
          ...(name !== undefined && { name }),
          ...(tokens_per_minute !== undefined && { tokens_per_minute }),
          ...(priority !== undefined && { priority: priority ? 1 : 0 }),
          ...(model_access !== undefined && { model_access }),
          ...(namespace_access !== undefined && { namespace_access }),
        };
        return json(200, schemas.tenantBody(await tenants.update(context.params.id, changes, auditSource(context))));
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      auth: 'superadmin',
      scope: 'identity:manage',
      maxBody: 0,
      tag,
      summary: 'Delete a tenant; with `force` its accounts go too, and their keys stop at once',
      description:
        'What the modules keep of it (knowledge, files, conversations, responses, usage, quotas, jobs) is erased behind the answer, for good. Its id is not ' +
        'used again.',
      params: Id,
      query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
      responses: { 204: Type.Null() },
      errors: errorSpecs('forbidden', 'tenant_not_found', 'tenant_not_empty', 'last_superadmin'),
      handle: async (context) => {
        await tenants.remove(context.params.id, context.query.force === true, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}
