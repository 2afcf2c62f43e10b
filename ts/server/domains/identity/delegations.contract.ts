/** Delegations on both databases: each gives the principal as it is now, and none where the account or the credential is over. */
import type { Test } from 'tap';
import type { Principal } from '../../platform/http/principal.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { deriveOffline, makeCapability } from './test-support/capabilities.ts';
import { openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

async function testDelegations(t: Test, newDatabase: NewDatabase): Promise<void> {
  const bed = await openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  const { delegations } = bed.module.api;
  const anonymous: Principal = {
    tenant: 'default',
    subject: undefined,
    kind: 'anonymous',
    roles: [],
    scopes: [],
    keyId: undefined,
  };
  const before = delegations.of(anonymous);
  t.match(await delegations.principalOf(before), { kind: 'anonymous' });
  const root = await bed.makeRoot();
  t.equal(await delegations.principalOf(before), undefined, 'a node that asks for credentials has no such caller');
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const makeUser = async (username: string) => {
    const body = { username, tenant: 'red', role: 'admin', password: ROOT_PASSWORD };
    const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body });
    return { id: user.id as string, session: (await bed.ask('POST', '/api/v1/auth/login', { body })).body.token as string };
  };
  const change = (id: string, body: object) => bed.ask('PATCH', `/api/v1/identity/users/${id}`, { as: root, body });
  const principalOf = async (as: string): Promise<Principal> =>
    (await bed.ask('POST', '/v1/chat/completions', { as })).body.caller;

  await t.test('the role counts that the account has now, and a disabled account has nothing', async (t) => {
    const ann = await makeUser('ann');
    const kept = JSON.parse(JSON.stringify(delegations.of(await principalOf(ann.session), { models: ['m1'] })));
    const now = () => delegations.principalOf(kept);
    t.match(await now(), { subject: ann.id, tenant: 'red', roles: ['admin'], limits: { models: ['m1'] } });
    t.ok((await now())?.scopes.includes('tools:manage'));
    await change(ann.id, { role: 'viewer' });
    t.match(await now(), { roles: ['viewer'] });
    t.notOk((await now())?.scopes.includes('tools:manage'));
    await change(ann.id, { disabled: true });
    t.equal(await now(), undefined);
    await change(ann.id, { disabled: false });
    t.match(await now(), { roles: ['viewer'] });
    await bed.ask('DELETE', `/api/v1/identity/users/${ann.id}`, { as: root });
    t.equal(await now(), undefined);
  });

  await t.test('a delegation of a key ends with it, and has no more scopes', async (t) => {
    const bob = await makeUser('bob');
    const body = { name: 'x', scopes: ['chat:use', 'goals:use'] };
    const { body: key } = await bed.ask('POST', '/api/v1/identity/keys', { as: bob.session, body });
    const kept = delegations.of(await principalOf(key.api_key));
    t.match(await delegations.principalOf(kept), { kind: 'key', keyId: key.id, scopes: ['chat:use', 'goals:use'] });
    await bed.ask('DELETE', `/api/v1/identity/keys/${key.id}`, { as: bob.session });
    t.equal(await delegations.principalOf(kept), undefined);
  });

  await t.test('a delegation of a derived token ends with any of its parents', async (t) => {
    const cat = await makeUser('cat');
    const { id, token } = await makeCapability(bed, cat.session, { scopes: ['chat:use'], models: ['m1', 'm2'] });
    const derived = await deriveOffline(bed, token, 'check if model($model), ["m1"].contains($model);');
    const revoke = (body: object) => bed.ask('POST', '/api/v1/identity/capabilities/revoke', { as: cat.session, body });
    const [ofParent, kept] = [
      delegations.of(await principalOf(token)),
      delegations.of(await principalOf(derived), { models: ['m1', 'm3'] }),
    ];
    const expected = { kind: 'capability', scopes: ['chat:use'], limits: { models: ['m1'] } };
    t.match(await delegations.principalOf(kept), expected);
    await revoke({ token: derived });
    t.equal(await delegations.principalOf(kept), undefined, 'the token itself has no row before it is revoked');
    t.match(await delegations.principalOf(ofParent), { limits: { models: ['m1', 'm2'] } });
    const other = await deriveOffline(bed, token, 'check if model($model), ["m2"].contains($model);');
    const ofOther = delegations.of(await principalOf(other));
    t.match(await delegations.principalOf(ofOther), { limits: { models: ['m2'] } });
    await revoke({ id });
    t.strictSame([await delegations.principalOf(ofOther), await delegations.principalOf(ofParent)], [undefined, undefined]);
  });

  await t.test('a caller without an account delegates nothing', async (t) => {
    t.throws(() => delegations.of({ ...anonymous, kind: 'session' }), { code: 'forbidden' });
  });
}

onEachDatabase(testDelegations, { timeoutMs: 120_000 });
