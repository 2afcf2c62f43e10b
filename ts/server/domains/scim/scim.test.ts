/** SCIM over HTTP: what directories do first, how refusals look, and that nobody reaches another tenant. */
import t, { type Test } from 'tap';
import { type Answer, type IdentityBed, ROOT_PASSWORD } from '../identity/test-support/identity-bed.ts';
import { openScim } from './test-support/scim-bed.ts';

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface World {
  bed: IdentityBed;
  root: string;
  /** As the directory of a tenant, with the key that it has. */
  scim(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  keyOf(tenant: string, role?: string): Promise<string>;
}

async function openWorld(t: Test): Promise<World> {
  const bed = await openScim(t);
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const keyOf = async (tenant: string, role = 'admin') => {
    const user = { username: `sync-${tenant}-${role}`, role, tenant };
    const { body } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body: user });
    return (await bed.ask('POST', `/api/v1/identity/users/${body.id}/api-key`, { as: root })).body.api_key as string;
  };
  const key = await keyOf('red');
  return {
    bed,
    root,
    keyOf,
    scim: (method, path, body, headers = {}) =>
      bed.ask(method, `/scim/v2${path}`, { body, headers: { authorization: `Bearer ${key}`, ...headers } }),
  };
}

const filtered = (kind: string, filter: string): string => `/${kind}?filter=${encodeURIComponent(filter)}`;

t.test('an account that a directory makes cannot be the first', async (t) => {
  const bed = await openScim(t);
  t.match(await bed.ask('POST', '/scim/v2/Users', { body: { userName: 'bob' } }), {
    status: 409,
    body: { detail: /svc admin create/ },
  });
});

t.test('what a directory reads first', async (t) => {
  const { scim } = await openWorld(t);
  t.match(await scim('GET', '/ServiceProviderConfig'), {
    status: 200,
    body: { patch: { supported: true }, bulk: { supported: false }, filter: { supported: true }, etag: { supported: true } },
  });
  const types = await scim('GET', '/ResourceTypes');
  t.strictSame(
    types.body.Resources.map(({ endpoint }: { endpoint: string }) => endpoint),
    ['/Users', '/Groups'],
  );
  const schemas = await scim('GET', '/Schemas');
  t.equal(schemas.body.totalResults, 3);
  for (const { id, attributes } of schemas.body.Resources as { id: string; attributes: object[] }[]) {
    t.match(await scim('GET', `/Schemas/${id}`), { status: 200, body: { id } });
    for (const attribute of attributes) {
      t.match(attribute, {
        name: String,
        type: /^(string|boolean|complex|reference|dateTime)$/,
        multiValued: Boolean,
        mutability: String,
      });
    }
  }
  t.match(await scim('GET', '/ResourceTypes/User'), { status: 200, body: { name: 'User' } });
  t.match(await scim('GET', '/Schemas/urn:none'), { status: 404, body: { status: '404' } });
});

t.test('who may provision', async (t) => {
  const { bed, root, keyOf, scim } = await openWorld(t);
  const limited = async (as: string, scopes: string[]) =>
    (await bed.ask('POST', '/api/v1/identity/keys', { as, body: { name: 'x', scopes } })).body.api_key as string;
  const admin = await keyOf('default');
  const cases: [string, string | undefined, number][] = [
    ['nobody', undefined, 401],
    ['an unknown key', 'svc_nothing', 401],
    ['a developer', await keyOf('default', 'developer'), 403],
    ['an administrator', admin, 200],
    ['a key for this alone', await limited(admin, ['scim']), 200],
    ['a key for something else', await limited(admin, ['identity:manage']), 403],
    ['a superadmin', root, 200],
  ];
  for (const [who, as, status] of cases) {
    const answer = await bed.ask('GET', '/scim/v2/Users', { as });
    t.equal(answer.status, status, who);
    if (status !== 200)
      t.match(answer.body, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
        detail: String,
        error: String,
      });
  }
  const only = await limited(admin, ['scim']);
  t.equal((await bed.ask('GET', '/api/v1/identity/users', { as: only })).status, 403, 'the key does nothing else');
  t.match(await scim('GET', '/Nothing'), { status: 404, body: { status: '404', error: 'not_found' } });
  t.match(await scim('DELETE', '/Users'), { status: 405, body: { status: '405' } });
});

