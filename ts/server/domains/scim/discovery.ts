/** What a directory asks first: what is served, and which attributes there are (RFC 7643 sections 5 to 7). */
import { MAX_COUNT } from './list-resources.ts';
import { type Attribute, COMMON, MESSAGES, type ResourceKind, type ResourceSchema } from './resource/attribute.ts';
import { GROUP, USER } from './resource/kinds.ts';
import type { Resource } from './resource/resource.ts';
import { SCIM_BASE } from './versioned.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:';
const KINDS = [USER, GROUP];
const ALL_SCHEMAS = KINDS.flatMap(({ core, extensions }) => [core, ...extensions]);

export const serviceProviderConfig: Resource = {
  schemas: [`${CORE}ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_COUNT },
  changePassword: { supported: true },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'API key',
      primary: true,
      description: 'An API key of an administrator with the scope scim, as Authorization: Bearer.',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${SCIM_BASE}/ServiceProviderConfig` },
};

export const resourceTypes: readonly (Resource & { id: string })[] = KINDS.map((kind) => ({
  schemas: [`${CORE}ResourceType`],
  id: kind.name,
  name: kind.name,
  endpoint: kind.endpoint,
  description: kind.core.description,
  schema: kind.core.urn,
  schemaExtensions: kind.extensions.map(({ urn }) => ({ schema: urn, required: false })),
  meta: { resourceType: 'ResourceType', location: `${SCIM_BASE}/ResourceTypes/${kind.name}` },
}));

export const schemas: readonly (Resource & { id: string })[] = ALL_SCHEMAS.map((schema) => schemaResource(schema, KINDS));

export function listOfAll(resources: readonly Resource[]): Resource {
  const counts = { totalResults: resources.length, startIndex: 1, itemsPerPage: resources.length };
  return { schemas: [`${MESSAGES}ListResponse`], ...counts, Resources: resources };
}

function schemaResource(
  { urn, name, description, attributes }: ResourceSchema,
  kinds: readonly ResourceKind[],
): Resource & { id: string } {
  const isCore = kinds.some(({ core }) => core.urn === urn);
  const shared = isCore ? COMMON.filter((attribute) => attribute.name === 'externalId') : [];
  return {
    schemas: [`${CORE}Schema`],
    id: urn,
    name,
    description,
    attributes: [...shared, ...attributes].map(attributeResource),
    meta: { resourceType: 'Schema', location: `${SCIM_BASE}/Schemas/${urn}` },
  };
}

function attributeResource(attribute: Attribute): Resource {
  const { name, type, description, multiValued, required, caseExact, mutability, uniqueness, sub } = attribute;
  return {
    name,
    type,
    description,
    multiValued: multiValued ?? false,
    required: required ?? false,
    caseExact: caseExact ?? false,
    mutability: mutability ?? 'readWrite',
    returned: mutability === 'writeOnly' ? 'never' : 'default',
    uniqueness: uniqueness ?? 'none',
    ...(type === 'reference' && { referenceTypes: ['uri'] }),
    ...(sub !== undefined && { subAttributes: sub.map(attributeResource) }),
  };
}
