/** Each keyword of JSON Schema in each place where it may stand: the engine follows it there, or it is refused by its name. */
import t from 'tap';
import { SchemaReader, type Stated } from '../../../ts/server/domains/completions/compat/json-schema.ts';
import type { Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { noReferences } from './reference.ts';
import { decide, follow } from './schema-program.ts';

const skip = noReferences();

/** A keyword with a value that satisfies it and one that does not, as JSON texts; or refused. */
type Sample =
  | [name: string, schema: Members, valid: string, invalid: string]
  | [name: string, schema: Members, refused: { keyword: string }];

const samples: readonly Sample[] = [
  ['type', { type: 'string' }, '"a"', '1'],
  ['type, a list', { type: ['integer', 'null'] }, 'null', '1.5'],
  ['const', { const: { a: [1, 'b"'] } }, '{"a":[1,"b\\""]}', '{"a":[2]}'],
  ['enum', { enum: ['a', 2, null] }, '2', '3'],
  ['enum beside a type', { type: 'string', enum: ['a', 2] }, '"a"', '2'],
  ['minimum of number', { type: 'number', minimum: 5 }, '5.25', '4.9'],
  ['maximum of number', { type: 'number', maximum: 6 }, '-7.5', '6.1'],
  ['minimum and maximum of number', { type: 'number', minimum: 5, maximum: 6 }, '5.5', '26'],
  ['exclusiveMinimum of number', { type: 'number', exclusiveMinimum: 0.5 }, '0.51', '0.5'],
  ['exclusiveMaximum of number', { type: 'number', exclusiveMaximum: -0.5 }, '-0.6', '-0.5'],
  ['minimum of integer', { type: 'integer', minimum: 205 }, '1000', '25'],
  ['maximum of integer', { type: 'integer', maximum: -3 }, '-12', '-02'],
  ['exclusiveMinimum of integer', { type: 'integer', exclusiveMinimum: 9.5 }, '10', '9'],
  ['minimum without a type', { minimum: 1, maximum: 2 }, '1.5', '3'],
  ['multipleOf between bounds', { type: 'integer', minimum: 0, maximum: 20, multipleOf: 5 }, '15', '7'],
  ['multipleOf of whole numbers', { type: 'number', multipleOf: 1, maximum: 3 }, '2', '2.5'],
  ['multipleOf', { type: 'number', multipleOf: 0.1 }, { keyword: 'multipleOf' }],
  ['minLength', { type: 'string', minLength: 2 }, '"a\\n"', '"a"'],
  ['maxLength', { type: 'string', maxLength: 2 }, '"é😀"', '"abc"'],
  ['minLength of thousands', { type: 'string', minLength: 3000 }, { keyword: 'minLength' }],
  ['maxLength of thousands', { type: 'string', maxLength: 3000 }, { keyword: 'maxLength' }],
  ['pattern with a quotation mark', { type: 'string', pattern: '^a"b$' }, '"a\\"b"', '"a"b"'],
  ['pattern with a negated class', { type: 'string', pattern: '^[^a]{6}$' }, '"Fi\\"\\\\ll"', '"Fill"}"'],
  ['pattern without anchors', { type: 'string', pattern: 'b+c' }, '"abbcd"', '"ac"'],
  ['pattern with anchors in alternatives', { type: 'string', pattern: '^a|b$' }, '"xb"', '"xa"'],
  ['pattern with escapes', { type: 'string', pattern: '^\\d\\.\\w\\s\\u00e9$' }, '"1.a\\té"', '"1xa é"'],
  ['pattern beside a length', { type: 'string', pattern: '^a*$', minLength: 2, maxLength: 3 }, '"aa"', '"aaaa"'],
  ['pattern that looks ahead', { type: 'string', pattern: '^(?!a)b$' }, { keyword: 'pattern' }],
  ['two patterns', { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'b$' }] }, { keyword: 'pattern' }],
  ['format date', { type: 'string', format: 'date' }, '"2024-02-29"', '"2023-02-29"'],
  ['format email', { type: 'string', format: 'email' }, '"a.b@example.org"', '"a@b@c"'],
  ['format uri with a port', { type: 'string', format: 'uri' }, '"a://b.c:65535/d"', '"a://b.c:65536/d"'],
  ['format that is unknown', { type: 'string', format: 'colour' }, { keyword: 'format' }],
  ['items', { type: 'array', items: { type: 'integer' } }, '[1,2]', '["a"]'],
  ['items that are false', { type: 'array', items: false }, '[]', '[1]'],
  ['minItems', { type: 'array', items: { type: 'integer' }, minItems: 2 }, '[1,2]', '[1]'],
  ['maxItems', { type: 'array', items: { type: 'integer' }, maxItems: 1 }, '[1]', '[1,2]'],
  ['maxItems of thousands', { type: 'array', maxItems: 3000 }, { keyword: 'maxItems' }],
  ['prefixItems', { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false }, '[1,"a"]', '[1,2]'],
  [
    'items behind prefixItems',
    { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
    '[1,"a"]',
    '[1,2]',
  ],
  ['uniqueItems', { type: 'array', uniqueItems: true }, { keyword: 'uniqueItems' }],
  ['contains', { type: 'array', contains: { const: 1 } }, { keyword: 'contains' }],
  ['unevaluatedItems', { type: 'array', prefixItems: [{ type: 'integer' }], unevaluatedItems: false }, '[1]', '[1,2]'],
  ['properties', { type: 'object', properties: { a: { type: 'integer' } } }, '{"a":1}', '{"a":"b"}'],
  ['properties that are false', { type: 'object', properties: { a: { type: 'integer' }, b: false } }, '{"a":1}', '{"b":1}'],
  ['required', { type: 'object', properties: { a: {} }, required: ['a'] }, '{"a":1}', '{}'],
  ['required that properties lacks', { type: 'object', properties: { a: {} }, required: ['b'] }, '{"b":2,"a":1}', '{"a":1}'],
  ['required alone', { type: 'object', required: ['b'] }, '{"b":2,"c":3}', '{"c":3}'],
  ['additionalProperties', { type: 'object', additionalProperties: { type: 'integer' } }, '{"x":1}', '{"x":"a"}'],
  [
    'additionalProperties beside properties',
    { type: 'object', properties: { ab: { type: 'integer' }, 'a-c': true }, additionalProperties: { type: 'string' } },
    '{"ab":1,"ad":"x"}',
    '{"a\\u0062":"x"}',
  ],
  [
    'additionalProperties that are false',
    { type: 'object', properties: { a: {} }, additionalProperties: false },
    '{"a":1}',
    '{"b":1}',
  ],
  ['patternProperties', { type: 'object', patternProperties: { '^a': { type: 'integer' } } }, { keyword: 'patternProperties' }],
  ['propertyNames', { type: 'object', propertyNames: { maxLength: 2 } }, { keyword: 'propertyNames' }],
  [
    'propertyNames of named ones',
    { type: 'object', properties: { a: {}, bcd: {} }, propertyNames: { maxLength: 2 } },
    '{"a":1}',
    '{"bcd":1}',
  ],
  ['minProperties', { type: 'object', minProperties: 1 }, { keyword: 'minProperties' }],
  ['minProperties of all', { type: 'object', properties: { a: {}, b: {} }, minProperties: 2 }, '{"a":1,"b":1}', '{"a":1}'],
  ['maxProperties', { type: 'object', maxProperties: 1 }, { keyword: 'maxProperties' }],
  [
    'maxProperties of the required',
    { type: 'object', properties: { a: {}, b: {} }, required: ['a'], maxProperties: 1 },
    '{"a":1}',
    '{"a":1,"b":1}',
  ],
  [
    'dependentRequired',
    { type: 'object', properties: { a: {}, b: {} }, dependentRequired: { a: ['b'] } },
    '{"a":1,"b":1}',
    '{"a":1}',
  ],
  [
    'dependentSchemas',
    { type: 'object', properties: { a: {}, b: {} }, dependentSchemas: { a: { properties: { b: { const: 2 } } } } },
    '{"a":1,"b":2}',
    '{"a":1,"b":1}',
  ],
  [
    'unevaluatedProperties',
    { type: 'object', allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    '{"a":1}',
    '{"b":1}',
  ],
  ['allOf on a string', { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 2 }] }, '"ab"', '{}'],
  [
    'allOf of objects',
    { allOf: [{ type: 'object', properties: { a: {} }, required: ['a'] }, { required: ['b'] }] },
    '{"a":1,"b":1}',
    '{"a":1}',
  ],
  ['anyOf', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, '"a"', 'true'],
  [
    'anyOf beside properties',
    { type: 'object', properties: { a: { type: 'integer' }, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    '{"a":1}',
    '{}',
  ],
  [
    'oneOf with a property of its own',
    { oneOf: ['a', 'b'].map((k) => ({ type: 'object', properties: { k: { const: k } }, required: ['k'] })) },
    '{"k":"b"}',
    '{"k":"c"}',
  ],
  ['oneOf that overlaps', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, { keyword: 'oneOf' }],
  ['not a type', { not: { type: ['null', 'object'] } }, '1', 'null'],
  ['not a required name', { type: 'object', properties: { a: {}, b: {} }, not: { required: ['a'] } }, '{"b":1}', '{"a":1}'],
  ['not a pattern', { type: 'string', not: { pattern: 'a' } }, { keyword: 'not' }],
  [
    'if, then and else over listed values',
    {
      type: 'object',
      properties: { k: { enum: ['a', 'b'] }, x: {} },
      required: ['k'],
      if: { properties: { k: { const: 'a' } } },
      // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's.
      then: { required: ['x'] },
      else: { properties: { x: false } },
    },
    '{"k":"a","x":1}',
    '{"k":"a"}',
  ],
  // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's.
  ['if over other values', { type: 'string', if: { minLength: 2 }, then: { pattern: 'a' } }, { keyword: 'if' }],
  ['$ref to another document', { $ref: 'https://example.org/schema' }, { keyword: '$ref' }],
  ['$dynamicRef', { $dynamicRef: '#a' }, { keyword: '$dynamicRef' }],
];

/** Where a schema stands, and what a value of it stands in. */
const places: readonly [
  name: string,
  schema: (part: Members) => Members,
  text: (value: string) => string,
  more?: Partial<Stated>,
][] = [
  ['the whole', (part) => part, (text) => text],
  ['a property', (part) => ({ type: 'object', properties: { p: part }, required: ['p'] }), (text) => `{"p":${text}}`],
  [
    'a property of a tool',
    (part) => ({ type: 'object', properties: { p: part }, required: ['p'] }),
    (text) => `{"p":${text}}`,
    { tool: 'f' },
  ],
  ['items', (part) => ({ type: 'array', items: part }), (text) => `[${text}]`],
  ['prefixItems', (part) => ({ type: 'array', prefixItems: [part], items: false, minItems: 1 }), (text) => `[${text}]`],
  ['additionalProperties', (part) => ({ type: 'object', additionalProperties: part }), (text) => `{"p":${text}}`],
  ['anyOf', (part) => ({ anyOf: [{ const: 'other' }, part] }), (text) => text],
  ['allOf', (part) => ({ allOf: [part, { title: 'words' }] }), (text) => text],
  ['a reference', (part) => ({ $ref: '#/$defs/a~1%20b', $defs: { 'a/ b': part } }), (text) => text],
  [
    'a reference beside a title',
    (part) => ({ type: 'object', properties: { p: { $ref: '#/$defs/x', title: 'p' } }, required: ['p'], $defs: { x: part } }),
    (text) => `{"p":${text}}`,
  ],
  ['a reference to an anchor', (part) => ({ $ref: '#here', $defs: { x: { $anchor: 'here', ...part } } }), (text) => text],
  [
    'a schema that refers to itself',
    (part) => ({ type: 'object', properties: { p: part, next: { $ref: '#' } }, required: ['p'] }),
    (text) => `{"p":${text},"next":{"p":${text}}}`,
  ],
];
/** It counts what the schemas beside it name, so only the outermost one of a place is followed. */
const ofWholePlaces = ['unevaluatedItems', 'unevaluatedProperties'];

t.test('each keyword is followed in each place, or refused there by its name', { skip, timeout: 600_000 }, async (t) => {
  const table = samples.flatMap((sample) =>
    places.map((place) => ({ sample, place, result: follow(place[1](sample[1]), place[3]) })),
  );
  const asked: { label: string; followed: Members; texts: [string, string] }[] = [];
  for (const { sample, place, result } of table) {
    const label = `${sample[0]} in ${place[0]}`;
    const isRefused =
      sample.length === 3 ||
      ('keyword' in result && ofWholePlaces.includes(sample[0]) && /^a reference|allOf|anyOf/.test(place[0]));
    if (isRefused) {
      const keyword = sample.length === 3 ? sample[2].keyword : sample[0];
      t.match(result, { keyword, message: new RegExp(`keyword ${keyword.replace('$', '\\$')} at #.* Accepted: `) }, label);
    } else if ('followed' in result && sample.length === 4) {
      asked.push({ label, followed: result.followed, texts: [place[2](sample[2]), place[2](sample[3])] });
    } else {
      t.fail(`${label}: ${JSON.stringify(result)}`);
    }
  }
  const decided = await decide(
    asked.map(({ followed, texts }) => ({ schema: followed, texts })),
    0,
  );
  for (const [i, { label, followed, texts }] of asked.entries())
    t.strictSame(
      decided[i],
      { accepts: [true, false], written: [] },
      `${label}: ${texts.join(' and ')} under ${JSON.stringify(followed).slice(0, 500)}`,
    );
});

t.test('a schema that is not strict leaves out what is not followed, and names it', { skip }, async (t) => {
  const reader = new SchemaReader();
  const schema = {
    type: 'object',
    properties: { 'a b': { type: 'array', items: { type: 'string', minLength: 3000 }, uniqueItems: true } },
  };
  const followed = reader.read(schema, { param: 'response_format.schema', isStrict: false });
  t.strictSame(followed, { type: 'object', properties: { 'a b': { type: 'array', items: { type: 'string' } } } });
  t.equal(
    reader.ignored,
    'response_format.schema#/properties/a%20b/items/minLength, response_format.schema#/properties/a%20b/uniqueItems',
  );
});
