/** Goals on both databases: planned, approved, executed, waiting, stopped, and gone on with behind a kill. */
import type { Test } from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { callerOf } from '../edge/test-support/edge-bed.ts';
import { MAX_REFUSALS } from './goal-engine.ts';
import type { SwarmTables } from './tables.ts';
import { ann, bob, calling, eve, openGoals, plan, type Said, type Script } from './test-support/goal-bed.ts';

const admin = callerOf('usr_admin', 'admin');

function testGoals(t: Test, newDatabase: NewDatabase): void {
  t.test('a goal is planned, approved by its hash and executed, and tells of it', async (t) => {
    const script: Script = {
      plan: plan({ instruction: 'look', tools: ['test.read'] }, { instruction: 'tell', needs: [1] }),
      say: (instruction, results) =>
        instruction === 'look' && results.length === 0 ? calling('test_read', 'a') : { content: `${instruction} is done` },
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id, state } = await bed.make(ann);
    t.equal(state, 'planning');
    const planned = await bed.until(ann, id, 'planned');
    t.match(planned.plan, {
      hash: /^[0-9a-f]{64}$/,
      steps: [
        { id: 's1', tools: ['test.read'], state: 'pending' },
        { id: 's2', needs: ['s1'] },
      ],
    });
    t.match(await bed.ask(ann, 'POST', `/${id}/execute`, {}), { status: 409, body: { error: 'wrong_state', state: 'planned' } });
    t.match(await bed.ask(ann, 'POST', `/${id}/approve`, { hash: 'f'.repeat(64) }), {
      status: 409,
      body: { error: 'plan_changed' },
    });
    t.match(await bed.ask(ann, 'POST', `/${id}/approve`, { hash: planned.plan.hash }), {
      status: 200,
      body: { state: 'approved' },
    });
    t.equal((await bed.ask(ann, 'POST', `/${id}/execute`, {})).status, 200);
    const done = await bed.until(ann, id, 'done');
    t.match(done.plan.steps, [
      { state: 'done', result: 'look is done' },
      { state: 'done', result: 'tell is done' },
    ]);
    t.strictSame({ steps: done.used.steps, tokens: done.used.tokens }, { steps: 2, tokens: 40 });
    t.match(bed.calls, [{ tool: 'test.read', call: { arguments: { text: 'a' } } }]);
    t.match(JSON.stringify(bed.bodies.at(-1)?.messages[0]), 's1: look is done');
    const events = (await bed.ask(ann, 'GET', `/${id}/events`)).text;
    t.match(events, /event: step.*event: tool.*event: text.*event: end/s);
    const outbox = await bed.storage
      .access<{ events: { type: string; payload: string } }>()
      .read(tenantScope('red'), (db) => db.selectFrom('events').selectAll().where('type', '=', 'goal.ended').execute());
    t.match(
      outbox.map(({ payload }) => JSON.parse(payload)),
      [{ id, state: 'done', error: null }],
    );
    for (const [as, path] of [
      [bob, `/${id}`],
      [eve, `/${id}`],
    ] as const) {
      const foreign = await bed.ask(as, 'GET', path);
      const unknown = await bed.ask(as, 'GET', '/goal_unknown');
      t.strictSame([foreign.status, foreign.text], [404, unknown.text.replaceAll('goal_unknown', id)]);
    }
  });

  t.test('a call that asks waits without a job, and goes on when it was decided about, once', async (t) => {
    const script: Script = {
      plan: plan({ instruction: 'write', tools: ['test.write'] }),
      say: (_, results) => (results.length === 0 ? calling('test_write', 'a') : { content: results.join() }),
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute' });
    await bed.until(ann, id, 'waiting');
    t.strictSame(bed.calls, []);
    const { data } = (await bed.api('GET', '/api/v1/security/approvals?state=pending', ann)).body;
    t.match(data, [{ tool: 'test.write', arguments: { text: 'a' } }]);
    await bed.decide(ann, data[0].id, { decision: 'approve' });
    t.match((await bed.until(ann, id, 'done')).plan.steps, [{ state: 'done', result: /did/ }]);
    t.equal(bed.calls.length, 1);
  });

  t.test('a denied call is told to the agent, who goes on', async (t) => {
    const script: Script = {
      plan: plan({ instruction: 'write', tools: ['test.write'] }),
      say: (_, results) => (results.length === 0 ? calling('test_write', 'a') : { content: results.join() }),
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute' });
    await bed.until(ann, id, 'waiting');
    const { data } = (await bed.api('GET', '/api/v1/security/approvals?state=pending', ann)).body;
    await bed.decide(ann, data[0].id, { decision: 'deny', reason: 'not today' });
    t.match((await bed.until(ann, id, 'done')).plan.steps, [{ result: /not today/ }]);
    t.strictSame(bed.calls, []);
  });

  t.test(
    'a call of a tool that the plan does not list asks, whatever the policy allows, and one of no agent is none',
    async (t) => {
      const script: Script = {
        plan: plan({ instruction: 'write', tools: ['test.read', 'test.destroy'] }),
        say: (_, results) =>
          results.length === 0
            ? calling('test_write', 'a')
            : results.length === 1
              ? calling('test_destroy', 'b')
              : { content: results.join() },
      };
      const bed = await openGoals(t, await newUrl(t, newDatabase), script);
      await bed.setPolicy(admin, { rules: [{ tools: ['test.*'], decision: 'allow' }] });
      const { id } = await bed.make(ann, { until: 'execute' });
      t.match(await bed.until(ann, id, 'waiting'), { plan: { steps: [{ tools: ['test.read'] }] } });
      t.strictSame(bed.calls, []);
      const { data } = (await bed.api('GET', '/api/v1/security/approvals?state=pending', ann)).body;
      t.match(data, [{ tool: 'test.write', asked_by: 'plan' }]);
      await bed.decide(ann, data[0].id, { decision: 'approve' });
      t.match((await bed.until(ann, id, 'done')).plan.steps, [{ result: /did.*tool_not_found/ }]);
      t.match(bed.calls, [{ tool: 'test.write' }]);
      t.equal(bed.calls.length, 1);
      t.match(await bed.ask(ann, 'POST', '', { goal: 'x', tools: ['test.nothing'] }), {
        status: 400,
        body: { error: 'invalid_request' },
      });
    },
  );

  t.test('a model that is busy is asked again, when it says, and its requests count nothing; for ever it is not', async (t) => {
    let nBusy = 0;
    const busy = <T>(answer: T): T => {
      nBusy += 1;
      if (nBusy % 2 === 1) throw new DomainError('queue_full', 'Too much work is waiting.', { retryAfterMs: 1 });
      return answer;
    };
    const script: Script = {
      plan: () => busy(plan({ instruction: 'one' }, { instruction: 'two' })),
      say: (instruction) => busy({ content: instruction }),
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute' });
    t.match(await bed.until(ann, id, 'done'), { used: { tokens: 30, steps: 2 } });
    t.match((await bed.ask(ann, 'GET', `/${id}/events`)).text, /"waits_for":"queue_full"/);
    const { id: other } = await bed.make(ann);
    const { plan: made } = await bed.until(ann, other, 'planned');
    await bed.ask(ann, 'POST', `/${other}/approve`, { hash: made.hash });
    await bed.storage
      .access<SwarmTables>()
      .writeUnit(tenantScope('red'), (db) => [
        db.updateTable('swarm_goals').set({ refusals: MAX_REFUSALS }).where('id', '=', other),
      ]);
    nBusy = 0;
    await bed.ask(ann, 'POST', `/${other}/execute`, {});
    await t.rejects(bed.until(ann, other, 'done'), /is failed.*queue_full/);
  });

  t.test('what providers bill is counted, and its limit stops a goal', async (t) => {
    const script: Script = {
      plan: plan({ instruction: 'one' }, { instruction: 'two', needs: [1] }),
      say: (instruction) => ({ content: instruction }),
      costMicros: 7,
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute', budget: { cost_micros: 14 } });
    t.match(await bed.until(ann, id, 'stopped'), {
      used: { cost_micros: 14 },
      plan: { steps: [{ state: 'done' }, { state: 'pending' }] },
    });
    await bed.ask(ann, 'POST', `/${id}/execute`, { budget: { cost_micros: 100 } });
    t.match(await bed.until(ann, id, 'done'), { used: { cost_micros: 21 } });
  });

  t.test('where the policy wants a second person for plans, an administrator other than the owner approves them', async (t) => {
    const script: Script = { plan: plan({ instruction: 'one' }), say: (instruction) => ({ content: instruction }) };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    await bed.setPolicy(admin, { plan_approval: 'second_person' });
    const { id } = await bed.make(ann, { until: 'execute' });
    const { plan: made } = await bed.until(ann, id, 'planned');
    const approve = (as: Principal, hash = made.hash) => bed.ask(as, 'POST', `/${id}/approve`, { hash });
    t.match(await approve(ann), { status: 403, body: { error: 'second_person_needed' } });
    const toolsAlone = callerOf('usr_admin', 'admin', { scopes: ['goals:use'] });
    for (const as of [bob, callerOf('usr_else', 'admin', { tenant: 'blue' }), toolsAlone])
      t.equal((await approve(as)).status, 404, `${as.subject} of ${as.tenant}`);
    t.match((await bed.ask(admin, 'GET', `/${id}`)).body, { state: 'planned', goal: 'Reach it.' });
    for (const act of ['cancel', 'pause', 'plan']) t.equal((await bed.ask(admin, 'POST', `/${id}/${act}`)).status, 404, act);
    t.match(await approve(admin, 'f'.repeat(64)), { status: 409, body: { error: 'plan_changed' } });
    t.match(await approve(admin), { status: 200, body: { state: 'running' } });
    await bed.until(ann, id, 'done');
    t.equal((await bed.ask(admin, 'GET', `/${id}`)).status, 404, 'the goal itself stays its owner’s');
    const own = (await bed.ask(admin, 'POST', '', { goal: 'Mine.', tools: [] })).body.id;
    const { plan: ofAdmin } = await bed.until(admin, own, 'planned');
    t.equal(
      (await bed.ask(admin, 'POST', `/${own}/approve`, { hash: ofAdmin.hash })).status,
      403,
      'nobody is a second person to themselves',
    );
  });

  t.test('a spent budget stops a goal, and a higher one lets it go on', async (t) => {
    const script: Script = {
      plan: plan({ instruction: 'one' }, { instruction: 'two', needs: [1] }),
      say: (instruction) => ({ content: instruction }),
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute', budget: { tokens: 15 } });
    t.match(await bed.until(ann, id, 'stopped'), {
      used: { tokens: 20 },
      plan: { steps: [{ state: 'done' }, { state: 'pending' }] },
    });
    t.equal((await bed.ask(ann, 'POST', `/${id}/execute`, { budget: { tokens: 100_000 } })).status, 200);
    t.match(await bed.until(ann, id, 'done'), {
      budget: { tokens: 100_000 },
      plan: { steps: [{ state: 'done' }, { state: 'done' }] },
    });
  });

  t.test('where nobody is behind the delegation any more, the next step does not run', async (t) => {
    const over = new Set<string>();
    const script: Script = {
      plan: plan({ instruction: 'one' }, { instruction: 'two', needs: [1] }),
      say: (instruction) => {
        over.add('usr_ann');
        return { content: instruction };
      },
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script, over);
    const { id } = await bed.make(ann, { until: 'execute' });
    t.match(await bed.until(ann, id, 'failed'), {
      error: { error: 'delegation_over' },
      plan: { steps: [{ state: 'done' }, { state: 'running' }] },
    });
  });

  t.test('a goal is paused, resumed, planned again and cancelled', async (t) => {
    const gate = Promise.withResolvers<Said>();
    const script: Script = { plan: plan({ instruction: 'one' }), say: () => gate.promise };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const { id } = await bed.make(ann, { until: 'execute' });
    await bed.until(ann, id, 'running');
    t.match(await bed.ask(ann, 'POST', `/${id}/pause`), { status: 200, body: { state: 'paused' } });
    t.match(await bed.ask(ann, 'POST', `/${id}/plan`), { status: 409, body: { error: 'wrong_state' } });
    gate.resolve({ content: 'done' });
    await bed.ask(ann, 'POST', `/${id}/execute`, {});
    await bed.until(ann, id, 'done');
    t.equal((await bed.ask(ann, 'POST', `/${id}/cancel`)).status, 409);
    const other = await bed.make(ann);
    const { plan: first } = await bed.until(ann, other.id, 'planned');
    t.match(await bed.ask(ann, 'POST', `/${other.id}/plan`), { body: { state: 'planning' } });
    t.equal((await bed.until(ann, other.id, 'planned')).plan.hash, first.hash);
    t.match(await bed.ask(ann, 'POST', `/${other.id}/cancel`), { body: { state: 'cancelled' } });
  });

  t.test(
    'a call that was begun and has no result is made again where it reads; else a person says what became of it',
    async (t) => {
      for (const [tool, outcome, calls] of [
        ['test.read', undefined, 1],
        ['test.write', 'done', 0],
        ['test.write', 'repeat', 1],
        ['test.write', 'skip', 0],
      ] as const) {
        const script: Script = {
          plan: plan({ instruction: 'act', tools: [tool] }),
          say: (_, results) => (results.length === 0 ? { content: 'first' } : { content: results.join() }),
        };
        const bed = await openGoals(t, await newUrl(t, newDatabase), script);
        await bed.setPolicy(admin, { rules: [{ tools: ['test.*'], decision: 'allow' }] });
        const { id } = await bed.make(ann);
        const { plan: made } = await bed.until(ann, id, 'planned');
        await bed.ask(ann, 'POST', `/${id}/approve`, { hash: made.hash });
        // As a kill within the call leaves it.
        const call = { id: 'c1', tool, arguments: { text: 'a' }, state: 'running' };
        const asked = {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'x', arguments: '{}' } }],
        };
        const journal = JSON.stringify({ messages: [asked], calls: [call], rounds: 1, held: 500 });
        await bed.storage
          .access<SwarmTables>()
          .writeUnit(tenantScope('red'), (db) => [
            db.updateTable('swarm_steps').set({ state: 'running', journal }).where('goal', '=', id),
          ]);
        await bed.ask(ann, 'POST', `/${id}/execute`, {});
        if (outcome !== undefined) {
          t.match(await bed.until(ann, id, 'waiting'), { plan: { steps: [{ state: 'unknown' }] } });
          t.strictSame(bed.calls, [], 'nothing is done twice');
          t.match(await bed.ask(ann, 'POST', `/${id}/steps/s9/resolve`, { outcome }), {
            status: 404,
            body: { error: 'step_not_found' },
          });
          t.equal((await bed.ask(ann, 'POST', `/${id}/steps/s1/resolve`, { outcome })).status, 200);
        }
        const done = await bed.until(ann, id, 'done');
        t.equal(bed.calls.length, calls, `${tool} ${outcome}`);
        t.equal(done.plan.steps[0].state, outcome === 'skip' ? 'skipped' : 'done');
        t.match(await bed.ask(ann, 'POST', `/${id}/steps/s1/resolve`, { outcome: 'done' }), {
          status: 409,
          body: { error: 'wrong_state' },
        });
        await bed.stop();
      }
    },
  );

  t.test('a goal whose node ended goes on at another, with the tokens counted ahead', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const never = new Promise<Said>(() => {});
    const before = await openGoals(t, databaseUrl, { plan: plan({ instruction: 'one' }), say: () => never });
    const { id } = await before.make(ann, { until: 'execute' });
    while (before.bodies.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    await before.stop();
    const after = await openGoals(t, databaseUrl, { plan: {}, say: () => ({ content: 'done' }) });
    const { used } = await after.until(ann, id, 'done');
    t.ok(used.tokens > 2_048, 'the request that was cut off counts with what it might have come to');
  });

  t.test('a swarm works in its order, and goals keep the one that they were made with', async (t) => {
    const script: Script = {
      plan: plan(
        { instruction: 'a', agent: 'first' },
        { instruction: 'b', agent: 'second' },
        { instruction: 'c', agent: 'second' },
      ),
      say: (instruction) => ({ content: instruction }),
    };
    const bed = await openGoals(t, await newUrl(t, newDatabase), script);
    const swarms = (as: Principal, method: string, path = '', body?: object) =>
      bed.api(method, `/api/v1/swarm/swarms${path}`, as, body);
    const agent = (name: string) => ({ name, instructions: `You are ${name}.`, tools: ['test.read'], knowledge: [] });
    const made = await swarms(ann, 'POST', '', { name: 'Team', order: 'sequence', agents: [agent('first'), agent('second')] });
    t.equal(made.status, 201);
    const { id: swarm_id } = made.body;
    const needs = async () => {
      const { id } = await bed.make(ann, { swarm_id });
      return (await bed.until(ann, id, 'planned')).plan.steps.map((step: { needs: string[] }) => step.needs.join());
    };
    t.strictSame(await needs(), ['', 's1', 's2']);
    await swarms(ann, 'PATCH', `/${swarm_id}`, { order: 'parallel' });
    t.strictSame(await needs(), ['', '', '']);
    await swarms(ann, 'PATCH', `/${swarm_id}`, { order: 'supervisor' });
    t.strictSame(await needs(), ['', '', 's1,s2']);
    t.match(await swarms(eve, 'GET', `/${swarm_id}`), { status: 404, body: { error: 'swarm_not_found' } });
    t.equal((await swarms(ann, 'DELETE', `/${swarm_id}`)).status, 204);
    t.match(await bed.ask(ann, 'POST', '', { goal: 'x', swarm_id }), { status: 404, body: { error: 'swarm_not_found' } });
  });
}

onEachDatabase(testGoals, { timeoutMs: 180_000 });
