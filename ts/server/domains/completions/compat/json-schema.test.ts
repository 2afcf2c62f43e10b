import fc from 'fast-check';
import t, { type Test } from 'tap';
import { SchemaReader } from './json-schema.ts';
import type { Members } from './members.ts';

const code = 'invalid_grammar';
const readJsonSchema = (schema: Members, param: string) => new SchemaReader().read(schema, param);
const refused = (t: Test, schema: Members, message: RegExp) =>
  t.throws(() => readJsonSchema(schema, 'schema'), { code, message });

t.test('a schema that has nothing to put right is handed on as it is', async (t) => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', pattern: '^[a-z]+$' }, next: { $ref: '#/$defs/next' } },
    $defs: { next: { anyOf: [{ $ref: '#/$defs/next' }, { type: 'null' }] } },
  };
  t.equal(readJsonSchema(schema, 'schema'), schema);
});

t.test('a reference to the whole document becomes one to a definition of it', async (t) => {
  const children = { type: 'array', items: { $ref: '#' } };
  const schema = { type: 'object', properties: { children }, $defs: { root: { type: 'null' } } };
  const named = { type: 'array', items: { $ref: '#/$defs/root_' } };
  t.strictSame(readJsonSchema(schema, 'schema'), {
    type: 'object',
    properties: { children: named },
    $defs: { root: { type: 'null' }, root_: { type: 'object', properties: { children: named } } },
  });
  t.equal(children.items.$ref, '#', 'the request stays as it was sent');
});

t.test('a value that looks like a reference is none', async (t) => {
  const schema = { properties: { a: { const: { $ref: '#' } }, $ref: { type: 'string' }, pattern: { enum: ['('] } } };
  t.equal(readJsonSchema(schema, 'schema'), schema);
});

t.test('a pattern that is no regular expression is refused with its place', async (t) => {
  refused(
    t,
    { properties: { 'a/b': { items: [{ pattern: '(' }] } } },
    /schema: the pattern at #\/properties\/a~1b\/items\/0 is no/,
  );
  refused(
    t,
    { properties: { a: { $ref: '#/shared/word' } }, shared: { word: { pattern: '[z-a]' } } },
    /at #\/shared\/word is no/,
  );
});

t.test('a pattern may be written for either flavour of ECMA-262', async (t) => {
  for (const pattern of ['^[\\w-\\.]+$', '^\\p{L}+$', '\\u{1F600}', '(?<year>\\d{4})']) {
    t.strictSame(readJsonSchema({ pattern }, 'schema'), { pattern });
  }
});

t.test('any JSON is read without a failure of another kind, and stays the same unless it names its root', (t) => {
  const keys = ['$ref', 'pattern', 'anyOf', 'allOf', 'items', 'properties', '$defs', 'a', 'b'];
  const words = ['#', '#/$defs/a', '#/properties/b', '#/a', '#/allOf/0', '(', '^a$', 1];
  const schema = fc.object({ key: fc.constantFrom(...keys), values: [fc.constantFrom<unknown>(...words)], maxDepth: 6 });
  fc.assert(
    fc.property(schema, (value) => {
      const before = JSON.stringify(value);
      try {
        const read = readJsonSchema(value as Members, 'schema');
        return JSON.stringify(value) === before && (read === value || before.includes('"$ref":"#"'));
      } catch (error) {
        return (error as { code?: string }).code === code;
      }
    }),
    { numRuns: 2_000 },
  );
  t.end();
});