t.test('the life of an account as Okta drives it', async (t) => {
  const { bed, scim } = await openWorld(t);
  t.match(await scim('GET', `${filtered('Users', 'userName eq "test.user@okta.local"')}&startIndex=1&count=100`), {
    status: 200,
    body: { totalResults: 0, Resources: [] },
  });
  const person = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'test.user@okta.local',
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    groups: [],
    password: '1mz050nq-and-more',
    active: true,
  };
  const made = await scim('POST', '/Users', person);
  t.equal(made.status, 201, JSON.stringify(made.body));
  t.notOk('password' in made.body, 'a password is never shown');
  t.match(made.body, { name: { givenName: 'Test' }, locale: 'en-US', meta: { resourceType: 'User', version: /^W\// } });
  t.match(await scim('POST', '/Users', { ...person, userName: 'TEST.USER@okta.local' }), {
    status: 409,
    body: { scimType: 'uniqueness', status: '409' },
  });
  const login = (password: string) => bed.ask('POST', '/api/v1/auth/login', { body: { username: person.userName, password } });
  const session = (await login(person.password)).body.token as string;
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { as: session })).status, 200);
  const path = `/Users/${made.body.id}`;
  const replaced = await scim('PUT', path, { ...made.body, name: { givenName: 'Another', familyName: 'User' }, title: 'x' });
  t.match(replaced, { status: 200, body: { name: { givenName: 'Another' }, title: 'x', active: true } });
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { as: session })).status, 200, 'the session goes on');
  t.match(await scim('PUT', path, person), { status: 200 });
  t.notOk('title' in (await scim('GET', path)).body, 'what a replacement does not say is gone');
  const off = { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: false } }] };
  t.match(await scim('PATCH', path, off), { status: 200, body: { active: false } });
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { as: session })).status, 401, 'the session ended at once');
  t.match(await login(person.password), { status: 403, body: { error: 'account_disabled' } });
  const on = { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: true } }] };
  t.match(await scim('PATCH', path, on), { status: 200, body: { active: true } });
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer', { as: session })).status, 401, 'and does not come back');
  t.equal((await login(person.password)).status, 200);
});

t.test('the life of an account and a group as Entra ID drives them', async (t) => {
  const { scim } = await openWorld(t);
  const made = await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: "o'neil_x.com#EXT#@contoso.example",
    active: true,
    roles: [],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales', manager: 'boss' },
  });
  t.match(made, {
    status: 201,
    body: { 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'boss' } } },
  });
  const path = `/Users/${made.body.id}`;
  const patch = (Operations: object[]) => scim('PATCH', path, { schemas: [PATCH], Operations });
  t.match(
    await patch([
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@contoso.example' },
      { op: 'Replace', path: 'name.familyName', value: 'O’Neil' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber', value: '17' },
    ]),
    { status: 200, body: { emails: [{ type: 'work', value: 'updated@contoso.example' }], name: { familyName: 'O’Neil' } } },
  );
  t.match(await patch([{ op: 'Replace', path: 'userName', value: 'oneil@contoso.example' }]), {
    body: { userName: 'oneil@contoso.example' },
  });
  const query = `${filtered('Users', `id eq "${made.body.id}" and manager eq "boss"`)}&attributes=id`;
  t.strictSame((await scim('GET', query)).body.Resources, [{ schemas: made.body.schemas, id: made.body.id }]);
  const group = await scim('POST', '/Groups', { displayName: 'Sales', externalId: '8aa1a0c0', members: [] });
  t.equal(group.status, 201);
  const change = (Operations: object[]) => scim('PATCH', `/Groups/${group.body.id}`, { schemas: [PATCH], Operations });
  t.match(await change([{ op: 'Add', path: 'members', value: [{ $ref: null, value: made.body.id }] }]), {
    body: { members: [{ value: made.body.id }] },
  });
  const seen = await scim('GET', `/Groups/${group.body.id}?excludedAttributes=members`);
  t.notOk('members' in seen.body);
  t.equal(seen.body.displayName, 'Sales');
  const listed = await scim('GET', `${filtered('Groups', 'displayName eq "sales"')}&excludedAttributes=members`);
  t.match(listed.body, { totalResults: 1, Resources: [{ id: group.body.id }] });
  t.notOk('members' in listed.body.Resources[0]);
  const without = await change([{ op: 'Remove', path: 'members', value: [{ $ref: null, value: made.body.id }] }]);
  t.equal(without.status, 200);
  t.notOk('members' in without.body);
  t.match(await change([{ op: 'Replace', path: 'displayName', value: 'Sales 2' }]), { body: { displayName: 'Sales 2' } });
});

