/** What a directory does with accounts and groups, which must work on either database. */
import type { Test } from 'tap';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { openScim } from './test-support/scim-bed.ts';

async function testProvisioning(t: Test, newDatabase: NewDatabase): Promise<void> {
  const bed = await openScim(t, { databaseUrl: await newUrl(t, newDatabase) });
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const admin = { username: 'sync', role: 'admin', tenant: 'red' };
  const { body: sync } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body: admin });
  const { body: full } = await bed.ask('POST', `/api/v1/identity/users/${sync.id}/api-key`, { as: root });
  const limited = await bed.ask('POST', '/api/v1/identity/keys', { as: full.api_key, body: { name: 'scim', scopes: ['scim'] } });
  const scim = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    bed.ask(method, `/scim/v2${path}`, {
      body,
      headers: { authorization: `Bearer ${limited.body.api_key}`, 'content-type': 'application/scim+json', ...headers },
    });
  const made = await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'bob@red.example',
    externalId: 'ext-1',
    active: true,
    displayName: 'Bob',
    emails: [{ value: 'bob@red.example', type: 'work', primary: true }],
  });
  t.match(made, { status: 201, body: { id: /^usr_/, userName: 'bob@red.example', externalId: 'ext-1', active: true } });
  t.equal(made.headers.get('content-type'), 'application/scim+json');
  t.equal(made.headers.get('location'), `/scim/v2/Users/${made.body.id}`);
  t.match(await bed.ask('GET', `/api/v1/identity/users/${made.body.id}`, { as: root }), {
    body: { tenant: 'red', role: 'viewer', email: 'bob@red.example' },
  });
  const group = await scim('POST', '/Groups', { displayName: 'Staff', externalId: 'g-1', members: [{ value: made.body.id }] });
  t.match(group, { status: 201, body: { displayName: 'Staff', members: [{ value: made.body.id, display: 'bob@red.example' }] } });
  t.match(await scim('GET', `/Users/${made.body.id}`), { body: { groups: [{ value: group.body.id, display: 'Staff' }] } });
  const found = async (path: string) => (await scim('GET', path)).body.Resources.map(({ id }: { id: string }) => id) as string[];
  t.strictSame(await found(`/Users?filter=${encodeURIComponent('userName eq "BOB@red.example"')}`), [made.body.id]);
  t.strictSame(await found(`/Users?filter=${encodeURIComponent('externalId eq "ext-1"')}`), [made.body.id]);
  t.strictSame(await found(`/Users?filter=${encodeURIComponent('externalId eq "EXT-1"')}`), [], 'ids are exact');
  t.strictSame(await found(`/Users?filter=${encodeURIComponent('displayName sw "bo" and active eq true')}`), [made.body.id]);
  t.strictSame(await found(`/Groups?filter=${encodeURIComponent('displayName eq "staff"')}`), [group.body.id]);
  t.strictSame(await found(`/Groups?filter=${encodeURIComponent(`members.value eq "${made.body.id}"`)}`), [group.body.id]);
  await bed.ask('PATCH', `/api/v1/identity/groups/${group.body.id}`, { as: root, body: { role: 'developer' } });
  t.match(await bed.ask('GET', `/api/v1/identity/users/${made.body.id}`, { as: root }), { body: { role: 'developer' } });
  const pages = await Promise.all([1, 2, 3].map((start) => scim('GET', `/Users?startIndex=${start}&count=1`)));
  t.strictSame(
    pages.map(({ body }) => [body.totalResults, body.startIndex, body.itemsPerPage]),
    [
      [2, 1, 1],
      [2, 2, 1],
      [2, 3, 0],
    ],
  );
  const { body: key } = await bed.ask('POST', `/api/v1/identity/users/${made.body.id}/api-key`, { as: root });
  t.equal((await bed.ask('POST', '/v1/chat/completions', { as: key.api_key })).status, 200);
  const off = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };
  t.match(await scim('PATCH', `/Users/${made.body.id}`, off), { status: 200, body: { active: false } });
  t.equal((await bed.ask('POST', '/v1/chat/completions', { as: key.api_key })).status, 401, 'its keys stop at once');
  const removed = { Operations: [{ op: 'remove', path: `members[value eq "${made.body.id}"]` }] };
  t.equal((await scim('PATCH', `/Groups/${group.body.id}`, removed)).status, 200);
  t.match(await bed.ask('GET', `/api/v1/identity/users/${made.body.id}`, { as: root }), { body: { role: 'viewer' } });
  t.equal((await scim('DELETE', `/Users/${made.body.id}`)).status, 204);
  t.match(await scim('GET', `/Users/${made.body.id}`), { status: 404, body: { status: '404', error: 'user_not_found' } });
  t.equal((await scim('DELETE', `/Groups/${group.body.id}`)).status, 204);
  t.match(await bed.ask('GET', '/api/v1/identity/audit/verify', { as: root }), { body: { broken_at: null } });
}

onEachDatabase(testProvisioning);
