/** Patches as the RFC's examples, Entra ID and Okta send them. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { type PatchOperation, patched } from './patch.ts';
import { ENTERPRISE, GROUP, USER } from './resource/kinds.ts';
import { type Resource, readResource } from './resource/resource.ts';

const bob: Resource = {
  userName: 'bob',
  active: true,
  displayName: 'Bob',
  name: { givenName: 'Bob', familyName: 'Old' },
  emails: [{ value: 'bob@x.example', type: 'work', primary: true }],
};
const staff: Resource = { displayName: 'Staff', members: [{ value: 'usr_1' }, { value: 'usr_2' }] };

type Row = [what: string, operations: PatchOperation[], expected: Resource];

t.test('accounts', async (t) => {
  const table: Row[] = [
    ['Okta switches off', [{ op: 'replace', value: { active: false } }], { ...bob, active: false }],
    ['Entra ID switches off', [{ op: 'Replace', path: 'active', value: 'False' }], { ...bob, active: false }],
    [
      'a part of the name',
      [{ op: 'Replace', path: 'name.familyName', value: 'New' }],
      { ...bob, name: { givenName: 'Bob', familyName: 'New' } },
    ],
    [
      'dotted names in a value',
      [{ op: 'Add', value: { 'name.familyName': 'New', DISPLAYNAME: 'B' } }],
      { ...bob, displayName: 'B', name: { givenName: 'Bob', familyName: 'New' } },
    ],
    [
      'the work address',
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'n@x.example' }],
      { ...bob, emails: [{ value: 'n@x.example', type: 'work', primary: true }] },
    ],
    [
      'an address that is not there yet',
      [{ op: 'Add', path: 'emails[type eq "home"].value', value: 'h@x.example' }],
      { ...bob, emails: [...(bob['emails'] as object[]), { type: 'home', value: 'h@x.example' }] },
    ],
    [
      'a new preferred address',
      [{ op: 'add', path: 'emails', value: [{ value: 'n@x.example', primary: true }] }],
      {
        ...bob,
        emails: [
          { value: 'bob@x.example', type: 'work', primary: false },
          { value: 'n@x.example', primary: true },
        ],
      },
    ],
    ['what is there already', [{ op: 'add', path: 'emails', value: bob['emails'] }], bob],
    [
      'one address without a list',
      [{ op: 'replace', path: 'emails', value: { value: 'n@x.example' } }],
      { ...bob, emails: [{ value: 'n@x.example' }] },
    ],
    [
      'an element',
      [{ op: 'replace', path: 'emails[type eq "work"]', value: { value: 'n@x.example' } }],
      { ...bob, emails: [{ value: 'n@x.example', type: 'work', primary: true }] },
    ],
    ['no address', [{ op: 'remove', path: 'emails[type eq "work"]' }], without(bob, 'emails')],
    ['no display name', [{ op: 'remove', path: 'displayName' }], without(bob, 'displayName')],
    ['nothing, which is no fault', [{ op: 'remove', path: 'emails[type eq "other"]' }], bob],
    [
      'an extension by URN',
      [{ op: 'Add', path: `${ENTERPRISE}:department`, value: 'Sales' }],
      { ...bob, [ENTERPRISE]: { department: 'Sales' } },
    ],
    [
      'an extension in a value',
      [{ op: 'add', value: { [ENTERPRISE]: { department: 'Sales' } } }],
      { ...bob, [ENTERPRISE]: { department: 'Sales' } },
    ],
    [
      'an extension’s name in a value',
      [{ op: 'add', value: { [`${ENTERPRISE}:department`]: 'Sales' } }],
      { ...bob, [ENTERPRISE]: { department: 'Sales' } },
    ],
    [
      'a whole extension',
      [{ op: 'replace', path: ENTERPRISE, value: { department: 'Sales' } }],
      { ...bob, [ENTERPRISE]: { department: 'Sales' } },
    ],
    [
      'a manager as a text',
      [{ op: 'Add', path: `${ENTERPRISE}:manager`, value: '42' }],
      { ...bob, [ENTERPRISE]: { manager: { value: '42' } } },
    ],
    [
      'an extension away again',
      [
        { op: 'add', path: `${ENTERPRISE}:department`, value: 'Sales' },
        { op: 'remove', path: `${ENTERPRISE}:department` },
      ],
      bob,
    ],
    ['null takes away', [{ op: 'replace', path: 'displayName', value: null }], without(bob, 'displayName')],
    ['what no schema knows', [{ op: 'replace', value: { nothing: 1, id: 'x', groups: [], meta: {}, schemas: [] } }], bob],
  ];
  for (const [what, operations, expected] of table) t.strictSame(patched(USER, bob, operations), expected, what);
});

t.test('groups', async (t) => {
  const members = (...ids: string[]): Resource => ({ ...staff, members: ids.map((value) => ({ value })) });
  const table: Row[] = [
    [
      'Entra ID adds',
      [{ op: 'Add', path: 'members', value: [{ $ref: null, value: 'usr_3' }] }],
      members('usr_1', 'usr_2', 'usr_3'),
    ],
    ['a member twice', [{ op: 'add', path: 'members', value: [{ value: 'usr_1', display: 'One' }] }], staff],
    ['Entra ID removes', [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: 'usr_1' }] }], members('usr_2')],
    ['Okta removes', [{ op: 'remove', path: 'members[value eq "usr_1"]' }], members('usr_2')],
    ['several', [{ op: 'remove', path: 'members[value eq "usr_1" or value eq "usr_2"]' }], without(staff, 'members')],
    ['all', [{ op: 'remove', path: 'members' }], without(staff, 'members')],
    ['none, by an empty list', [{ op: 'remove', path: 'members', value: [] }], staff],
    ['Okta renames', [{ op: 'replace', value: { id: 'grp_1', displayName: 'New' } }], { ...staff, displayName: 'New' }],
    ['others', [{ op: 'replace', path: 'members', value: [{ value: 'usr_9' }] }], members('usr_9')],
  ];
  for (const [what, operations, expected] of table) t.strictSame(patched(GROUP, staff, operations), expected, what);
});

t.test('an element that loses its last part goes', async (t) => {
  const onlyWork = { ...bob, emails: [{ value: 'bob@acme.example' }] };
  t.strictSame(patched(USER, onlyWork, [{ op: 'remove', path: 'emails.value' }]), without(onlyWork, 'emails'));
});

t.test('what is refused, and how', async (t) => {
  const table: [string, PatchOperation, string][] = [
    ['an unknown operation', { op: 'move', path: 'title' }, 'invalidSyntax'],
    ['a removal of everything', { op: 'remove' }, 'noTarget'],
    ['a value that is none', { op: 'add', value: 'x' }, 'invalidValue'],
    ['an unknown attribute', { op: 'add', path: 'nothing', value: 1 }, 'invalidPath'],
    ['a filter on one value', { op: 'add', path: 'name[givenName eq "x"].familyName', value: 'x' }, 'invalidPath'],
    ['a broken path', { op: 'add', path: 'emails[type eq "work"', value: 'x' }, 'invalidPath'],
    ['a broken filter', { op: 'add', path: 'emails[type is "work"].value', value: 'x' }, 'invalidFilter'],
    ['two filters', { op: 'add', path: 'emails[type eq "a"][type eq "b"]', value: 'x' }, 'invalidFilter'],
    ['the id', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['groups of an account', { op: 'add', path: 'groups', value: [{ value: 'grp_1' }] }, 'mutability'],
    ['a number as a name', { op: 'replace', path: 'displayName', value: 1 }, 'invalidValue'],
    ['a text as a switch', { op: 'replace', path: 'active', value: 'off' }, 'invalidValue'],
    ['a text that is too long', { op: 'replace', path: 'title', value: 'x'.repeat(5000) }, 'invalidValue'],
    ['too many values', { op: 'replace', path: 'emails', value: Array(101).fill({ value: 'x' }) }, 'tooMany'],
    ['an element that no filter describes', { op: 'replace', path: 'emails[type ne "work"].value', value: 'x' }, 'noTarget'],
  ];
  for (const [what, operation, scimType] of table) {
    t.throws(() => patched(USER, bob, [operation]), { code: 'invalid_request', extra: { scimType } }, what);
  }
});

t.test('any patch leaves the resource alone, and a resource as the schema wants it', async (t) => {
  const before = JSON.stringify(bob);
  const path = fc.oneof(
    fc.constantFrom(
      'name',
      'name.givenName',
      'emails',
      'emails.value',
      'emails[type eq "work"]',
      'emails[value pr].type',
      'active',
      '__proto__',
      'constructor',
      'name.__proto__',
      ENTERPRISE,
      `${ENTERPRISE}:manager`,
    ),
    fc.string({ maxLength: 12 }),
  );
  const operation = fc.record({
    op: fc.constantFrom('add', 'replace', 'remove'),
    path: fc.option(path, { nil: undefined }),
    value: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 4 }), (operations) => {
      try {
        const after = patched(USER, bob, operations);
        if (!isDeepStrictEqual(readResource(USER, after), after)) return false;
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'invalid_request') throw error;
      }
      return JSON.stringify(bob) === before && ({} as Record<string, unknown>)['value'] === undefined;
    }),
    {
      numRuns: 10_000,
      examples: [
        [
          [
            { op: 'add', path: 'emails', value: '' },
            { op: 'remove', path: 'emails.value', value: {} },
          ],
        ],
      ],
    },
  );
  t.pass('10,000 patches');
});

function without(resource: Resource, name: string): Resource {
  const { [name]: _, ...rest } = resource;
  return rest;
}
