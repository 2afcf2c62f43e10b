/**
 * JSON Schemas as the engine follows them: what its grammar lets a model write satisfies the schema, as Ajv decides it, or the schema is refused.
 * SVC_TEST_SCHEMAS: how many schemas are made; 20000 take the better part of an hour.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { SchemaReader, type Stated } from '../../../ts/server/domains/completions/compat/json-schema.ts';
import type { Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { noReferences, referenceProgram } from './reference.ts';

const skip = noReferences();
const vocabulary = join(await vocabularyFolder(), 'ggml-vocab-llama-spm.gguf');
const nSchemas = Number(process.env['SVC_TEST_SCHEMAS'] ?? 400);

interface Case {
  schema: unknown;
  /** JSON texts that the grammar may take. */
  texts?: readonly string[];
}

type Decided = { refused: string } | { accepts: boolean[]; written: string[] };

/** Runs all schemas through one program, in their order. */
async function decide(cases: readonly Case[], nTexts: number, seed = 7): Promise<Decided[]> {
  const program = await referenceProgram('schema-reference');
  const child = execFile(program, [nativeFolder(), vocabulary, String(seed), String(nTexts)], { maxBuffer: 1 << 30 });
  const stdout: string[] = [];
  child.stdout?.on('data', (text: string) => stdout.push(text));
  const ended = new Promise<void>((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`schema-reference ended with ${code}`))));
  });
  for (const { schema, texts = [] } of cases) child.stdin?.write(`${[JSON.stringify(schema), ...texts].join('\x01')}\0`);
  child.stdin?.end();
  await ended;
  return stdout
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (!line.startsWith('accepts ')) return { refused: line };
      const [, bits = '', written = '[]'] = /^accepts ([01]*) (.*)$/.exec(line) ?? [];
      return { accepts: [...bits].map((bit) => bit === '1'), written: JSON.parse(written) as string[] };
    });
}

/** What the engine is to follow, or the keyword that a strict schema is refused for. */
function follow(schema: unknown, more: Partial<Stated> = {}): { followed: Members } | { keyword: string; message: string } {
  try {
    return { followed: new SchemaReader().read(asObject(schema), { param: 'schema', isStrict: true, ...more }) };
  } catch (error) {
    const { extra, code, message } = error as { extra?: { keyword?: string }; code?: string; message: string };
    if (code !== 'schema_not_supported' && code !== 'invalid_grammar') throw error;
    return { keyword: extra?.keyword ?? code, message };
  }
}

/** A request's schema is an object; true and false stand inside it. */
function asObject(schema: unknown): Members {
  return typeof schema === 'boolean' ? { allOf: [schema] } : (schema as Members);
}

const letters = /^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
const isTime = (text: string) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(text);
const isPointer = (text: string) => /^(\/([^~/]|~[01])*)*$/u.test(text);
const formats: Record<string, (text: string) => boolean> = {
  date: (text) => isDay(text),
  time: isTime,
  'date-time': (text) => isDay(text.slice(0, 10)) && text[10] === 'T' && isTime(text.slice(11)),
  duration: (text) => /^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$/.test(text),
  email: (text) => /^[\w+-]+(\.[\w+-]+)*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text),
  hostname: (text) => text.length <= 253 && letters.test(text) && !/(^|\.)-|-(\.|$)/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  'json-pointer': isPointer,
};
const options = { strict: true, strictTypes: false, strictTuples: false, strictRequired: false, logger: false, formats } as const;

/** Undefined: Ajv does not take the schema. */
function validatorOf(schema: unknown, draft: '7' | '2020'): ((value: unknown) => boolean) | undefined {
  try {
    const { $schema: _, ...rest } = asObject(schema);
    const validate = draft === '7' ? new Ajv(options).compile(rest) : new Ajv2020(options).compile(rest);
    return (value) => validate(value) === true;
  } catch {
    return undefined;
  }
}

const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, -2, 3.5, 10, '', 'a', 'ab', 'b"\\', 'é', [], [1], ['a'], {}, { a: 1 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c-d'), fc.constantFrom<unknown>(1, 'a', null), { maxKeys: 2 }),
);
const number = fc.constantFrom(-1000, -10, -2.5, -1, -0.1, 0, 0.25, 0.3, 1, 2, 5, 6, 9.99, 10, 100, 205, 1e6, 1e-7);
const count = fc.constantFrom(0, 1, 1, 2, 3, 5);
const typeName = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const name = fc.constantFrom('a', 'b', 'c-d', 'ab', 'e"f');
const pattern = fc.constantFrom(
  '^a"b$',
  '^[^a]{6}$',
  '^a|b$',
  'ab+',
  '^(a|b)*$',
  '^[a-c]{2,3}$',
  '^\\d+(\\.\\d+)?$',
  '^\\w+@\\w+$',
  '\\\\',
  '^.{3}$',
  '^[\\s\\S]*$',
  '^$',
  '(?:x|y)?z',
  '^(?!a)b$',
  '^a{0}b{2,}$',
  '^é\\u0041\\n?$',
  '[^"\\\\]',
  '^\\S+\\s\\S+$',
);
const format = fc.constantFrom(...Object.keys(formats));

