/** OpenAPI 3.1 from the array of routes: the schemas that validate are the schemas that are published. */
import type { TSchema } from 'typebox';
import type { SchemaNode } from '../../schema/accepted.ts';
import { memberEffects } from '../../schema/member-effect.ts';
import { type ErrorBody, flatErrorBody } from '../error-body.ts';
import type { ErrorSpec } from '../errors.ts';
import { POLICIES } from '../policy.ts';
import type { BodyKind, Route } from '../route.ts';
import { type RouterErrorCode, routerErrors } from '../router-errors.ts';
import { WILDCARD_NAME } from '../routing/endpoint.ts';
import { shareParts } from './shared-parts.ts';

export interface ApiInfo {
  title: string;
  version: string;
  description: string;
}

type Json = Record<string, unknown>;

const BODY_TYPES: Record<BodyKind, readonly string[]> = {
  json: ['application/json'],
  bytes: ['application/octet-stream'],
  multipart: ['multipart/form-data'],
  form: ['multipart/form-data', 'application/json'],
};
const ERRORS_OF_BODY: Record<BodyKind, readonly RouterErrorCode[]> = {
  json: ['invalid_json', 'invalid_request', 'unsupported_media_type', 'server_busy'],
  bytes: [],
  multipart: ['invalid_multipart', 'too_many_parts', 'part_too_large', 'unsupported_media_type'],
  form: ['invalid_multipart', 'too_many_parts', 'part_too_large', 'invalid_json', 'invalid_request', 'unsupported_media_type'],
};
/** Refusals of requests that reach no route; published as shared responses, as no operation can list them. */
export const ROUTELESS_ERRORS = routerErrors.specs(
  ...(['invalid_host', 'invalid_method', 'origin_not_allowed', 'host_not_allowed', 'invalid_path', 'not_found'] as const),
  ...(['route_not_found', 'method_not_allowed', 'method_not_implemented', 'module_unavailable'] as const),
);

export function openapiDocument(routes: readonly Route[], info: ApiInfo): Json {
  const paths: Record<string, Json> = {};
  for (const route of [...routes].sort(byPath)) {
    const path = route.path.replace(/\*$/, `{${WILDCARD_NAME}}`);
    const item = paths[path] ?? {};
    item[route.method.toLowerCase()] = operation(route);
    paths[path] = item;
  }
  const tags = [...new Set(routes.map((route) => route.tag))].sort().map((name) => ({ name }));
  return shareParts({
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags,
    paths,
    components: { schemas: errorSchemas(routes), responses: routelessResponses(), securitySchemes: SECURITY },
  });
}

function byPath(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.method < b.method ? -1 : 1;
}

function operation(route: Route): Json {
  const rest = route.params === undefined && route.path.endsWith('*') ? [REST_PARAMETER] : [];
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...rest,
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.requestHeaders, 'header'),
  ];
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, accessSentence(route)].filter(Boolean).join('\n\n'),
    ...(route.auth === 'open' ? { security: [] } : { security: [{}, { apiKey: [] }, { bearer: [] }] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.maxBody > 0 ? { requestBody: requestBody(route) } : {}),
    responses: responsesOf(route),
  };
}

function operationId(route: Route): string {
  const words = route.path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [route.method.toLowerCase(), ...words].join('_');
}

function parametersOf(schema: TSchema | undefined, where: 'path' | 'query' | 'header'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(typeof property['description'] === 'string' ? { description: property['description'] } : {}),
    schema: property,
  }));
}

function requestBody(route: Route): Json {
  const { body, bodyKind = 'json', bodyOptional } = route;
  const types = body === undefined ? BODY_TYPES.bytes : BODY_TYPES[bodyKind];
  const content = body === undefined ? {} : { schema: body };
  return {
    required: body !== undefined && bodyOptional !== true,
    description: `At most ${route.maxBody} bytes.`,
    content: Object.fromEntries(types.map((type) => [type, content])),
  };
}

function accessSentence(route: Route): string {
  const { meaning } = POLICIES[route.auth];
  const needed = scopeOf(route);
  return needed === undefined ? meaning : `${meaning} A key or token needs the scope \`${needed}\`.`;
}

/** Returns the scope that a credential needs for a route beside the role of its policy. */
export function scopeOf({ auth, scope }: Route): string | undefined {
  return scope ?? POLICIES[auth].scope;
}

