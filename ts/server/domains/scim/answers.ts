/** Shapes and answers that the SCIM routes share. */
import Type from 'typebox';
import { json, type Reply, type RequestContext } from '../../platform/http/route.ts';
import { named } from '../../platform/schema/named.ts';
import { type IdentityErrorCode, identityErrors } from '../identity/index.ts';
import { scimErrors } from './errors.ts';
import { MAX_FILTER_LENGTH } from './filter/tokens.ts';
import { isObject, type Resource } from './resource/resource.ts';
import { type Conditions, isListed } from './versioned.ts';

export const MAX_RESOURCE_BYTES = 4 * 1024 * 1024;
export const ScimResource = named(
  'ScimResource',
  Type.Object(
    { schemas: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })) },
    { additionalProperties: true, description: 'RFC 7643; GET /scim/v2/Schemas lists the attributes.' },
  ),
);
export const ScimId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
const Names = Type.Optional(Type.String({ maxLength: 4096, description: 'Names of attributes, separated by commas.' }));
export const Projected = Type.Object({ attributes: Names, excludedAttributes: Names });
const Index = Type.Integer({ minimum: -2147483648, maximum: 2147483647 });
export const Listed = Type.Object({
  ...Projected.properties,
  filter: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_FILTER_LENGTH, description: 'RFC 7644, section 3.4.2.2.' })),
  startIndex: Type.Optional(Index),
  count: Type.Optional(Index),
});
export const Patch = named(
  'ScimPatch',
  Type.Object({
    schemas: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    Operations: Type.Array(
      Type.Object({
        op: Type.String({ maxLength: 20, description: 'add, replace or remove, in any case.' }),
        path: Type.Optional(Type.String({ maxLength: 4096 })),
        value: Type.Optional(Type.Unknown()),
      }),
      { minItems: 1, maxItems: 1000 },
    ),
  }),
);

export const refusals = (...codes: IdentityErrorCode[]) => [
  ...scimErrors.specs('invalid_request'),
  ...identityErrors.specs(...codes),
];
export const changeRefusals = (...codes: IdentityErrorCode[]) => [
  ...refusals(...codes),
  ...scimErrors.specs('precondition_failed'),
];

/** With its tag; a client that has this version gets no body. */
export function resourceAnswer(status: number, resource: Resource, { headers }: RequestContext): Reply {
  const meta = isObject(resource['meta']) ? resource['meta'] : {};
  const version = typeof meta['version'] === 'string' ? meta['version'] : '';
  const tags = { ...(version !== '' && { etag: version }), ...(status === 201 && { location: String(meta['location']) }) };
  const known = headers.get('if-none-match');
  if (status === 200 && version !== '' && known !== undefined && isListed(known, version)) {
    return { kind: 'bytes', status: 304, headers: tags, body: '' };
  }
  return scimJson(status, resource, tags);
}

export function scimJson(status: number, body: Resource, headers: Record<string, string> = {}): Reply {
  return json(status, body, { 'content-type': 'application/scim+json', ...headers });
}

export function conditionsOf({ headers }: RequestContext): Conditions {
  return { ifMatch: headers.get('if-match'), ifNoneMatch: headers.get('if-none-match') };
}