function keywordsOf(sub: fc.Arbitrary<unknown>, draft: '7' | '2020'): fc.Arbitrary<[string, unknown]> {
  const list = fc.array(sub, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(name, sub, { maxKeys: 3 });
  const names = fc.uniqueArray(name, { maxLength: 3 });
  const choices: [weight: number, keyword: string, value: fc.Arbitrary<unknown>][] = [
    [12, 'type', fc.oneof({ weight: 4, arbitrary: typeName }, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 }))],
    [3, 'const', value],
    [
      3,
      'enum',
      fc.uniqueArray(value, { minLength: 1, maxLength: 4, comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b) }),
    ],
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((word): [number, string, fc.Arbitrary<unknown>] => [
      3,
      word,
      number,
    ]),
    [2, 'multipleOf', fc.constantFrom(1, 2, 5, 0.5, 0.1, 10, 2.5)],
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
      (word): [number, string, fc.Arbitrary<unknown>] => [2, word, count],
    ),
    [4, 'pattern', pattern],
    [2, 'format', format],
    [5, 'items', sub],
    [2, 'uniqueItems', fc.boolean()],
    [1, 'contains', sub],
    [10, 'properties', map],
    [6, 'required', names],
    [5, 'additionalProperties', sub],
    [1, 'patternProperties', fc.dictionary(fc.constantFrom('^a', 'b$', '"'), sub, { minKeys: 1, maxKeys: 2 })],
    [1, 'propertyNames', sub],
    [4, 'allOf', list],
    [5, 'anyOf', list],
    [3, 'oneOf', list],
    [2, 'not', sub],
    [4, '$ref', fc.constantFrom('#', '#/$defs/x', '#/$defs/y', '#/$defs/x~1%20y')],
    [1, 'title', fc.constant('words')],
    ...(draft === '7'
      ? ([
          [3, 'items', list],
          [2, 'additionalItems', sub],
          [2, 'dependencies', fc.dictionary(name, fc.oneof(names, sub), { maxKeys: 2 })],
        ] as [number, string, fc.Arbitrary<unknown>][])
      : ([
          [4, 'prefixItems', list],
          [1, 'minContains', count],
          [1, 'maxContains', count],
          [2, 'dependentRequired', fc.dictionary(name, names, { maxKeys: 2 })],
          [1, 'dependentSchemas', fc.dictionary(name, sub, { maxKeys: 2 })],
          [2, 'unevaluatedProperties', sub],
          [2, 'unevaluatedItems', sub],
        ] as [number, string, fc.Arbitrary<unknown>][])),
  ];
  return fc.oneof(
    ...choices.map(([weight, keyword, arbitrary]) => ({
      weight,
      arbitrary: arbitrary.map((each): [string, unknown] => [keyword, each]),
    })),
  );
}

function schemas(draft: '7' | '2020'): fc.Arbitrary<Members> {
  const { node } = fc.letrec<{ node: unknown }>((tie) => {
    const keywords = fc.array(keywordsOf(tie('node'), draft), { minLength: 1, maxLength: 4 });
    const conditional = fc.record(
      // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's.
      { if: tie('node'), then: tie('node'), else: tie('node') },
      { requiredKeys: ['if'] },
    );
    return {
      node: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        {
          weight: 3,
          arbitrary: fc.oneof(
            fc.boolean(),
            typeName.map((type) => ({ type })),
          ),
        },
        { weight: 20, arbitrary: keywords.map((all) => Object.fromEntries(all)) },
        { weight: 1, arbitrary: conditional },
      ),
    };
  });
  const isObject = (schema: unknown): schema is Members => typeof schema === 'object';
  const head = draft === '7' ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {};
  return fc
    .tuple(node.filter(isObject), node, node, node)
    .map(([root, x, y, z]) => ({ ...head, ...root, $defs: { x, y, 'x/ y': z } }));
}

for (const draft of ['2020', '7'] as const) {
  t.test(
    `draft ${draft}: what is written under a schema of any keywords satisfies it, or it is refused`,
    { skip, timeout: 7_200_000 },
    async (t) => {
      const seed = Number(process.env['SVC_TEST_SEED'] ?? 32);
      const made = fc
        .sample(schemas(draft), { numRuns: nSchemas, seed })
        .map((schema) => JSON.parse(JSON.stringify(schema)) as Members);
      const accepted = made.flatMap((schema) => {
        const read = follow(schema);
        const validate = 'followed' in read ? validatorOf(schema, draft) : undefined;
        return 'followed' in read && validate ? [{ schema, followed: read.followed, validate }] : [];
      });
      const decided = await decide(
        accepted.map(({ followed }) => ({ schema: followed })),
        4,
      );
      let nTexts = 0;
      let nRefused = 0;
      for (const [i, result] of decided.entries()) {
        const { schema, followed, validate } = accepted[i] as (typeof accepted)[number];
        if ('refused' in result) {
          nRefused++;
          if (!/too complex|too long|too ambiguous|takes too/.test(result.refused))
            t.fail(`${result.refused}: ${JSON.stringify(schema)} as ${JSON.stringify(followed)}`);
          continue;
        }
        for (const text of result.written) {
          nTexts++;
          if (!satisfies(validate, text)) t.fail(`${text}: ${JSON.stringify(schema)} as ${JSON.stringify(followed)}`);
        }
      }
      t.comment(
        `${made.length} schemas, ${accepted.length} accepted, ${nRefused} of them refused by the engine, ${nTexts} texts`,
      );
      t.ok(accepted.length > made.length / 5, 'a good part is accepted');
      t.ok(nTexts > accepted.length, 'most of them are written under');
    },
  );
}