t.test('no other tenant is reached', async (t) => {
  const { bed, root, scim } = await openWorld(t);
  const { body: foreign } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'theirs', role: 'viewer' },
  });
  const { body: theirs } = await bed.ask('POST', '/api/v1/identity/groups', { as: root, body: { name: 'theirs' } });
  const alike = ({ status, body }: Answer, id: string) => [status, body?.error, String(body?.detail).replaceAll(id, 'ID')];
  const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'x' }] };
  for (const [kind, id, unknown] of [
    ['Users', foreign.id, 'usr_0000000000000000'],
    ['Groups', theirs.id, 'grp_0000000000000000'],
  ]) {
    for (const [method, body] of [['GET'], ['PUT', { userName: 'x', displayName: 'x' }], ['PATCH', patch], ['DELETE']] as [
      string,
      unknown?,
    ][]) {
      t.strictSame(
        alike(await scim(method, `/${kind}/${id}`, body), id),
        alike(await scim(method, `/${kind}/${unknown}`, body), unknown),
        `${method} ${kind}`,
      );
    }
    t.match((await scim('GET', filtered(kind, `id eq "${id}"`))).body, { totalResults: 0 });
  }
  t.match((await scim('GET', filtered('Users', 'userName eq "theirs"'))).body, { totalResults: 0 });
  t.match((await scim('GET', '/Users')).body, { totalResults: 1 });
  const member = { displayName: 'x', members: [{ value: foreign.id }] };
  t.match(await scim('POST', '/Groups', member), { status: 400, body: { scimType: 'invalidValue' } });
  t.match((await scim('GET', '/Groups')).body, { totalResults: 0 }, 'nothing was made');
  t.match(
    await bed.ask('GET', '/scim/v2/Users', { as: root }),
    { body: { Resources: [{ userName: 'root' }, { userName: 'theirs' }] } },
    'a superadmin provisions its own tenant',
  );
});

t.test('a directory cannot touch a superadmin, nor make one', async (t) => {
  const { bed, root, scim } = await openWorld(t);
  const boss = { username: 'boss', role: 'superadmin', tenant: 'red', password: ROOT_PASSWORD };
  const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body: boss });
  const off = { Operations: [{ op: 'replace', value: { active: false, password: 'taken over by now' } }] };
  for (const [method, body] of [['PATCH', off], ['PUT', { userName: 'x' }], ['DELETE']] as [string, unknown?][]) {
    t.match(await scim(method, `/Users/${user.id}`, body), { status: 403, body: { error: 'forbidden', status: '403' } }, method);
  }
  const made = await scim('POST', '/Users', {
    userName: 'x',
    roles: [{ value: 'superadmin' }],
    role: 'superadmin',
    assigned_role: 'superadmin',
  });
  t.equal(made.status, 201);
  t.match(await bed.ask('GET', `/api/v1/identity/users/${made.body.id}`, { as: root }), { body: { role: 'viewer' } });
});

