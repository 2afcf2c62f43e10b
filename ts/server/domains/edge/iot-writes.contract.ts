/** Writes to devices by route, tool and model on both databases: what each is refused with, and approvals that hold once. */
import type { Test } from 'tap';
import type { Principal } from '../../platform/http/principal.ts';
import { standIn } from '../../platform/module/test-support/open-modules.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { files } from '../files/index.ts';
import { admin, callerOf, developer, greenhouse, openIot, root, viewer } from '../iot/test-support/iot-bed.ts';
import { metering } from '../metering/index.ts';
import { edge } from './index.ts';

const other = callerOf('usr_two', 'developer');
const stranger = callerOf('usr_eve', 'admin', { tenant: 'blue' });

async function openWrites(t: Test, newDatabase: NewDatabase, settings: Readonly<Record<string, unknown>> = {}) {
  const bed = await openIot(t, {
    databaseUrl: await newUrl(t, newDatabase),
    settings,
    modules: [
      edge,
      standIn(files, {}),
      standIn(data, {}),
      standIn(conversations, { artifacts: {}, prompts: {} } as never),
      standIn(metering, { begin: async () => ({ end: async () => {} }) as never }),
    ],
  });
  const decide = (id: string, as: Principal, decision: 'approve' | 'deny' = 'approve', more: object = {}) =>
    bed.ask('POST', `/api/v1/security/approvals/${id}`, as, { decision, ...more });
  const approval = (id: string, as: Principal = developer) => bed.ask('GET', `/api/v1/security/approvals/${id}`, as);
  const asModel = (tool: string, given: object, as: Principal = developer) =>
    bed.module(edge).api.executor.execute({
      tool,
      arguments: given,
      source: { caller: as, remoteAddress: '', requestId: '' },
      isDirect: false,
      isTainted: false,
      run: 'run_1',
      signal: new AbortController().signal,
    });
  return { ...bed, decide, approval, asModel };
}

