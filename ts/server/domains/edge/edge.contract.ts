/** Tools, policies and approvals on both databases. Each test opens a database of its own. */
import fc from 'fast-check';
import type { Test } from 'tap';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { edge } from './index.ts';
import { callerOf, openEdge } from './test-support/edge-bed.ts';

const ann = callerOf('usr_ann', 'viewer');
const bob = callerOf('usr_bob', 'viewer');
const admin = callerOf('usr_admin', 'admin');
const elsewhere = callerOf('usr_eve', 'admin', { tenant: 'blue' });
const asks = { rules: [{ tools: ['test.*'], decision: 'ask' }] };

function testEdgeContract(t: Test, newDatabase: NewDatabase): void {
  t.test('a caller’s own call runs with its rights, is metered, and is in the audit log', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    const answer = await bed.execute(ann, 'test.write', { arguments: { text: 'a' } });
    t.match(answer, { status: 200, body: { ok: true, result: { did: 'a' }, artifacts: [] } });
    t.match(bed.calls, [{ tool: 'test.write', call: { caller: ann, arguments: { text: 'a' } } }]);
    t.strictSame(bed.metered, ['test.write']);
    t.match(bed.acts, [{ action: 'tool.call', target: 'test.write', outcome: 'done', tenant: 'red', actor: 'user:usr_ann' }]);
    t.match((await bed.execute(ann, 'test.read', { args: { text: 'b' } })).body, { ok: true, result: { did: 'b' } });
    t.equal((await bed.execute(ann, 'test.read', { arguments: { text: 'b' }, args: { text: 'b' } })).status, 200);
    t.match(await bed.execute(ann, 'test.read', { arguments: { text: 'b' }, args: {} }), {
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  t.test(
    'a call is refused before it runs: an unknown tool, wrong arguments, a scope that lacks, a policy that denies',
    async (t) => {
      const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
      await bed.setPolicy(admin, {
        rules: [
          { tools: ['*.destroy'], decision: 'deny' },
          { tools: ['*'], decision: 'allow' },
        ],
      });
      const narrow = callerOf('usr_ann', 'viewer', { scopes: ['tools:use'] });
      const refusals: [status: number, error: string, tool: string, body: object, as?: typeof ann][] = [
        [404, 'tool_not_found', 'test.nothing', {}],
        [400, 'invalid_request', 'test.read', { arguments: { text: 1 } }],
        [400, 'invalid_request', 'test.read', { arguments: { other: 1 } }],
        [400, 'invalid_request', 'test.read', { arguments: 'text' }],
        [403, 'insufficient_scope', 'test.read', {}, narrow],
        [403, 'insufficient_scope', 'test.read', {}, callerOf('usr_ann', 'viewer', { scopes: ['knowledge:read'] })],
        [403, 'tool_call_denied', 'test.destroy', {}],
      ];
      for (const [status, error, tool, body, as = ann] of refusals)
        t.match(await bed.execute(as, tool, body), { status, body: { error } }, `${tool} ${error}`);
      await bed.ask('PUT', '/api/v1/security/enforcement', callerOf('usr_root', 'superadmin'), {
        mode: 'enforce',
        tenant: 'red',
      });
      t.match(await bed.execute(ann, 'test.read'), {
        status: 403,
        body: { error: 'tool_call_denied', needed_role: 'developer' },
      });
      t.strictSame(bed.calls, []);
      t.equal((await bed.execute(admin, 'test.read')).status, 200);
    },
  );

  t.test('a tool that groups do not leave to the caller is answered as one that is not there, and is not listed', async (t) => {
    const uses = { of: () => (name: string) => name === 'test.read' };
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase), uses });
    const listed = (await bed.ask('GET', '/api/v1/agent/tools', ann)).body.data;
    t.match(listed, [{ name: 'test.read', effect: 'read', approval: 'allow', least_role: 'developer', state: 'ready' }]);
    t.equal(listed.length, 1);
    const [hidden, unknown] = [await bed.execute(ann, 'test.write'), await bed.execute(ann, 'test.writx')];
    t.equal(hidden.text, unknown.text.replace('writx', 'write'));
    t.equal(hidden.status, 404);
  });

  t.test('what a tool fails with is an outcome; its own faults stay in the log', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    t.match((await bed.execute(ann, 'test.refuse')).body, { ok: false, error: { error: 'namespace_not_found' } });
    const broken = await bed.execute(ann, 'test.break');
    t.match(broken.body, { ok: false, error: { error: 'internal' } });
    t.notMatch(broken.text, 'secret');
    t.match(bed.log.join('\n'), 'the secret reason');
    const offline = await bed.execute(ann, 'test.offline');
    t.match(offline.body, { ok: false, error: { error: 'storage_unavailable', detail: /nothing was changed/ } });
    t.notMatch(offline.text, 'secret');
    t.match(bed.acts, [{ outcome: 'failed' }, { outcome: 'failed' }, { outcome: 'failed' }]);
  });

  t.test('a long result is cut, and kept whole as an artifact', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    const { result, artifacts } = (await bed.execute(ann, 'test.large')).body;
    t.match(result, { is_cut: true, size_bytes: 80_011, artifact: 'art_1' });
    t.ok(Buffer.byteLength(result.beginning) <= 64 * 1024);
    t.notMatch(result.beginning, '\uFFFD');
    t.strictSame(artifacts, ['art_1']);
    t.equal(bed.kept[0]?.length, 40_011);
  });

  t.test('a call ends in its time, and one person has some calls running at most', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'tools.calls_at_once': 1 } });
    t.match(await bed.execute(ann, 'test.slow', { timeout_seconds: 1 }), { status: 504, body: { error: 'tool_timeout' } });
    t.match(await bed.execute(ann, 'test.read'), { status: 429, body: { error: 'budget_exceeded' } }, 'the slow one still runs');
    t.equal((await bed.execute(bob, 'test.read')).status, 200);
    bed.finishSlow('late');
    await new Promise(setImmediate);
    t.equal((await bed.execute(ann, 'test.read')).status, 200);
  });

  t.test('deny goes before ask, ask before allow, and rules of roles are for these roles', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    const rule = (decision: string, ...tools: string[]) => ({ decision, tools });
    await bed.setPolicy(admin, {
      rules: [
        rule('allow', 'test.*'),
        rule('ask', 'test.w*'),
        rule('deny', 'test.write'),
        { ...rule('deny', 'test.read'), roles: ['viewer'] },
      ],
    });
    const approvals = async (as: typeof ann) => {
      const { data } = (await bed.ask('GET', '/api/v1/agent/tools', as)).body;
      return Object.fromEntries(data.map(({ name, approval }: { name: string; approval: string }) => [name, approval]));
    };
    t.match(await approvals(ann), { 'test.write': 'deny', 'test.read': 'deny', 'test.destroy': 'allow' });
    t.match(await approvals(admin), { 'test.write': 'deny', 'test.read': 'allow' });
    t.match(await approvals(elsewhere), { 'test.write': 'ask', 'test.destroy': 'ask', 'test.read': 'allow' });
    t.equal((await bed.ask('GET', '/api/v1/tools/policies', ann)).status, 403);
    t.equal((await bed.setPolicy(admin, { rules: [{ tools: ['a b'], decision: 'deny' }] })).status, 400);
    t.equal((await bed.setPolicy(admin, { rules: [], more: 1 })).status, 400);
  });

  t.test('a call that asks runs once after its approval, as it was shown', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    await bed.setPolicy(admin, asks);
    const call = { arguments: { text: 'a' } };
    const asked = await bed.execute(ann, 'test.write', call);
    t.match(asked, { status: 409, body: { error: 'approval_required', asked_by: 'rule' } });
    const approval_id = asked.body.approval_id;
    t.equal((await bed.execute(ann, 'test.write', call)).body.approval_id, approval_id, 'the same call asks once');
    t.equal((await bed.execute(ann, 'test.write', { ...call, approval_id })).status, 409, 'nobody decided yet');
    t.strictSame(bed.calls, []);
    t.match((await bed.ask('GET', '/api/v1/security/approvals', ann)).body.data, [
      { id: approval_id, tool: 'test.write', arguments: { text: 'a' }, state: 'pending', owner: 'user:usr_ann' },
    ]);
    t.match(await bed.decide(ann, approval_id, { decision: 'approve' }), { status: 200, body: { state: 'approved' } });
    t.match(await bed.decide(ann, approval_id, { decision: 'deny' }), { status: 409, body: { error: 'approval_closed' } });
    const other = await bed.execute(ann, 'test.write', { arguments: { text: 'b' }, approval_id });
    t.equal(other.status, 409, 'other arguments are another call');
    t.not(other.body.approval_id, approval_id);
    t.equal((await bed.execute(bob, 'test.write', { ...call, approval_id })).status, 409, 'another caller is another call');
    t.equal((await bed.execute(ann, 'test.read', { ...call, approval_id })).status, 409, 'another tool is another call');
    t.match(await bed.execute(ann, 'test.write', { ...call, approval_id }), { status: 200, body: { result: { did: 'a' } } });
    t.equal((await bed.execute(ann, 'test.write', { ...call, approval_id })).status, 409, 'it was used');
    t.equal(bed.calls.length, 1);
  });

  t.test('of many requests with one approval, one runs', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'tools.calls_at_once': 100 } });
    await bed.setPolicy(admin, asks);
    const { approval_id } = (await bed.execute(ann, 'test.write')).body;
    await bed.decide(ann, approval_id, { decision: 'approve' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => bed.execute(ann, 'test.write', { approval_id })));
    t.equal(answers.filter(({ status }) => status === 200).length, 1);
    t.equal(bed.calls.length, 1);
  });

  t.test('a decision may change the arguments, which then fit and run', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    await bed.setPolicy(admin, asks);
    const { approval_id } = (await bed.execute(ann, 'test.write', { arguments: { text: 'a' } })).body;
    const change = (value: unknown) => bed.decide(ann, approval_id, { decision: 'approve', arguments: value });
    t.equal((await change({ text: 1 })).status, 400);
    t.match((await change({ text: 'safe' })).body, { arguments: { text: 'safe' } });
    const done = await bed.execute(ann, 'test.write', { arguments: { text: 'a' }, approval_id });
    t.match(done.body, { result: { did: 'safe' } });
  });

  t.test('a denied call is refused with the reason', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    await bed.setPolicy(admin, asks);
    const { approval_id } = (await bed.execute(ann, 'test.write')).body;
    t.equal((await bed.decide(ann, approval_id, { decision: 'deny', remember: 'always' })).status, 400);
    await bed.decide(ann, approval_id, { decision: 'deny', reason: 'not today' });
    t.match(await bed.execute(ann, 'test.write', { approval_id }), {
      status: 403,
      body: { error: 'tool_call_denied', detail: /not today/ },
    });
    t.strictSame(bed.calls, []);
  });

  t.test('the owner decides; what cannot be undone, an administrator of the tenant; others find nothing', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    await bed.setPolicy(admin, asks);
    const write = (await bed.execute(ann, 'test.write')).body.approval_id;
    const destroy = (await bed.execute(ann, 'test.destroy')).body.approval_id;
    const approve = { decision: 'approve' };
    const unknown = await bed.decide(bob, 'apr_nothing', approve);
    for (const [as, id] of [
      [bob, write],
      [admin, write],
      [bob, destroy],
      [elsewhere, destroy],
    ] as const) {
      const { status, text } = await bed.decide(as, id, approve);
      t.strictSame([status, text], [404, unknown.text.replaceAll('apr_nothing', id)], `${as.subject}`);
    }
    t.match(await bed.decide(ann, destroy, approve), { status: 403, body: { error: 'forbidden' } });
    t.equal((await bed.decide(admin, destroy, { ...approve, remember: 'always' })).status, 400);
    t.equal((await bed.decide(admin, destroy, approve)).status, 200);
    t.equal((await bed.execute(ann, 'test.destroy', { approval_id: destroy })).status, 200);
    const tools = async (as: typeof ann) =>
      (await bed.ask('GET', '/api/v1/security/approvals', as)).body.data.map(({ tool }: { tool: string }) => tool);
    t.strictSame(await tools(ann), ['test.destroy', 'test.write']);
    t.strictSame(await tools(admin), ['test.destroy']);
    t.strictSame([await tools(bob), await tools(elsewhere)], [[], []]);
    const agent = callerOf('usr_ann', 'viewer', { scopes: ['tools:use', 'knowledge:read'] });
    t.equal((await bed.decide(agent, write, approve)).status, 403, 'a credential for tools alone approves nothing');
  });

  t.test('an approval survives a restart, and is over in its time', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const before = await openEdge(t, { databaseUrl });
    await before.setPolicy(admin, asks);
    const { approval_id } = (await before.execute(ann, 'test.write')).body;
    await before.decide(ann, approval_id, { decision: 'approve' });
    await before.stop();
    const after = await openEdge(t, { databaseUrl });
    t.equal((await after.execute(ann, 'test.write', { approval_id })).status, 200);
    const { approval_id: late } = (await after.execute(ann, 'test.write')).body;
    await after.decide(ann, late, { decision: 'approve' });
    const now = Date.now;
    t.teardown(() => (Date.now = now));
    Date.now = () => now() + 25 * 60 * 60 * 1000;
    t.match((await after.ask('GET', '/api/v1/security/approvals?limit=1', ann)).body.data, [{ id: late, state: 'expired' }]);
    t.equal((await after.execute(ann, 'test.write', { approval_id: late })).status, 409);
  });

  t.test('an approval that a run waits for ends with the run: given up, too late, or on a node that starts again', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const bed = await openEdge(t, { databaseUrl });
    await bed.setPolicy(admin, asks);
    const { runs } = bed.module(edge).api;
    const source = { caller: ann, remoteAddress: '', requestId: 'r' };
    const wait = (run: string, signal: AbortSignal, onAsked: (id: string) => unknown) =>
      runs
        .call({ tool: 'test.write', arguments: {}, source, isTainted: false, run, signal }, ({ id }) => void onAsked(id))
        .then(
          () => 'ran',
          (error: { name: string; code?: string }) => error.code ?? error.name,
        );
    const pending = async () => (await bed.ask('GET', '/api/v1/security/approvals?state=pending', ann)).body.data;
    const shown = async (id = '') => (await bed.ask('GET', `/api/v1/security/approvals/${id}`, ann)).body;
    const client = new AbortController();
    let given: string | undefined;
    const left = wait('one', client.signal, (id) => {
      given = id;
      client.abort();
    });
    t.not(await left, 'ran');
    t.match(await shown(given), { state: 'denied', decided_by: null, reason: 'the call was given up while it waited' });
    t.match(await bed.decide(ann, given ?? '', { decision: 'approve' }), { status: 409, body: { error: 'approval_closed' } });
    const asked = Promise.withResolvers<string>();
    const interrupted = wait('two', new AbortController().signal, asked.resolve);
    const id = await asked.promise;
    t.match(await pending(), [{ id }]);
    t.ok(Date.parse((await shown(id)).expires_at) < Date.now() + 600_000, 'where the node never comes back, it is over soon');
    const { approval_id: direct } = (await bed.execute(ann, 'test.write')).body;
    await openEdge(t, { databaseUrl });
    t.match(await shown(id), { state: 'denied', reason: 'the node stopped while the call waited' });
    t.match(await pending(), [{ id: direct }], 'one whose caller makes the call again waits on');
    t.equal(await interrupted, 'tool_call_denied');
  });

  t.test('an approval of a tool that has become another one is none', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const before = await openEdge(t, { databaseUrl });
    await before.setPolicy(admin, asks);
    const { approval_id } = (await before.execute(ann, 'test.write')).body;
    await before.decide(ann, approval_id, { decision: 'approve' });
    await before.stop();
    const after = await openEdge(t, { databaseUrl, description: 'Does something else.' });
    t.match(await after.execute(ann, 'test.write', { approval_id }), { status: 409, body: { error: 'tool_changed' } });
    t.strictSame(after.calls, []);
  });

  t.test('what a model asks for is judged with its run: defaults, what the person lets pass, and text of others', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase) });
    const source = { caller: ann, remoteAddress: '', requestId: 'r' };
    const call = (tool: string, more: object = {}) =>
      bed.executor
        .execute({
          tool,
          arguments: {},
          source,
          isDirect: false,
          isTainted: false,
          run: 'one',
          signal: new AbortController().signal,
          ...more,
        })
        .then(
          () => 'ran',
          (error: { code: string; extra: { approval_id?: string; asked_by?: string } }) => error,
        );
    t.equal(await call('test.read'), 'ran');
    const asked = (await call('test.write', { conversation: 'c1' })) as { extra: { approval_id: string } };
    t.match(asked, { code: 'approval_required', extra: { asked_by: 'default' } });
    const approvalId = asked.extra.approval_id;
    await bed.decide(ann, approvalId, { decision: 'approve', remember: 'conversation' });
    t.match(await call('test.write', { approvalId, run: 'two', conversation: 'c2' }), { code: 'approval_required' });
    t.equal(await call('test.write', { approvalId, conversation: 'c1' }), 'ran');
    t.equal(await call('test.write', { run: 'three', conversation: 'c1' }), 'ran', 'not asked again in this conversation');
    t.match(await call('test.write', { run: 'three', conversation: 'c1', isTainted: true }), {
      code: 'approval_required',
      extra: { asked_by: 'untrusted' },
    });
    t.equal(await call('test.read', { isTainted: true }), 'ran');
    await bed.setPolicy(admin, { taint_exempt: ['test.write'] });
    t.equal(await call('test.write', { run: 'three', conversation: 'c1', isTainted: true }), 'ran');
    await bed.setPolicy(admin, asks);
    t.match(await call('test.write', { conversation: 'c1', run: 'four' }), { extra: { asked_by: 'rule' } });
    t.match(await call('test.read', { definitionHash: 'another' }), { code: 'tool_changed' });
  });

  t.test('whatever is changed, reordered, repeated or decided, a call runs once for each approval at most', async (t) => {
    const bed = await openEdge(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'tools.calls_at_once': 100 } });
    await bed.setPolicy(admin, asks);
    const step = fc.record({
      caller: fc.constantFrom(ann, bob),
      tool: fc.constantFrom('test.read', 'test.write'),
      text: fc.constantFrom('a', 'b'),
      act: fc.constantFrom('call', 'call with the last approval', 'approve', 'deny'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const approved = new Map<string, string>();
        let last: string | undefined;
        const nBefore = bed.calls.length;
        const used: string[] = [];
        for (const { caller, tool, text, act } of steps) {
          if (act === 'approve' || act === 'deny') {
            const { status, body } = await bed.decide(caller, last ?? 'apr_none', { decision: act });
            if (status === 200 && act === 'approve')
              approved.set(body.id, `${caller.subject} ${body.tool} ${body.arguments.text}`);
            continue;
          }
          const given = act === 'call' || last === undefined ? {} : { approval_id: last };
          const { status, body } = await bed.execute(caller, tool, { arguments: { text }, ...given });
          if (status === 409 && body.approval_id !== undefined) last = body.approval_id;
          if (status !== 200) continue;
          used.push(last ?? '');
          if (approved.get(last ?? '') !== `${caller.subject} ${tool} ${text}`) return false;
        }
        return new Set(used).size === used.length && bed.calls.length - nBefore === used.length;
      }),
      { numRuns: process.env['SVC_TEST_LONG'] === '1' ? 300 : 25 },
    );
  });
}

onEachDatabase(testEdgeContract, { timeoutMs: 120_000 });
