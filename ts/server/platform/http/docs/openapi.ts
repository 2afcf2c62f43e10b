/** OpenAPI 3.1 from the array of routes: the schemas that validate are the schemas that are published. */
import type { TSchema } from 'typebox';
import { type ErrorBody, flatErrorBody } from '../error-body.ts';
import type { ErrorSpec } from '../errors.ts';
import { POLICIES } from '../policy.ts';
import type { BodyKind, Route } from '../route.ts';
import { WILDCARD_NAME } from '../routing/endpoint.ts';
import { UNUSABLE_STORAGE } from '../unusable-storage.ts';

export interface ApiInfo {
  title: string;
  version: string;
  description: string;
}

type Json = Record<string, unknown>;

/** Refusals that any route can give, by the router itself. */
const COMMON_ERRORS: readonly ErrorSpec[] = [
  {
    status: 400,
    code: 'ambiguous_framing',
    meaning: 'Headers that two servers could read differently; the connection is closed.',
  },
  { status: 503, code: 'draining', meaning: 'The server is shutting down; retry elsewhere.' },
  UNUSABLE_STORAGE,
  { status: 500, code: 'internal', meaning: 'A fault of the server; the log has it under the request id.' },
];
const BODY_TYPES: Record<BodyKind, string> = {
  json: 'application/json',
  bytes: 'application/octet-stream',
  multipart: 'multipart/form-data',
};
const SIZE_ERRORS: readonly ErrorSpec[] = [
  { status: 413, code: 'payload_too_large', meaning: 'The body is over the limit of the route.' },
  { status: 413, code: 'body_too_costly', meaning: 'Reading the body takes too much memory or time; send less in one request.' },
  { status: 411, code: 'length_required', meaning: 'The public edge takes no chunked bodies; send a Content-Length.' },
];
const JSON_ERRORS: readonly ErrorSpec[] = [
  { status: 400, code: 'invalid_json', meaning: 'The body is not JSON, not UTF-8, nested too deeply, or has too many values.' },
  { status: 400, code: 'invalid_request', meaning: 'A member is missing or wrong; `detail` names it and what is accepted.' },
  { status: 415, code: 'unsupported_media_type', meaning: 'The body needs Content-Type: application/json.' },
  { status: 503, code: 'server_busy', meaning: 'Too many large bodies are arriving at once; retry.' },
];
const MULTIPART_ERRORS: readonly ErrorSpec[] = [
  { status: 400, code: 'invalid_multipart', meaning: 'The body is no form, is cut off, or has a part without a name.' },
  { status: 400, code: 'too_many_parts', meaning: 'The form has more files or fields than the route takes.' },
  { status: 413, code: 'part_too_large', meaning: 'A file or a field is over its limit.' },
  { status: 415, code: 'unsupported_media_type', meaning: 'The body needs Content-Type: multipart/form-data with a boundary.' },
];
const ERRORS_OF_BODY: Record<BodyKind, readonly ErrorSpec[]> = { json: JSON_ERRORS, bytes: [], multipart: MULTIPART_ERRORS };
const PATH_ERROR: ErrorSpec = {
  status: 400,
  code: 'invalid_path',
  meaning: 'The path holds an escape that is no UTF-8, or a NUL character.',
};
const INPUT_ERRORS: readonly ErrorSpec[] = [
  { status: 400, code: 'invalid_request', meaning: 'A parameter is missing or wrong; `detail` names it and what is accepted.' },
];
const LOGIN_ERRORS: readonly ErrorSpec[] = [{ status: 401, code: 'authentication_required', meaning: 'No credential arrived.' }];
const ROLE_ERRORS: readonly ErrorSpec[] = [{ status: 403, code: 'forbidden', meaning: 'The caller lacks the role.' }];
const SCOPE_ERRORS: readonly ErrorSpec[] = [
  { status: 403, code: 'insufficient_scope', meaning: 'The credential lacks the scope.' },
];
/** Refusals of requests that reach no route; published as shared responses, as no operation can list them. */
const ROUTELESS_ERRORS: readonly ErrorSpec[] = [
  { status: 400, code: 'invalid_host', meaning: 'The Host header does not name one host.' },
  { status: 400, code: 'invalid_method', meaning: 'The request method is not a valid token.' },
  { status: 403, code: 'origin_not_allowed', meaning: 'A web page of a foreign origin may not send this request.' },
  { status: 421, code: 'host_not_allowed', meaning: 'The Host is no name of this machine; see http.allowed_hosts.' },
  PATH_ERROR,
  { status: 404, code: 'not_found', meaning: 'Nothing is served at this path; `detail` says that no handler is registered.' },
  { status: 404, code: 'route_not_found', meaning: 'The module in `module` serves nothing at this path.' },
  { status: 405, code: 'method_not_allowed', meaning: 'The path serves other methods, which the Allow header lists.' },
  { status: 501, code: 'method_not_implemented', meaning: 'No path serves this method.' },
  { status: 503, code: 'module_unavailable', meaning: 'No node runs the module that the path names; retry later.' },
];