function satisfies(validate: (value: unknown) => boolean, text: string): boolean {
  try {
    return validate(JSON.parse(text));
  } catch (error) {
    // A schema that refers to itself and nothing else has no values that Ajv could find.
    return error instanceof RangeError;
  }
}

const suite = '../shared/data/json-schema-test-suite/tests';

/** Every order of an object's members: a grammar has one, and which is nothing that a schema says. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return combined(value.map(textsOf)).map((items) => `[${items.join(',')}]`);
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const members = Object.entries(value).map(([key, each]) => textsOf(each).map((text) => `${JSON.stringify(key)}:${text}`));
  return combined(members)
    .flatMap((each) => (each.length > 4 ? [each] : permuted(each)))
    .map((all) => `{${all.join(',')}}`)
    .slice(0, 200);
}

function combined(lists: readonly string[][]): string[][] {
  return lists.reduce<string[][]>((all, list) => all.flatMap((each) => list.map((text) => [...each, text])).slice(0, 200), [[]]);
}

function permuted(list: readonly string[]): string[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((each, i) => permuted([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [each, ...rest]));
}

interface SuiteGroup {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

for (const draft of ['draft2020-12', 'draft7']) {
  const folder = join(suite, draft);
  const missing = existsSync(folder) ? skip : `${folder} is not there`;
  t.test(
    `${draft}: nothing that the official test suite calls invalid can be written`,
    { skip: missing, timeout: 600_000 },
    async (t) => {
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
      const head = draft === 'draft7' ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {};
      const groups = files.flatMap((file) =>
        (JSON.parse(readFileSync(join(folder, file), 'utf8')) as SuiteGroup[]).map((group) => ({ file, group })),
      );
      const read = groups.map(({ file, group }) => ({ file, group, result: follow({ ...head, ...asObject(group.schema) }) }));
      const followed = read.flatMap(({ file, group, result }) =>
        'followed' in result ? [{ file, group, schema: result.followed }] : [],
      );
      const cases = followed.map(({ group, schema }) => ({ schema, perTest: group.tests.map(({ data }) => textsOf(data)) }));
      const decided = await decide(
        cases.map(({ schema, perTest }) => ({ schema, texts: perTest.flat() })),
        0,
      );
      const shares = new Map<string, { right: number; narrower: number; refused: number; wrong: number }>();
      const shareOf = (file: string) => {
        const keyword = file.replace('.json', '');
        const share = shares.get(keyword) ?? { right: 0, narrower: 0, refused: 0, wrong: 0 };
        shares.set(keyword, share);
        return share;
      };
      for (const { file, group, result } of read) if (!('followed' in result)) shareOf(file).refused += group.tests.length;
      for (const [i, result] of decided.entries()) {
        const { file, group, schema } = followed[i] as (typeof followed)[number];
        const share = shareOf(file);
        if ('refused' in result) {
          share.refused += group.tests.length;
          continue;
        }
        let at = 0;
        for (const [j, test] of group.tests.entries()) {
          const nTexts = cases[i]?.perTest[j]?.length ?? 0;
          const isTaken = result.accepts.slice(at, at + nTexts).some(Boolean);
          at += nTexts;
          if (isTaken === test.valid) share.right++;
          else if (test.valid) {
            share.narrower++;
            if (process.env['SVC_TEST_NARROWER'])
              t.comment(
                `narrower: ${file}: ${group.description}: ${test.description}: ${JSON.stringify(test.data)} as ${JSON.stringify(schema)}`,
              );
          } else {
            share.wrong++;
            t.fail(
              `${file}: ${group.description}: ${test.description}: ${JSON.stringify(test.data)} as ${JSON.stringify(schema)}`,
            );
          }
        }
      }
      const all = { right: 0, narrower: 0, refused: 0, wrong: 0 };
      for (const [keyword, share] of [...shares].sort()) {
        t.comment(
          `${keyword}: ${share.right} right, ${share.narrower} valid and not written, ${share.refused} refused, ${share.wrong} wrong`,
        );
        for (const key of ['right', 'narrower', 'refused', 'wrong'] as const) all[key] += share[key];
      }
      t.comment(
        `together: ${all.right} right, ${all.narrower} valid and not written, ${all.refused} refused, ${all.wrong} wrong`,
      );
      t.equal(all.wrong, 0);
      t.ok(all.right > all.refused, 'most is decided');
    },
  );
}

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