function responsesOf(route: Route): Json {
  const responses: Json = {};
  for (const [status, schema] of Object.entries(route.responses)) responses[status] = success(route, schema as TSchema);
  for (const [status, specs] of Map.groupBy(errorsOf(route), ({ status }) => status))
    responses[String(status)] ??= refusal(specs, route.errorBody ?? flatErrorBody);
  return responses;
}

function routelessResponses(): Json {
  const byStatus = Map.groupBy(ROUTELESS_ERRORS, (spec) => spec.status);
  return Object.fromEntries([...byStatus].map(([status, specs]) => [`NoRoute${status}`, refusal(specs, flatErrorBody)]));
}

function success(route: Route, schema: TSchema): Json {
  if ((schema as { type?: unknown }).type === 'null')
    return { description: 'Done; the answer has no body.', headers: REPLY_HEADERS };
  const content: Json = { [mediaType(schema)]: { schema } };
  if (route.stream !== undefined) {
    // OpenAPI 3.1 has no notion of events; the schema is that of one event's data.
    content['text/event-stream'] = { schema: route.stream, 'x-event-data': true };
  }
  return { description: (schema as { description?: string }).description ?? 'Done.', headers: REPLY_HEADERS, content };
}

/** Strings are no JSON here: a schema for other bytes names their type in `contentMediaType`. */
function mediaType(schema: TSchema): string {
  const { type, contentMediaType } = schema as { type?: unknown; contentMediaType?: string };
  return contentMediaType ?? (type === 'string' ? 'text/plain' : 'application/json');
}

/** Where no credential is needed, one that comes along is looked at all the same; only probes look at none. */
function credentialErrors({ path, probe }: Route): RouterErrorCode[] {
  if (probe === true) return [];
  return [path.startsWith('/v1/') ? 'invalid_api_key' : 'invalid_credential', 'credential_check_unavailable'];
}

/** When it happens, and what to do about it. */
const sentencesOf = ({ meaning, remedy }: ErrorSpec): string => `${meaning} ${remedy}`;

/** Every refusal of a route: its own, and those of the frame. */
export function errorsOf(route: Route): ErrorSpec[] {
  const policy = POLICIES[route.auth];
  const general = routerErrors.specs(
    ...when(route.maxBody > 0, 'payload_too_large', 'body_too_costly', 'length_required'),
    ...when(route.body !== undefined, ...ERRORS_OF_BODY[route.bodyKind ?? 'json']),
    ...when(route.params !== undefined || route.query !== undefined, 'invalid_request'),
    ...when(hasRefusedMember(route.body) || hasRefusedMember(route.query), 'unsupported_member'),
    ...when(/[{*]/.test(route.path), 'invalid_path'),
    ...when(route.auth !== 'open', 'authentication_required'),
    ...credentialErrors(route),
    ...when(policy.leastRole !== undefined, 'forbidden'),
    ...when(scopeOf(route) !== undefined, 'insufficient_scope'),
    ...(['ambiguous_framing', 'draining', 'storage_unavailable', 'internal'] as const),
  );
  const own = route.errors ?? [];
  const all = [...own, ...general.filter((spec) => !own.some((known) => known.code === spec.code))];
  return all.sort((a, b) => a.status - b.status);
}

function hasRefusedMember(schema: TSchema | undefined): boolean {
  return schema !== undefined && memberEffects(schema as unknown as SchemaNode).some(({ effect }) => effect === 'refused');
}

function when(holds: boolean, ...codes: readonly RouterErrorCode[]): readonly RouterErrorCode[] {
  return holds ? codes : [];
}

function refusal(specs: readonly ErrorSpec[], { name }: ErrorBody): Json {
  const lines = [...new Map(specs.map((spec) => [spec.code, `- \`${spec.code}\`: ${sentencesOf(spec)}`])).values()];
  return {
    description: lines.join('\n'),
    headers: REPLY_HEADERS,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/Error_${name}` } } },
  };
}

const REST_PARAMETER = {
  name: WILDCARD_NAME,
  in: 'path',
  required: true,
  description: 'The rest of the path; it may hold slashes.',
  schema: { type: 'string' },
};

const REPLY_HEADERS = { 'x-request-id': { description: 'Names the request in the log.', schema: { type: 'string' } } };

const SECURITY = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  bearer: { type: 'http', scheme: 'bearer' },
};

function errorSchemas(routes: readonly Route[]): Json {
  const bodies = [flatErrorBody, ...routes.map((route) => route.errorBody ?? flatErrorBody)];
  return Object.fromEntries(bodies.map(({ name, schema }) => [`Error_${name}`, schema]));
}