export function openapiDocument(routes: readonly Route[], info: ApiInfo): Json {
  const paths: Record<string, Json> = {};
  for (const route of [...routes].sort(byPath)) {
    const path = route.path.replace(/\*$/, `{${WILDCARD_NAME}}`);
    const item = paths[path] ?? {};
    item[route.method.toLowerCase()] = operation(route);
    paths[path] = item;
  }
  const tags = [...new Set(routes.map((route) => route.tag))].sort().map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags,
    paths,
    components: { schemas: errorSchemas(routes), responses: routelessResponses(), securitySchemes: SECURITY },
  };
}

function byPath(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.method < b.method ? -1 : 1;
}

function operation(route: Route): Json {
  const rest = route.params === undefined && route.path.endsWith('*') ? [REST_PARAMETER] : [];
  const parameters = [...parametersOf(route.params, 'path'), ...rest, ...parametersOf(route.query, 'query')];
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

function parametersOf(schema: TSchema | undefined, where: 'path' | 'query'): Json[] {
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
  const type = body === undefined ? 'application/octet-stream' : BODY_TYPES[bodyKind];
  return {
    required: body !== undefined && bodyOptional !== true,
    description: `At most ${route.maxBody} bytes.`,
    content: { [type]: body === undefined ? {} : { schema: body } },
  };
}

function accessSentence({ auth, scope }: Route): string {
  const { meaning, scope: scopeOfPolicy } = POLICIES[auth];
  const needed = scope ?? scopeOfPolicy;
  return needed === undefined ? meaning : `${meaning} A key or token needs the scope \`${needed}\`.`;
}

function responsesOf(route: Route): Json {
  const responses: Json = {};
  for (const [status, schema] of Object.entries(route.responses)) responses[status] = success(route, schema as TSchema);
  for (const [status, specs] of errorsByStatus(route))
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
function credentialErrors({ path, probe }: Route): ErrorSpec[] {
  if (probe === true) return [];
  const meaning =
    'The credential was refused; `reason` says why. A stream that is open when its credential is revoked ends with this in its last frame.';
  return [
    { status: 401, code: path.startsWith('/v1/') ? 'invalid_api_key' : 'invalid_credential', meaning },
    { status: 503, code: 'credential_check_unavailable', meaning: 'The credential could not be checked; retry.' },
  ];
}

function errorsByStatus(route: Route): Map<number, ErrorSpec[]> {
  const general = [
    ...(route.maxBody === 0 ? [] : SIZE_ERRORS),
    ...(route.body === undefined ? [] : ERRORS_OF_BODY[route.bodyKind ?? 'json']),
    ...(route.params === undefined && route.query === undefined ? [] : INPUT_ERRORS),
    ...(/[{*]/.test(route.path) ? [PATH_ERROR] : []),
    ...(route.auth === 'open' ? [] : LOGIN_ERRORS),
    ...credentialErrors(route),
    ...(POLICIES[route.auth].leastRole === undefined ? [] : ROLE_ERRORS),
    ...((route.scope ?? POLICIES[route.auth].scope) === undefined ? [] : SCOPE_ERRORS),
    ...COMMON_ERRORS,
  ];
  const own = route.errors ?? [];
  const all = [...own, ...general.filter((spec) => !own.some((known) => known.code === spec.code))];
  return Map.groupBy(
    all.sort((a, b) => a.status - b.status),
    (spec) => spec.status,
  );
}

function refusal(specs: readonly ErrorSpec[], { name }: ErrorBody): Json {
  const lines = [...new Map(specs.map((spec) => [spec.code, `- \`${spec.code}\`: ${spec.meaning}`])).values()];
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
