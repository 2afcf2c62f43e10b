/** SCIM 2.0 (RFC 7643, RFC 7644): a directory provisions the accounts and groups of the tenant whose key it has. */
import type { Principal } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { type AuditSource, auditSource, type IdentityErrorCode } from '../identity/index.ts';
import * as shared from './answers.ts';
import { listOfAll, resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { scimError, scimErrors } from './errors.ts';
import type { ListQuery } from './list-resources.ts';
import type { PatchOperation } from './patch.ts';
import type { ResourceKind } from './resource/attribute.ts';
import { GROUP, USER } from './resource/kinds.ts';
import { type Projection, project } from './resource/projection.ts';
import type { Resource } from './resource/resource.ts';
import { scimErrorBody } from './scim-error.ts';
import { EVERYTHING, type ScimGroups } from './scim-groups.ts';
import type { ScimUsers } from './scim-users.ts';
import { type Conditions, SCIM_BASE } from './versioned.ts';

const { get, post, put, patch, del } = routes({
  tag: 'SCIM',
  auth: 'admin',
  scope: 'scim',
  maxBody: shared.MAX_RESOURCE_BYTES,
  errors: scimErrors,
  errorBody: scimErrorBody,
});

/** What both kinds of resources can do. */
interface Endpoint {
  kind: ResourceKind;
  /** What a wrong id is answered with. */
  missing: IdentityErrorCode;
  taken: IdentityErrorCode;
  list(query: ListQuery, caller: Principal): Promise<Resource>;
  get(id: string, projection: Projection, caller: Principal): Promise<Resource>;
  create(input: Resource, source: AuditSource): Promise<Resource>;
  replace(id: string, input: Resource, conditions: Conditions, source: AuditSource): Promise<unknown>;
  patch(id: string, operations: readonly PatchOperation[], conditions: Conditions, source: AuditSource): Promise<unknown>;
  remove(id: string, conditions: Conditions, source: AuditSource): Promise<void>;
}

export function scimRoutes(users: ScimUsers, groups: ScimGroups): Route[] {
  const userEndpoint: Endpoint = {
    kind: USER,
    missing: 'user_not_found',
    taken: 'name_taken',
    list: (query, caller) => users.list(query, caller),
    get: async (id, projection, caller) => project(USER, await users.get(id, caller), projection),
    create: (input, source) => users.create(input, source),
    replace: (id, input, conditions, source) => users.replace(id, input, conditions, source),
    patch: (id, operations, conditions, source) => users.patch(id, operations, conditions, source),
    remove: (id, conditions, source) => users.remove(id, conditions, source),
  };
  const groupEndpoint: Endpoint = {
    kind: GROUP,
    missing: 'group_not_found',
    taken: 'group_exists',
    list: (query, caller) => groups.list(query, caller),
    get: (id, projection, caller) => groups.get(id, projection, caller),
    create: (input, source) => groups.create(input, source),
    replace: (id, input, conditions, source) => groups.replace(id, input, conditions, source),
    patch: (id, operations, conditions, source) => groups.patch(id, operations, conditions, source),
    remove: (id, conditions, source) => groups.remove(id, conditions, source),
  };
  return [...discoveryRoutes(), ...[userEndpoint, groupEndpoint].flatMap((one) => [...collection(one), ...single(one)])];
}

function collection(endpoint: Endpoint): Route[] {
  const { kind } = endpoint;
  const path = SCIM_BASE + kind.endpoint;
  return [
    get(path, {
      summary: `${kind.name}s of the tenant, oldest first`,
      description: 'Filters by userName, displayName, externalId and id read one row; others look at each resource.',
      query: shared.Listed,
      responses: { 200: shared.ScimResource },
      errors: shared.refusals(),
      handle: async ({ query, caller }) => {
        const { filter, startIndex, count } = query;
        return shared.scimJson(200, await endpoint.list({ ...projectionOf(query), filter, startIndex, count }, caller));
      },
    }),
    post(path, {
      summary: `Make a ${kind.name}`,
      query: shared.Projected,
      body: shared.ScimResource,
      responses: { 201: shared.ScimResource },
      errors: shared.refusals(endpoint.taken, 'weak_password', 'server_busy', 'superadmin_needed'),
      handle: async (context) => {
        const resource = await endpoint.create(context.body as Resource, auditSource(context));
        return shared.resourceAnswer(201, project(kind, resource, projectionOf(context.query)), context);
      },
    }),
  ];
}

function single(endpoint: Endpoint): Route[] {
  const { kind, missing, taken } = endpoint;
  const path = `${SCIM_BASE}${kind.endpoint}/{id}`;
  const changed = {
    params: shared.ScimId,
    query: shared.Projected,
    responses: { 200: shared.ScimResource },
    errors: shared.changeRefusals(missing, taken, 'forbidden', 'last_superadmin', 'weak_password', 'server_busy'),
  } as const;
  const after = async (context: RequestContext<{ id: string }, Partial<Projection>>) =>
    shared.resourceAnswer(200, await endpoint.get(context.params.id, projectionOf(context.query), context.caller), {
      ...context,
      // The answer to a change always has its body.
      headers: new Map(),
    });
  return [
    get(path, {
      params: shared.ScimId,
      summary: `One ${kind.name}`,
      query: shared.Projected,
      responses: { 200: shared.ScimResource },
      errors: shared.refusals(missing),
      handle: async (context) =>
        shared.resourceAnswer(200, await endpoint.get(context.params.id, projectionOf(context.query), context.caller), context),
    }),
    put(path, {
      ...changed,
      summary: `Replace a ${kind.name}`,
      body: shared.ScimResource,
      handle: async (context) => {
        const { params, body } = context;
        await endpoint.replace(params.id, body as Resource, shared.conditionsOf(context), auditSource(context));
        return after(context);
      },
    }),
    patch(path, {
      ...changed,
      summary: `Change a ${kind.name}`,
      description: 'As RFC 7644 section 3.5.2 says, and as Entra ID and Okta send it.',
      body: shared.Patch,
      handle: async (context) => {
        const { params, body } = context;
        await endpoint.patch(params.id, body.Operations, shared.conditionsOf(context), auditSource(context));
        return after(context);
      },
    }),
    del(path, {
      params: shared.ScimId,
      summary: `Delete a ${kind.name}`,
      errors: shared.changeRefusals(missing, 'forbidden', 'last_superadmin'),
      handle: async (context) => {
        await endpoint.remove(context.params.id, shared.conditionsOf(context), auditSource(context));
      },
    }),
  ];
}

function discoveryRoutes(): Route[] {
  const read = (path: string, summary: string, body: Resource): Route =>
    get(SCIM_BASE + path, {
      summary,
      responses: { 200: shared.ScimResource },
      handle: () => shared.scimJson(200, body),
    });
  const one = (path: string, summary: string, all: readonly (Resource & { id: string })[]): Route =>
    get(`${SCIM_BASE}${path}/{id}`, {
      summary,
      responses: { 200: shared.ScimResource },
      params: shared.ScimId,
      errors: ['invalid_request', 'resource_not_found'],
      handle: ({ params }) => {
        const found = all.find(({ id }) => id === params.id);
        if (found === undefined) throw scimError('resource_not_found', `There is no ${params.id.slice(0, 128)} here.`);
        return shared.scimJson(200, found);
      },
    });
  return [
    read('/ServiceProviderConfig', 'What of SCIM is served', serviceProviderConfig),
    read('/ResourceTypes', 'Kinds of resources', listOfAll(resourceTypes)),
    one('/ResourceTypes', 'One kind of resources', resourceTypes),
    read('/Schemas', 'Attributes of the resources', listOfAll(schemas)),
    one('/Schemas', 'Attributes of one schema', schemas),
  ];
}

function projectionOf({ attributes, excludedAttributes }: Partial<Projection>): Projection {
  return attributes === undefined && excludedAttributes === undefined ? EVERYTHING : { attributes, excludedAttributes };
}