t.test('versions of resources', async (t) => {
  const { scim } = await openWorld(t);
  for (const [kind, first, other] of [
    ['Users', { userName: 'bob' }, { userName: 'bob2' }],
    ['Groups', { displayName: 'a' }, { displayName: 'b' }],
  ] as const) {
    const made = await scim('POST', `/${kind}`, first);
    const tag = made.headers.get('etag') ?? '';
    t.match(tag, /^W\/"[\w-]{16}"$/);
    const path = `/${kind}/${made.body.id}`;
    t.equal((await scim('GET', path, undefined, { 'if-none-match': tag })).status, 304);
    t.equal((await scim('GET', path, undefined, { 'if-none-match': 'W/"other"' })).status, 200);
    t.match(await scim('PUT', path, other, { 'if-match': 'W/"other"' }), { status: 412, body: { error: 'precondition_failed' } });
    t.equal((await scim('PUT', path, other, { 'if-match': tag })).status, 200);
    t.equal((await scim('DELETE', path, undefined, { 'if-match': tag })).status, 412, 'it is another version now');
    t.equal((await scim('DELETE', path, undefined, { 'if-match': '*' })).status, 204);
  }
});

t.test('wrong requests', async (t) => {
  const { scim } = await openWorld(t);
  const { body: user } = await scim('POST', '/Users', { userName: 'bob' });
  const cases: [string, string, unknown, number, string][] = [
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['POST', '/Users', [], 400, 'invalidValue'],
    ['POST', '/Users', { userName: '' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'a b' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x'.repeat(129) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 1 }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x', password: 'short' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x', externalId: 'e'.repeat(600) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x', emails: Array(99).fill({ value: 'v'.repeat(4000) }) }, 400, 'invalidValue'],
    ['POST', '/Groups', {}, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'x', members: [{ value: 1 }] }, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'x', members: ['usr_none'] }, 400, 'invalidValue'],
    ['PATCH', `/Users/${user.id}`, {}, 400, 'invalidValue'],
    ['PATCH', `/Users/${user.id}`, { Operations: [] }, 400, 'invalidValue'],
    ['PATCH', `/Users/${user.id}`, { Operations: [{ op: 'remove', path: 'userName' }] }, 400, 'invalidValue'],
    ['PATCH', `/Users/${user.id}`, { Operations: [{ op: 'add', path: 'x', value: 1 }] }, 400, 'invalidPath'],
    ['GET', filtered('Users', 'userName'), undefined, 400, 'invalidFilter'],
    ['GET', filtered('Users', 'password eq "x"'), undefined, 400, 'invalidFilter'],
    ['GET', '/Users?startIndex=x', undefined, 400, 'invalidValue'],
    ['GET', '/Users?count=99999999999', undefined, 400, 'invalidValue'],
  ];
  for (const [method, path, body, status, scimType] of cases) {
    t.match(
      await scim(method, path, body),
      { status, body: { scimType, status: String(status) } },
      `${method} ${path} ${JSON.stringify(body)?.slice(0, 60)}`,
    );
  }
  t.match((await scim('GET', '/Users?startIndex=-5&count=-1')).body, { totalResults: 2, startIndex: 1, itemsPerPage: 0 });
  t.match((await scim('GET', '/Users?count=0')).body, { totalResults: 2, itemsPerPage: 0 });
  t.match((await scim('GET', '/Users')).body, { totalResults: 2 }, 'nothing was made');
});

t.test('an address that somebody has keeps nobody from being provisioned', async (t) => {
  const { bed, root, scim } = await openWorld(t);
  await bed.ask('POST', '/api/v1/auth/register', { body: { username: 'eve', email: 'bob@x.example', password: ROOT_PASSWORD } });
  const made = await scim('POST', '/Users', { userName: 'bob', emails: [{ value: 'bob@x.example', primary: true }] });
  t.match(made, { status: 201, body: { emails: [{ value: 'bob@x.example' }] } });
  t.match(await bed.ask('GET', `/api/v1/identity/users/${made.body.id}`, { as: root }), { body: { email: null } });
});
