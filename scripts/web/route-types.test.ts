import t from 'tap';
import { routeTypes } from './route-types.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const typesOf = (operation: object): string => {
  const text = routeTypes({ paths: { '/x/{id}': { post: { responses: {}, ...operation } } } });
  return /'POST \/x\/\{id\}': (.*);/.exec(text)?.[1] ?? '';
};

t.test('parameters stand by their place, and are optional when all of them are', async (t) => {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
  t.equal(typesOf({ parameters: [id, limit] }), '{ params: { id: string }; query?: { limit?: number }; answer: undefined }');
});

t.test('a body is JSON of its schema, or a file', async (t) => {
  const schema = {
    type: 'object',
    properties: { 'a-b': { enum: ['x', "y'"] }, c: { type: ['string', 'null'] } },
    required: ['a-b'],
  };
  t.equal(
    typesOf({ requestBody: { required: true, ...json(schema) } }),
    "{ body: { 'a-b': 'x' | 'y\\''; c?: string | null }; answer: undefined }",
  );
  t.equal(typesOf({ requestBody: { content: { 'application/octet-stream': {} } } }), '{ body?: Blob; answer: undefined }');
});

t.test('an answer is what its good statuses say', async (t) => {
  const list = json({ type: 'array', items: { anyOf: [{ type: 'boolean' }, { const: null }] } });
  t.equal(
    typesOf({ responses: { 200: list, 204: {}, 404: json({ type: 'string' }) } }),
    '{ answer: (boolean | null)[] | undefined }',
  );
  t.equal(typesOf({ responses: { 200: json({ type: 'object' }) } }), '{ answer: Record<string, unknown> }');
});