function testWrites(t: Test, newDatabase: NewDatabase): void {
  t.test('a value is written once, read back and verified, and what is not allowed never leaves', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    t.match(await bed.write(id, 'temperature', 22.5), {
      status: 200,
      body: { device_id: id, variable: 'temperature', value: 22.5, unit: 'Cel', read_back: 22.5, verified: true },
    });
    t.match((await bed.read(id, 'temperature')).body, { value: 22.5, unit: 'Cel', quality: 'good' });
    const refusals: [string, unknown, number, string, Principal?][] = [
      ['temperature', 31, 400, 'value_out_of_range'],
      ['temperature', 4.5, 400, 'value_out_of_range'],
      ['temperature', 22.25, 400, 'value_out_of_range'],
      ['temperature', '22', 400, 'value_type_mismatch'],
      ['temperature', true, 400, 'value_type_mismatch'],
      ['temperature', 12, 429, 'write_rate_exceeded'],
      ['label', 'x'.repeat(201), 400, 'value_type_mismatch'],
      ['nothing', 1, 404, 'variable_not_found'],
      ['temperature', 22, 403, 'forbidden', viewer],
      ['temperature', 22, 403, 'insufficient_scope', callerOf('usr_dev', 'developer', { scopes: ['iot:read', 'tools:use'] })],
      ['temperature', 22, 404, 'device_not_found', stranger],
    ];
    for (const [variable, value, status, error, as] of refusals) {
      const answer = await bed.write(id, variable, value, as ?? developer);
      t.match(answer, { status, body: { error } }, `${variable} ${String(value).slice(0, 9)} ${answer.text}`);
    }
    t.equal((await bed.write('dev_none', 'temperature', 22)).status, 404);
    t.match((await bed.read(id, 'temperature')).body, { value: 22.5 });
    t.match(await bed.write(id, 'door', true), { status: 200, body: { verified: true } });
    t.match(await bed.write(id, 'temperature', 22), { status: 409, body: { error: 'interlock_open', interlock: 'door' } });
    await bed.write(id, 'door', false);
    t.match(await bed.write(id, 'temperature', 22), { status: 200 });
    const { writes } = (await bed.ask('GET', `/api/v1/iot/devices/${id}`, viewer)).body;
    t.match(writes[0], {
      variable: 'temperature',
      value: 22,
      read_back: 22,
      verified: true,
      state: 'written',
      owner: 'user:usr_dev',
    });
    t.match(
      bed.acts.filter(({ target }) => target === 'iot.write').map(({ outcome }) => outcome),
      ['done'],
    );
    t.notMatch(JSON.stringify(bed.acts), '22.5', 'the audit log holds no content');
  });

  t.test('roles and scopes hold in every mode of enforcement, for models and for people', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    await bed.ask('PUT', '/api/v1/tools/policies', admin, {
      rules: [{ tools: ['iot.*'], decision: 'allow' }],
      timeout_seconds: 120,
      taint_exempt: [],
    });
    const given = { device_id: id, variable: 'temperature', value: 21 };
    for (const mode of ['stub_allow', 'audit', 'enforce']) {
      await bed.ask('PUT', '/api/v1/security/enforcement', root, { mode, tenant: 'red' });
      const refused = await bed
        .asModel('iot.write', given, viewer)
        .catch((error: { code: string }) => ({ error: { error: error.code } }));
      t.equal(refused.error?.error, 'tool_call_denied', mode);
      t.match(await bed.ask('POST', '/api/v1/tools/execute', viewer, { tool: 'iot.write', arguments: given }), {
        ...(mode === 'enforce' ? { status: 403 } : { body: { ok: false, error: { error: 'tool_call_denied' } } }),
      });
    }
    t.match(await bed.asModel('iot.write', given), { isDone: true, result: { verified: true } });
    t.match(await bed.asModel('iot.write', { ...given, variable: 'door', value: true }), {
      isDone: false,
      error: { error: 'variable_not_found' },
    });
    const seen = (await bed.asModel('iot.read', {})).result as { devices: { variables: { name: string }[] }[] };
    t.strictSame(
      seen.devices[0]?.variables.map(({ name }) => name),
      ['temperature', 'asked'],
      'models see what was exposed',
    );
    t.match(await bed.asModel('iot.read', { device_id: id, variable: 'label' }), { error: { error: 'variable_not_found' } });
    t.match(await bed.ask('GET', '/api/v1/agent/tools', stranger), { body: { data: [] } }, 'no device, no tool');
  });

  t.test('a variable that asks is written when its caller approves it, once, and the approval has the outcome', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    const asked = await bed.write(id, 'asked', 4);
    t.equal(asked.status, 202);
    const { approval_id: approval } = asked.body;
    t.equal((await bed.write(id, 'asked', 4)).body.approval_id, approval, 'the same call waits once');
    t.match((await bed.read(id, 'asked')).body, { value: 0 });
    t.match((await bed.approval(approval)).body, { state: 'pending', asked_by: 'own', arguments: { value: 4 }, outcome: null });
    t.equal((await bed.approval(approval, other)).status, 404);
    t.equal((await bed.approval(approval, stranger)).status, 404);
    t.equal((await bed.decide(approval, stranger)).status, 404);
    t.match(await bed.decide(approval, developer, 'approve', { arguments: { device_id: id, variable: 'guarded', value: 4 } }), {
      status: 400,
    });
    t.match(await bed.decide(approval, developer), {
      status: 200,
      body: { state: 'used', outcome: { ok: true, result: { value: 4, verified: true } } },
    });
    t.match((await bed.approval(approval)).body, { state: 'used', outcome: { ok: true } });
    t.match(await bed.decide(approval, developer), { status: 409, body: { error: 'approval_closed' } });
    t.match(await bed.write(id, 'asked', 4, developer, { approval_id: approval }), {
      status: 409,
      body: { error: 'approval_used' },
    });
    t.equal((await bed.write(id, 'asked', 5, developer, { approval_id: approval })).status, 202, 'another value asks again');
    t.match((await bed.read(id, 'asked')).body, { value: 4 });
    const denied = (await bed.write(id, 'asked', 6)).body.approval_id;
    await bed.decide(denied, developer, 'deny');
    t.match((await bed.approval(denied)).body, { state: 'denied', outcome: null });
    t.match((await bed.read(id, 'asked')).body, { value: 4 });
  });

  t.test('where a second person decides, whoever asked does not, nor a viewer, nor a key of nobody', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    const { approval_id: approval } = (await bed.write(id, 'guarded', 7)).body;
    const sameByKey = callerOf('usr_dev', 'developer', { kind: 'key', keyId: 'key_1' });
    const nobodysKey = callerOf('', 'admin', { subject: undefined as never, kind: 'key', keyId: 'key_2' });
    for (const [as, status] of [
      [developer, 403],
      [sameByKey, 403],
      [viewer, 404],
      [nobodysKey, 404],
    ] as const)
      t.equal((await bed.decide(approval, as)).status, status);
    t.match((await bed.read(id, 'guarded')).body, { value: 0 });
    const listed = (await bed.ask('GET', '/api/v1/security/approvals', other)).body.data;
    t.match(listed, [{ id: approval, asked_by: 'second_person', owner: 'user:usr_dev' }]);
    t.match((await bed.decide(approval, other)).body, { outcome: { ok: true, result: { value: 7, verified: true } } });
    const second = (await bed.write(id, 'guarded', 8)).body.approval_id;
    bed.disabled.add('usr_dev');
    t.match((await bed.decide(second, other)).body, { outcome: { ok: false, error: 'forbidden' } }, 'whoever asked is gone');
    t.match((await bed.read(id, 'guarded')).body, { value: 7 });
  });

  t.test('an approval holds for the device as it was, and until it expires', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    const { approval_id: approval } = (await bed.write(id, 'asked', 4)).body;
    const variables = greenhouse.variables.map((one) => (one.name === 'asked' ? { ...one, max: 8 } : one));
    t.equal((await bed.ask('PATCH', `/api/v1/iot/devices/${id}`, admin, { variables })).status, 200);
    t.match((await bed.decide(approval, developer)).body, { outcome: { ok: false, error: 'approval_required' } });
    t.match((await bed.read(id, 'asked')).body, { value: 0 }, 'it was for another profile');
    const guarded = greenhouse.variables.map((one) => (one.name === 'asked' ? { ...one, approval: 'second_person' } : one));
    const { approval_id: before } = (await bed.write(id, 'asked', 3)).body;
    await bed.ask('PATCH', `/api/v1/iot/devices/${id}`, admin, { variables: guarded });
    t.match((await bed.decide(before, developer)).body, { outcome: { ok: false } });
    t.match((await bed.read(id, 'asked')).body, { value: 0 });
    const { approval_id: late } = (await bed.write(id, 'asked', 2)).body;
    await bed.storage
      .access<{ edge_approvals: { id: string; expires_at: number } }>()
      .writeUnit((await import('../../platform/storage/index.ts')).systemScope(), (db) => [
        db.updateTable('edge_approvals').set({ expires_at: 1 }).where('id', '=', late),
      ]);
    t.match(await bed.decide(late, other), { status: 409, body: { error: 'approval_closed' } });
    t.match((await bed.read(id, 'asked')).body, { value: 0 });
  });

  t.test('what a model writes asks too, by the rule of the variable and not twice', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    const given = { device_id: id, variable: 'asked', value: 3 };
    const refused = await bed.asModel('iot.write', given).catch((error) => error);
    t.match(refused, { code: 'approval_required', extra: { asked_by: 'own' } });
    t.equal((await bed.decide(refused.extra.approval_id, developer)).body.outcome, null, 'the run makes the call');
    const call = {
      tool: 'iot.write',
      arguments: given,
      source: { caller: developer, remoteAddress: '', requestId: '' },
      isDirect: false,
      isTainted: true,
      run: 'run_1',
      approvalId: refused.extra.approval_id,
      signal: new AbortController().signal,
    };
    t.match(await bed.module(edge).api.executor.execute(call), { isDone: true, result: { value: 3, verified: true } });
    await t.rejects(bed.module(edge).api.executor.execute(call), { code: 'approval_required' }, 'once');
  });

  t.test('a halt refuses every write until an administrator ends it; a superadmin’s holds for all tenants', async (t) => {
    const bed = await openWrites(t, newDatabase);
    const id = await bed.add(greenhouse);
    const theirs = await bed.add(greenhouse, stranger);
    const { approval_id: waiting } = (await bed.write(id, 'asked', 4)).body;
    const halt = (as: Principal, method = 'POST') =>
      bed.ask(method, '/api/v1/iot/halt', as, method === 'POST' ? { reason: 'smoke in the hall' } : undefined);
    t.equal((await halt(developer)).status, 403);
    t.match((await halt(admin)).body, { halted: true, halts: [{ scope: 'tenant', reason: 'smoke in the hall' }] });
    t.match(await bed.write(id, 'temperature', 21), { status: 503, body: { error: 'writes_halted' } });
    t.match((await bed.decide(waiting, developer)).body, { outcome: { ok: false, error: 'writes_halted' } });
    const eve = callerOf('usr_eve', 'developer', { tenant: 'blue' });
    t.equal((await bed.write(theirs, 'temperature', 21, eve)).status, 200);
    t.match((await halt(root)).body, { halts: [{}, {}] });
    t.match(await bed.write(theirs, 'temperature', 22, eve), { status: 503 });
    t.equal((await halt(admin, 'DELETE')).status, 204);
    t.match((await bed.ask('GET', '/api/v1/iot/halt', viewer)).body, { halted: true, halts: [{ scope: 'all' }] });
    t.match(await bed.write(id, 'temperature', 21), { status: 503 });
    await halt(root, 'DELETE');
    t.match(await bed.write(id, 'temperature', 21), { status: 200 });
    t.match((await bed.read(id, 'asked')).body, { value: 0 }, 'what was halted is not sent later');
  });
}

onEachDatabase(testWrites, { timeoutMs: 120_000 });
