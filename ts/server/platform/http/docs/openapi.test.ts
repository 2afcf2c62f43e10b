import t from 'tap';
import Type, { type TSchema } from 'typebox';
import { named } from '../../schema/named.ts';
import { FormFile, formBody, RawBody } from '../body/body-schema.ts';
import { json } from '../route.ts';
import { nestedErrorBody, OK, openTestBed, plainRoute } from '../test-support/test-bed.ts';
import { withDocs } from './docs-routes.ts';
import { openapiDocument } from './openapi.ts';
import { shareParts, withoutReferences } from './shared-parts.ts';

const info = { title: 'Test <API>', version: '1.2.3', description: 'Says `things`.' };
const { routes, document: write } = withDocs(
  [
    plainRoute('POST', '/v1/things/{id}', () => json(201, {}), {
      errorBody: nestedErrorBody('foreign'),
      params: Type.Object({ id: Type.String({ description: 'Name of it.' }) }),
      query: Type.Object({ deep: Type.Optional(Type.Boolean()) }),
      body: Type.Object({ name: Type.String({ description: 'A <b>name</b>.' }), stop: Type.Optional(Type.Null()) }),
      responses: { 201: Type.Object({ ok: Type.Boolean() }) },
      stream: Type.Object({ delta: Type.String() }),
      errors: [{ status: 422, code: 'odd', meaning: 'It is odd.', remedy: 'Make it even.' }],
    }),
    plainRoute('POST', '/v1/audio', () => OK, { bodyKind: 'bytes', body: RawBody, scope: 'audio:write', auth: 'developer' }),
    plainRoute('POST', '/v1/files', () => OK, {
      bodyKind: 'multipart',
      body: formBody({ file: FormFile, purpose: Type.String() }),
    }),
    plainRoute('GET', '/v1/files/*', () => OK, { responses: { 200: Type.String({ contentMediaType: 'audio/wav' }) } }),
  ],
  info,
);
const document = write();
const whole = withoutReferences(document);
const bed = await openTestBed(t, routes);

t.test('a route is described whole', (t) => {
  const operation = (whole['paths'] as Record<string, Record<string, unknown>>)['/v1/things/{id}']?.['post'];
  t.match(operation, {
    operationId: 'post_v1_things_id',
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'Name of it.' },
      { name: 'deep', in: 'query', required: false },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { required: ['name'] } } } },
    responses: {
      201: { content: { 'application/json': {}, 'text/event-stream': { schema: { type: 'object' } } } },
      400: {
        description: /invalid_json/,
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      413: { description: /payload_too_large/ },
      422: { description: /`odd`: It is odd/ },
    },
  });
  t.end();
});

t.test('bodies and answers that are no JSON are described by their types', (t) => {
  const paths = whole['paths'] as Record<string, Record<string, Record<string, unknown>>>;
  t.match(paths['/v1/audio']?.['post'], {
    description: /role developer.*scope `audio:write`/,
    requestBody: { content: { 'application/octet-stream': { schema: { format: 'binary' } } } },
    responses: { 403: { description: /forbidden.*insufficient_scope/s } },
  });
  t.match(paths['/v1/files']?.['post'], {
    requestBody: { content: { 'multipart/form-data': { schema: { required: ['file', 'purpose'] } } } },
    responses: { 400: { description: /invalid_multipart/ }, 413: { description: /part_too_large/ } },
  });
  t.match(paths['/v1/files/{path}']?.['get'], {
    parameters: [{ name: 'path', in: 'path' }],
    responses: { 200: { content: { 'audio/wav': {} } } },
  });
  t.end();
});

t.test('every reference in the document leads somewhere', (t) => {
  const components = document['components'] as Record<string, object>;
  const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)];
  t.ok(targets.length > 3);
  t.strictSame(
    targets.filter(([, kind = '', name = '']) => !Object.hasOwn(components[kind] ?? {}, name)),
    [],
  );
  t.end();
});

t.test('a named schema is written once, and what refers to it reads as if it were there', (t) => {
  const Part = () => named('Part', Type.Object({ size: Type.Integer() }));
  const answer = (schema: TSchema) => [plainRoute('GET', '/a', () => OK, { responses: { 200: schema } })];
  const list = Type.Object({ data: Type.Array(Part()), title: Type.String() });
  const shared = openapiDocument([...answer(list), plainRoute('GET', '/b', () => OK, { responses: { 200: Part() } })], info);
  t.strictSame((shared['components'] as { schemas: Record<string, unknown> }).schemas['Part'], {
    type: 'object',
    required: ['size'],
    properties: { size: { type: 'integer' } },
  });
  t.equal(JSON.stringify(shared).match(/schemas\/Part"/g)?.length, 2);
  t.match(withoutReferences(shared), {
    paths: { '/b': { get: { responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } } } } },
  });
  const other = Type.Object({ a: Part(), b: named('Part', Type.String()) });
  t.throws(() => openapiDocument(answer(other), info), /two different schemas have the name Part/);
  t.end();
});

t.test('refusals are shared by their codes, and told apart where they say other things', (t) => {
  const refusal = (text: string) => ({ description: `- \`odd\`: ${text}`, headers: {} });
  const operations = { get: { responses: { 404: refusal('a') } }, put: { responses: { 404: refusal('b') } } };
  const shared = shareParts({ paths: { '/a': operations, '/b': operations }, components: { schemas: {} } });
  t.strictSame(Object.keys((shared['components'] as { responses: object }).responses), ['Refused404_odd', 'Refused404_odd_2']);
  t.end();
});

t.test('the document is served, and describes the routes that serve it', async (t) => {
  const response = await fetch(`${bed.url}/openapi.json`);
  t.equal(response.headers.get('content-type'), 'application/json');
  const served = (await response.json()) as { openapi: string; paths: Record<string, unknown> };
  t.equal(served.openapi, '3.1.0');
  t.strictSame(Object.keys(served.paths), [
    '/docs',
    '/openapi.json',
    '/v1/audio',
    '/v1/files',
    '/v1/files/{path}',
    '/v1/things/{id}',
  ]);
});

t.test('the page runs nothing, loads nothing, and escapes what it shows', async (t) => {
  const response = await fetch(`${bed.url}/docs`);
  const html = await response.text();
  t.match(response.headers.get('content-security-policy'), /default-src 'none'/);
  t.notMatch(html, /<script|https?:\/\//);
  t.match(html, /A &lt;b&gt;name&lt;\/b&gt;/);
  t.match(html, /Test &lt;API&gt;/);
  t.match(html, /\/v1\/things\/\{id\}/);
});
