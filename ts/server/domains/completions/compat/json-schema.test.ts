import fc from 'fast-check';
import t from 'tap';
import { SchemaReader, schemaNotes, shownSchema } from './json-schema.ts';
import type { Members } from './members.ts';

const read = (schema: Members) => new SchemaReader().read(schema, { param: 'schema', isStrict: false });

t.test('a schema in the words that the engine follows stays as it is', async (t) => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', maxLength: 9 }, tags: { type: 'array', items: { type: 'integer' } } },
    required: ['name'],
  };
  t.strictSame(read(schema), schema);
});

t.test('a value that looks like a reference is none', async (t) => {
  const schema = { properties: { a: { const: { $ref: '#' } }, $ref: { type: 'string' }, pattern: { enum: ['(', 'b'] } } };
  t.strictSame(read(schema), { type: 'object', ...schema });
});

t.test('a pattern that is no regular expression is refused with its place', async (t) => {
  const refused = (schema: Members, message: RegExp) => t.throws(() => read(schema), { code: 'invalid_grammar', message });
  refused(
    { properties: { 'a/b': { items: { pattern: '(' } } } },
    /schema cannot .* the pattern at #\/properties\/a~1b\/items is no/,
  );
  refused({ properties: { a: { $ref: '#/shared/word' } }, shared: { word: { pattern: '[z-a]' } } }, /at #\/shared\/word is no/);
});

t.test('a definition is named once in a request, since all tools share one grammar', async (t) => {
  const reader = new SchemaReader();
  const tree = { type: 'object', properties: { left: { $ref: '#' } } };
  const names = ['a', 'b'].map(
    (tool) => Object.keys(reader.read(tree, { param: tool, tool, isStrict: true })['$defs'] as Members)[0],
  );
  t.equal(new Set(names).size, 2);
});

t.test('a strict schema names the place, the keyword, the tool, and what would be accepted', async (t) => {
  const schema = { type: 'object', properties: { 'a/b': { type: 'array', uniqueItems: true } } };
  t.throws(() => new SchemaReader().read(schema, { param: 'tools[1].function.parameters', tool: 'f', isStrict: true }), {
    code: 'schema_not_supported',
    param: 'tools[1].function.parameters',
    message: /tool f.* keyword uniqueItems at #\/properties\/a~1b.* Accepted: /,
    extra: { pointer: '#/properties/a~1b', keyword: 'uniqueItems', tool: 'f', accepted: /item/ },
  });
});

t.test('strings that a model writes without quotation marks have grammars, or are named', async (t) => {
  const reader = new SchemaReader();
  const stated = { param: 'tools[0].function.parameters', tool: 'f', isStrict: false };
  const code = { type: 'string', pattern: '^[<-=]{2}$' };
  const schema = {
    type: 'object',
    properties: {
      free: { type: 'string' },
      lamp: { enum: ['hall', 'a"b', '</x>', null] },
      long: { type: 'string', minLength: 2 },
      short: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
      code: { anyOf: [code, { const: '' }] },
      same: { anyOf: [code, { const: '' }] },
      n: { type: 'integer', maximum: 3 },
      either: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'integer' }] },
      'only/tag': { type: 'string', pattern: '^<$' },
    },
  };
  const { 'x-strings': strings } = reader.ofTool(reader.read(schema, stated), stated);
  t.strictSame(strings, {
    lamp: { gbnf: '("hall" | "a\\U00000022b")', isOpen: false },
    long: { gbnf: '[^<]{2}', isOpen: true },
    short: { gbnf: '([^<]{0,3})', isOpen: false },
    code: { gbnf: '("" | ("" [\\U0000003D-\\U0000003D]{2,2}))', isOpen: false },
    same: { gbnf: '("" | ("" [\\U0000003D-\\U0000003D]{2,2}))', isOpen: false },
  });
  t.strictSame(schemaNotes(reader), {
    byNotation: {
      tagged: {
        schemaIgnored:
          'tools[0].function.parameters#/properties/either/anyOf, tools[0].function.parameters#/properties/only~1tag/pattern',
      },
      free: { schemaIgnored: 'tools[0].function.parameters#/properties' },
    },
  });
});

t.test('the model is shown objects where a schema is true or false', async (t) => {
  t.strictSame(shownSchema({ type: 'object', properties: { a: true, b: { type: 'object', properties: { c: false } } } }), {
    type: 'object',
    properties: { a: {}, b: { type: 'object', properties: { c: { not: {} } } } },
  });
});

t.test('any JSON is read without a failure of another kind, in bounded time, and is left as it was sent', (t) => {
  const keys = '$ref pattern anyOf oneOf allOf not if then items properties required type enum $defs a b'.split(' ');
  const words = ['#', '#/$defs/a', '#/properties/b', '#/a', '#/allOf/0', '(', '^a$', 'object', 'string', 1];
  const schema = fc.object({ key: fc.constantFrom(...keys), values: [fc.constantFrom<unknown>(...words)], maxDepth: 6 });
  fc.assert(
    fc.property(schema, (value) => {
      const before = JSON.stringify(value);
      try {
        read(value as Members);
      } catch (error) {
        if ((error as { code?: string }).code !== 'invalid_grammar') throw error;
      }
      return JSON.stringify(value) === before;
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test('alternatives of alternatives, and schemas that are nested deeply, are bounded', async (t) => {
  const alternatives = Array.from({ length: 12 }, (_, i) => ({
    anyOf: ['a', 'b', 'c'].map((name) => ({ required: [`${name}${i}`] })),
  }));
  let nested: Members = { type: 'string' };
  for (let depth = 0; depth < 5_000; depth++) nested = { type: 'array', items: nested };
  const before = process.cpuUsage().user;
  read({ type: 'object', allOf: alternatives });
  t.throws(() => read(nested), { code: 'invalid_grammar', message: /nested more than/ });
  const ms = (process.cpuUsage().user - before) / 1_000;
  t.ok(ms < 2_000, `${ms.toFixed(0)} ms`);
});
