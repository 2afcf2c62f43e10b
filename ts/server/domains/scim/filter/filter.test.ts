import fc from 'fast-check';
import t from 'tap';
import { GROUP, USER } from '../resource/kinds.ts';
import type { Resource } from '../resource/resource.ts';
import { type Filter, OPERATORS } from './filter.ts';
import { indexedValue } from './indexed-value.ts';
import { matchesFilter } from './match-filter.ts';
import { parseFilter } from './parse-filter.ts';
import { MAX_FILTER_LENGTH } from './tokens.ts';

/** As a client could write it, with as few brackets as the grammar needs. */
function textOf(filter: Filter): string {
  switch (filter.kind) {
    case 'compare':
      return `${filter.path} ${filter.operator} ${JSON.stringify(filter.value)}`;
    case 'present':
      return `${filter.path} pr`;
    case 'not':
      return `not (${textOf(filter.filter)})`;
    case 'element':
      return `${filter.path}[${textOf(filter.filter)}]`;
    case 'and':
      return `${within(filter.left, 'or')} and ${within(filter.right, 'or', 'and')}`;
    case 'or':
      return `${textOf(filter.left)} or ${within(filter.right, 'or')}`;
  }
}

function within(filter: Filter, ...looser: Filter['kind'][]): string {
  return looser.includes(filter.kind) ? `(${textOf(filter)})` : textOf(filter);
}

const path = fc.constantFrom(
  'userName',
  'name.givenName',
  'emails.value',
  'active',
  'urn:ietf:params:scim:schemas:core:2.0:User:title',
);
const value = fc.oneof(fc.string(), fc.boolean(), fc.integer({ min: -1e9, max: 1e9 }), fc.constant(null));
const leaf: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ kind: fc.constant('compare' as const), path, operator: fc.constantFrom(...OPERATORS), value }),
  fc.record({ kind: fc.constant('present' as const), path }),
);
const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), left: tie('filter'), right: tie('filter') }),
    fc.record({ kind: fc.constant('not' as const), filter: tie('filter') }),
    fc.record({
      kind: fc.constant('element' as const),
      path: fc.constant('emails'),
      filter: fc.record({
        kind: fc.constant('compare' as const),
        path: fc.constantFrom('type', 'value'),
        operator: fc.constantFrom(...OPERATORS),
        value: fc.string(),
      }),
    }),
  ),
}));

t.test('what is written of a filter is read back as that filter', async (t) => {
  fc.assert(
    fc.property(filter, (written) => {
      const text = textOf(written);
      if (text.length > MAX_FILTER_LENGTH) return true;
      return JSON.stringify(parseFilter(text)) === JSON.stringify(written);
    }),
    { numRuns: 2_000 },
  );
  t.pass('2,000 filters');
});

t.test('brackets, spaces and capitals mean nothing', async (t) => {
  fc.assert(
    fc.property(filter, (written) => {
      const text = `( ${textOf(written)}  )`;
      return text.length > MAX_FILTER_LENGTH || JSON.stringify(parseFilter(text)) === JSON.stringify(written);
    }),
  );
  t.strictSame(parseFilter('userName EQ "a" AND NOT (active Pr)'), parseFilter('userName eq "a" and not(active pr)'));
});

t.test('any text is a filter or refused, and takes no time', async (t) => {
  const scrap = fc.oneof(
    fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '"',
      '\\',
      ' and ',
      ' or ',
      ' not ',
      ' eq ',
      ' pr',
      'userName',
      'true',
      'null',
      '-1',
      '1e999',
      '\u0000',
      '"a\\u0041"',
    ),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(scrap, { maxLength: 30 }), (scraps) => {
      try {
        matchesFilter(USER, { userName: 'bob' }, parseFilter(scraps.join('')));
        return true;
      } catch (error) {
        return (error as { extra?: { scimType?: unknown } }).extra?.scimType === 'invalidFilter';
      }
    }),
    { numRuns: 20_000 },
  );
  for (const text of [
    '('.repeat(4000),
    'not ('.repeat(700),
    `${'a[b'.repeat(1300)}`,
    `"${'\\'.repeat(4000)}`,
    'x'.repeat(100_000),
    '',
  ]) {
    const before = process.cpuUsage();
    t.throws(() => parseFilter(text), { code: 'invalid_request', extra: { scimType: 'invalidFilter' } });
    const { user, system } = process.cpuUsage(before);
    t.ok(user + system < 200_000, `${user + system} µs of the CPU`);
  }
});

const bob: Resource = {
  id: 'usr_1',
  externalId: 'Ext',
  userName: 'Bob@X.example',
  displayName: 'Bob Ünal',
  active: true,
  title: '',
  name: { givenName: 'Bob' },
  emails: [
    { value: 'bob@x.example', type: 'work', primary: true },
    { value: 'bob@home.example', type: 'home' },
  ],
  meta: { created: '2026-01-02T00:00:00.000Z' },
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales', manager: { value: 'usr_2' } },
};

t.test('a table of filters and what they find', async (t) => {
  const found = [
    'userName eq "bob@x.EXAMPLE"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob@x.example"',
    'externalId eq "Ext"',
    'name.givenName sw "b"',
    'emails.value co "HOME"',
    'emails co "home"',
    'emails[type eq "work" and value ew "x.example"]',
    'emails[primary eq true]',
    'active eq true and not (title pr)',
    'active eq "True"',
    'displayName eq "bob ÜNAL"',
    'nickName eq null',
    'nickName ne "x"',
    'meta.created gt "2026-01-01T00:00:00Z"',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "sales"',
    'id eq "usr_1" and manager eq "usr_2"',
    'userName eq "x" or userName eq "y" or active eq true',
    'userName eq "x" and active eq false or active eq true',
  ];
  for (const text of found) t.equal(matchesFilter(USER, bob, parseFilter(text)), true, text);
  const missed = [
    'externalId eq "ext"',
    'id eq "USR_1"',
    'emails[type eq "home" and value ew "x.example"]',
    'active eq false',
    'active eq "yes"',
    'userName ne "BOB@x.example"',
    'nickName pr',
    'userName gt "z"',
    'userName eq 1',
    'not (active eq true or userName pr)',
    'userName eq "x" and (active eq false or active eq true)',
  ];
  for (const text of missed) t.equal(matchesFilter(USER, bob, parseFilter(text)), false, text);
  for (const text of [
    'nothing eq "x"',
    'password eq "x"',
    'name.nothing pr',
    'emails[nothing pr]',
    'urn:x:y eq "z"',
    'a.b.c pr',
  ]) {
    t.throws(
      () => matchesFilter(USER, bob, parseFilter(text)),
      { code: 'invalid_request', extra: { scimType: 'invalidFilter' } },
      text,
    );
  }
});

t.test('what the database looks up has every match of the filter', async (t) => {
  const table: [string, object | undefined][] = [
    ['userName eq "Bob"', { attribute: 'name', value: 'Bob' }],
    ['active eq true and (externalId eq "x")', { attribute: 'externalId', value: 'x' }],
    ['id eq "x" and userName eq "y"', { attribute: 'id', value: 'x' }],
    ['userName eq "a" or userName eq "b"', undefined],
    ['not (userName eq "a")', undefined],
    ['userName co "a"', undefined],
    ['displayName eq "a"', undefined],
    ['name.givenName eq "a"', undefined],
    ['userName eq 1', undefined],
  ];
  for (const [text, expected] of table) t.strictSame(indexedValue(USER, parseFilter(text)), expected, text);
  t.strictSame(indexedValue(GROUP, parseFilter('displayName eq "a"')), { attribute: 'name', value: 'a' });
});
