/** What holds of role enforcement on both databases. Each test opens a database of its own. */
import type { Test } from 'tap';
import { ANONYMOUS, type Principal, type Role } from '../../platform/http/principal.ts';
import { openModules, statedCallers } from '../../platform/module/test-support/open-modules.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { security } from './index.ts';

const path = '/api/v1/security/enforcement';

function callerOf(tenant: string, role: Role): Principal {
  return { tenant, subject: `usr_${role}`, kind: 'key', roles: [role], scopes: ['*'], keyId: 'key_1' };
}

const root = callerOf('default', 'superadmin');
const redAdmin = callerOf('red', 'admin');

async function open(t: Test, databaseUrl: string, nodeId = 'one') {
  const modules = await openModules(t, {
    modules: [security],
    databaseUrl,
    nodeId,
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, at: string, as: Principal, body?: object) =>
    modules.send(method, at, { headers: { 'x-as': JSON.stringify(as) }, body });
  const decisions = async (as: Principal, query = '') => (await ask('GET', `/api/v1/security/decisions${query}`, as)).body;
  const module = modules.module(security);
  return { module, api: module.api, ask, decisions };
}

function testSecurityContract(t: Test, newDatabase: NewDatabase): void {
  t.test('the modes allow, list and deny', async (t) => {
    const { api, ask, decisions } = await open(t, await newUrl(t, newDatabase));
    t.match((await ask('GET', path, root)).body, { mode: 'stub_allow', tenants: [] });
    t.match(api.checkToolCall(redAdmin, 'models.pull'), { isAllowed: true, isWithinRole: false, neededRole: 'superadmin' });
    t.strictSame((await decisions(root)).data, [], 'nothing is listed');
    t.match(await ask('PUT', path, root, { mode: 'audit' }), { status: 200, body: { mode: 'audit' } });
    t.doesNotThrow(() => api.requireToolCall(redAdmin, 'models.pull'));
    t.match((await decisions(root)).data, [
      { tenant: 'red', tool: 'models.pull', role: 'admin', needed_role: 'superadmin', mode: 'audit', outcome: 'allowed' },
    ]);
    await ask('PUT', path, root, { mode: 'enforce' });
    t.throws(() => api.requireToolCall(redAdmin, 'models.pull'), {
      code: 'tool_call_denied',
      extra: { tool: 'models.pull', needed_role: 'superadmin' },
    });
    t.doesNotThrow(() => api.requireToolCall(root, 'models.pull'));
    t.doesNotThrow(() => api.requireToolCall(ANONYMOUS, 'models.pull'), 'the operator of a node without accounts');
    t.match((await decisions(root)).data, [{ mode: 'enforce', outcome: 'denied', actor: 'user:usr_admin key:key_1' }, {}]);
  });

  t.test('each tool has a least role, and one that is not known needs a developer', async (t) => {
    const { api, ask } = await open(t, await newUrl(t, newDatabase));
    await ask('PUT', path, root, { mode: 'enforce' });
    const rows: [tool: string, least: Role][] = [
      ['models.delete', 'superadmin'],
      ['backup.restore', 'superadmin'],
      ['memory.delete_all', 'admin'],
      ['memory.recall', 'viewer'],
      ['iot.read', 'viewer'],
      ['iot.write', 'developer'],
      ['comm.send', 'developer'],
      ['of.tomorrow', 'developer'],
    ];
    const roles: Role[] = ['viewer', 'developer', 'admin', 'superadmin'];
    for (const [tool, least] of rows) {
      const allowed = roles.filter((role) => api.checkToolCall(callerOf('red', role), tool).isAllowed);
      t.strictSame(allowed, roles.slice(roles.indexOf(least)), tool);
    }
  });

  t.test('the mode of a tenant goes before that of the node, and holds on every node', async (t) => {
    const url = await newUrl(t, newDatabase);
    const one = await open(t, url);
    await one.ask('PUT', path, root, { mode: 'enforce', tenant: 'red' });
    t.notOk(one.api.checkToolCall(redAdmin, 'models.pull').isAllowed);
    t.ok(one.api.checkToolCall(callerOf('blue', 'admin'), 'models.pull').isAllowed);
    const two = await open(t, url, 'two');
    t.notOk(two.api.checkToolCall(redAdmin, 'models.pull').isAllowed);
    await two.ask('PUT', path, root, { mode: 'enforce' });
    t.ok(one.api.checkToolCall(callerOf('blue', 'admin'), 'models.pull').isAllowed, 'a node’s mode is its own');
    t.notOk(two.api.checkToolCall(callerOf('blue', 'admin'), 'models.pull').isAllowed);
    await two.ask('PUT', path, root, { mode: null, tenant: 'red' });
    t.match((await two.ask('GET', path, root)).body, { mode: 'enforce', tenants: [] });
  });

  t.test('the mode is there after a restart, and without the role every call passes', async (t) => {
    const url = await newUrl(t, newDatabase);
    const before = await open(t, url);
    await before.ask('PUT', path, root, { mode: 'enforce' });
    const after = await open(t, url);
    t.notOk(after.api.checkToolCall(redAdmin, 'models.pull').isAllowed);
    await after.module.stop();
    t.match(after.api.checkToolCall(redAdmin, 'models.pull'), { isAllowed: true, mode: 'stub_allow' });
  });

  t.test('superadmins switch, administrators see their own tenant', async (t) => {
    const { api, ask, decisions } = await open(t, await newUrl(t, newDatabase));
    for (const body of [{ mode: 'off' }, {}, { mode: null }, { mode: 'audit', tenant: '../x' }, { mode: 'audit', tenant: 7 }])
      t.equal((await ask('PUT', path, root, body)).status, 400, JSON.stringify(body));
    t.equal((await ask('PUT', path, redAdmin, { mode: 'stub_allow' })).status, 403);
    t.equal((await ask('GET', path, callerOf('red', 'developer'))).status, 403);
    for (const mode of ['audit', null])
      t.match(await ask('PUT', path, root, { mode, tenant: 'nobody' }), { status: 404, body: { error: 'tenant_not_found' } });
    await ask('PUT', path, root, { mode: 'audit', tenant: 'red' });
    await ask('PUT', path, root, { mode: 'audit', tenant: 'blue' });
    t.strictSame((await ask('GET', path, redAdmin)).body.tenants, [{ tenant: 'red', mode: 'audit' }]);
    for (const tenant of ['red', 'blue', 'red']) api.checkToolCall(callerOf(tenant, 'viewer'), 'iot.write');
    t.strictSame(
      (await decisions(redAdmin)).data.map(({ tenant }: { tenant: string }) => tenant),
      ['red', 'red'],
    );
    const page = await decisions(root, '?limit=2');
    t.equal(page.data.length, 2);
    const rest = await decisions(root, `?limit=2&after=${page.next}`);
    t.match(rest.data, [{ tenant: 'red' }]);
    t.equal(rest.next, undefined);
    for (const query of ['limit=0', 'limit=1001', 'after=x', 'after=-1'])
      t.equal((await ask('GET', `/api/v1/security/decisions?${query}`, root)).status, 400, query);
  });
}

onEachDatabase(testSecurityContract);
