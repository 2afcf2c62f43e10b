/**
 * JSON Schemas as the engine follows them: what its grammar lets a model write satisfies the schema, as Ajv decides it, or the schema is refused.
 * SVC_TEST_SCHEMAS: how many schemas are made; 20000 take the better part of an hour.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import type { Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { noReferences } from './reference.ts';
import { asObject, decide, follow } from './schema-program.ts';

const skip = noReferences();
const nSchemas = Number(process.env['SVC_TEST_SCHEMAS'] ?? 400);

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
