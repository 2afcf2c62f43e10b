/** Schedules on both databases: each time comes once on two nodes whose clocks move, and what becomes of those that meet another one. */
import type { Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import { Log } from '../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { createStorage, systemScope, tenantScope } from '../../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { callerOf } from '../../edge/test-support/edge-bed.ts';
import type { Goal, GoalState } from '../goal.ts';
import { GoalStore } from '../goal-store.ts';
import { type SwarmTables, swarmMigrations } from '../tables.ts';
import { ann, bob, eve, openGoals, plan } from '../test-support/goal-bed.ts';
import { FireStore } from './fire-store.ts';
import { nextTime } from './schedule.ts';
import { ScheduleRunner } from './schedule-runner.ts';
import { ScheduleStore } from './schedule-store.ts';
import { type GivenSchedule, Schedules } from './schedules.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const red = tenantScope('red');
const log = new Log({ level: 'error', format: 'json', sink: { write: () => {}, flush: () => {} } });

/** Nodes of one database, each with a clock of its own; their goals are rows that nobody works at. */
async function openNodes(t: Test, newDatabase: NewDatabase) {
  const module = { module: 'swarm', migrations: swarmMigrations };
  const storage = createStorage({ url: await newUrl(t, newDatabase), modules: [eventsMigrations, module] });
  await storage.open();
  t.teardown(() => storage.close());
  const events = new Events({ storage, log, metrics: new MetricsRegistry(), nodeId: () => 'node' });
  const access = storage.access<SwarmTables>();
  const delegations = { of: (caller: Principal) => caller, principalOf: async (kept: unknown) => kept } as never;
  let nGoals = 0;
  const node = (clock: { now: number }) => {
    const now = () => clock.now;
    const goalStore = new GoalStore(access, events, now);
    const store = new ScheduleStore(access, now);
    const fireStore = new FireStore(access, goalStore, events, now);
    const goals = {
      draft: async (_caller: Principal, { goal }: { goal: string }): Promise<Goal> => {
        nGoals += 1;
        return drafted(`goal_${nGoals}`, goal, now());
      },
      enqueue: async () => {},
      toolsOf: async () => [],
    };
    const deps = { store, fires: fireStore, goals, delegations, log, now };
    const runner = new ScheduleRunner(deps);
    return { clock, goals, goalStore, schedules: new Schedules(deps), look: () => runner.look(systemScope()) };
  };
  const rows = (table: 'swarm_fires' | 'swarm_goals') =>
    access.read(red, (db) => db.selectFrom(table).selectAll().execute()) as Promise<Record<string, unknown>[]>;
  const fires = async () =>
    ((await rows('swarm_fires')) as { due_at: number; state: string }[]).toSorted((a, b) => a.due_at - b.due_at);
  /** The goals that are under way end so. */
  const endGoals = async (state: GoalState, nMost = Number.POSITIVE_INFINITY) => {
    const open = (await rows('swarm_goals')).filter((goal) => goal['state'] === 'running').slice(0, nMost);
    for (const { id } of open)
      await access.writeUnit(red, (db) => [db.updateTable('swarm_goals').set({ state }).where('id', '=', String(id))]);
  };
  const outbox = () =>
    storage
      .access<{ events: { type: string; payload: string } }>()
      .read(red, (db) => db.selectFrom('events').selectAll().execute());
  return { node, fires, goals: () => rows('swarm_goals'), endGoals, outbox };
}

function drafted(id: string, goal: string, at: number): Goal {
  return {
    tenant: 'red',
    id,
    owner: 'user:usr_ann',
    state: 'running',
    goal,
    swarmId: undefined,
    team: { order: 'sequence', agents: [] },
    until: 'execute',
    budget: { steps: 1, tokens: 1, seconds: 1, cost_micros: 0 },
    used: { steps: 0, tokens: 0, seconds: 0, cost_micros: 0 },
    plan: [],
    planHash: '',
    delegation: {} as never,
    artifacts: [],
    error: undefined,
    isTainted: false,
    refusals: 0,
    epoch: 1,
    createdAt: at,
    updatedAt: at,
  };
}

const given = ({ cron = '0 * * * *', ...more }: Omit<GivenSchedule, 'name'> = {}) => ({
  prompt: 'Say it.',
  ...more,
  name: 'Made',
  cron,
});
const at = (text: string) => Date.parse(text);

function testSchedules(t: Test, newDatabase: NewDatabase): void {
  t.test('each time comes once on two nodes whose clocks move, over both changes of summer time', async (t) => {
    for (const [timezone, from] of [
      ['Europe/Berlin', '2026-03-28T20:00:00Z'],
      ['Europe/Berlin', '2026-10-24T20:00:00Z'],
      ['America/New_York', '2026-11-01T01:00:00Z'],
      ['Australia/Lord_Howe', '2026-10-03T10:00:00Z'],
    ] as const) {
      const { node, fires, goals } = await openNodes(t, newDatabase);
      const nodes = [node({ now: at(from) }), node({ now: at(from) + 700 })] as const;
      const crons = ['30 2 * * *', '15 1,2 * * *', '*/20 * * * *'];
      for (const cron of crons) await nodes[0].schedules.create(ann, given({ cron, timezone, catchUp: 'all', overlap: 'allow' }));
      let last = at(from);
      while (last < at(from) + 12 * HOUR_MS) {
        for (const { clock } of nodes) {
          const isSetBack = random.next() < 0.2;
          clock.now = Math.max(at(from), clock.now + (isSetBack ? -random.integer(2 * HOUR_MS) : random.integer(HOUR_MS)));
          last = Math.max(last, clock.now);
        }
        await Promise.all(nodes.map(({ look }) => look()));
      }
      for (const { clock } of nodes) clock.now = last;
      await Promise.all(nodes.map(({ look }) => look()));
      const expected = crons.flatMap((cron) => {
        const times = [];
        for (let time = nextTime({ cron, timezone }, at(from)); time !== undefined && time <= last; ) {
          times.push(time);
          time = nextTime({ cron, timezone }, time);
        }
        return times;
      });
      const came = (await fires()).map(({ due_at }) => due_at);
      t.strictSame(
        came,
        expected.toSorted((a, b) => a - b),
        `${timezone} from ${from}`,
      );
      t.equal((await goals()).length, expected.length, 'each has one goal');
    }
  });

  t.test(
    'a fixed time that a change of summer time leaves out comes right behind it, and one that it brings twice comes once',
    async (t) => {
      const times = (timezone: string, from: string, to: string) => {
        const all = [];
        for (let time = nextTime({ cron: '30 2 * * *', timezone }, at(from)); time !== undefined && time < at(to); ) {
          all.push(new Date(time).toISOString());
          time = nextTime({ cron: '30 2 * * *', timezone }, time);
        }
        return all;
      };
      t.strictSame(times('Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z'), ['2026-03-29T01:00:00.000Z']);
      t.strictSame(times('Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z'), ['2026-10-25T00:30:00.000Z']);
    },
  );

  t.test('a fire whose node is gone between its row and its start is started by another one, and by that alone', async (t) => {
    const { node, fires, goals } = await openNodes(t, newDatabase);
    const [gone, other] = [node({ now: at('2026-06-01T08:30:00Z') }), node({ now: at('2026-06-01T08:30:00Z') })];
    await gone.schedules.create(ann, given());
    const [begun, hangs] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { draft } = gone.goals;
    gone.goals.draft = async (...args) => {
      begun.resolve();
      await hangs.promise;
      return await draft(...args);
    };
    gone.clock.now = other.clock.now = at('2026-06-01T09:00:00.500Z');
    const looking = gone.look();
    await begun.promise;
    t.match(await fires(), [{ state: 'due', goal: null }]);
    await other.look();
    t.match(await fires(), [{ state: 'started', goal: 'goal_1' }]);
    hangs.resolve();
    await looking;
    t.match(await fires(), [{ state: 'started', goal: 'goal_1' }]);
    t.equal((await goals()).length, 1, 'whoever comes late starts nothing');
  });

  t.test('a time that comes while an earlier one is under way is left out, waits, or begins beside it', async (t) => {
    for (const [overlap, during, behind] of [
      ['skip', ['started', 'skipped', 'skipped'], ['done', 'skipped', 'skipped']],
      ['queue', ['started', 'due', 'due'], ['done', 'started', 'due']],
      ['allow', ['started', 'started', 'started'], ['done', 'started', 'started']],
    ] as const) {
      const { node, fires, endGoals } = await openNodes(t, newDatabase);
      const nodes = [node({ now: at('2026-06-01T08:30:00Z') }), node({ now: at('2026-06-01T08:30:00Z') })] as const;
      await nodes[0].schedules.create(ann, given({ overlap }));
      for (const hour of [9, 10, 11]) {
        for (const { clock } of nodes) clock.now = at('2026-06-01T00:00:01Z') + hour * HOUR_MS;
        await Promise.all(nodes.map(({ look }) => look()));
      }
      const states = async () => (await fires()).map(({ state }) => state);
      t.strictSame(await states(), during, overlap);
      await endGoals('done', 1);
      await Promise.all(nodes.map(({ look }) => look()));
      t.strictSame(await states(), behind, overlap);
    }
  });

  t.test('of times that came while no node ran, none, the last or all are made up for', async (t) => {
    for (const [catchUp, came] of [
      ['none', []],
      ['one', ['2026-06-01T11:00:00.000Z']],
      ['all', ['2026-06-01T09:00:00.000Z', '2026-06-01T10:00:00.000Z', '2026-06-01T11:00:00.000Z']],
    ] as const) {
      const { node, fires } = await openNodes(t, newDatabase);
      const { clock, schedules, look } = node({ now: at('2026-06-01T08:30:00Z') });
      await schedules.create(ann, given({ catchUp, overlap: 'allow' }));
      clock.now = at('2026-06-01T11:30:00Z');
      await look();
      t.strictSame(
        (await fires()).map(({ due_at }) => new Date(due_at).toISOString()),
        came,
        catchUp,
      );
      clock.now = at('2026-06-01T12:00:30Z');
      await look();
      t.equal((await fires()).length, came.length + 1, 'the next time comes as usual');
    }
  });

  t.test('behind five failures in a row a schedule is paused, and says so once; whoever enables it begins anew', async (t) => {
    const { node, fires, endGoals, outbox } = await openNodes(t, newDatabase);
    const nodes = [node({ now: at('2026-06-01T00:00:30Z') }), node({ now: at('2026-06-01T00:00:30Z') })] as const;
    const [{ schedules, goals }] = nodes;
    const { id } = await schedules.create(ann, given());
    const pass = async (end: GoalState) => {
      for (const { clock } of nodes) clock.now += HOUR_MS;
      await Promise.all(nodes.map(({ look }) => look()));
      await endGoals(end);
      await Promise.all(nodes.map(({ look }) => look()));
    };
    const shown = async () => (await schedules.list(ann, { after: '', limit: 10 }))[0]?.schedule;
    for (const end of ['failed', 'failed', 'stopped', 'cancelled', 'failed', 'done'] as const) await pass(end);
    t.match(await shown(), { failures: 0, isEnabled: true });
    for (const _ of [1, 2, 3, 4]) await pass('failed');
    t.match(await shown(), { failures: 4, isEnabled: true });
    const { draft } = goals;
    goals.draft = nodes[1].goals.draft = async () => {
      throw new DomainError('delegation_over', 'The account is gone.');
    };
    await pass('failed');
    t.match(await shown(), { failures: 5, isEnabled: false, paused: { error: 'delegation_over' }, nextAt: undefined });
    const nFires = (await fires()).length;
    await pass('failed');
    t.equal((await fires()).length, nFires, 'nothing comes any more');
    const told = (await outbox()).filter(({ type }) => type === 'schedule.paused');
    t.match(
      told.map(({ payload }) => JSON.parse(payload)),
      [{ id, failures: 5, error: 'delegation_over' }],
    );
    goals.draft = nodes[1].goals.draft = draft;
    await schedules.update(ann, id, { isEnabled: true });
    t.match(await shown(), { failures: 0, isEnabled: true, paused: undefined });
    await pass('done');
    t.equal((await fires()).length, nFires + 1);
  });

  t.test('a schedule over HTTP: made, listed, changed, run, and foreign ones are as unknown ones', async (t) => {
    const bed = await openGoals(t, await newUrl(t, newDatabase), {
      plan: plan(),
      say: (asked) => ({ content: `${asked} Done.` }),
    });
    const ask = (as: Principal, method: string, path = '', body?: object) =>
      bed.api(method, `/api/v1/agent/schedules${path}`, as, body);
    const body = { name: 'Digest', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', prompt: 'What is new?', tools: ['test.read'] };
    const made = await ask(ann, 'POST', '', body);
    t.match(
      [made.status, made.body],
      [201, { ...body, overlap: 'skip', catch_up: 'none', enabled: true, failures: 0, next_at: /T0[78]:00:00/ }],
    );
    const { id } = made.body;
    for (const [wrong, param] of [
      [{ cron: '* * * * * *' }, 'cron'],
      [{ cron: '0 0 31 2 *' }, 'cron'],
      [{ timezone: 'Mars/Base' }, 'timezone'],
      [{ goal: 'Both.' }, 'prompt'],
      [{ prompt: undefined }, 'goal'],
      [{ tools: ['test.nothing'] }, 'tools'],
    ] as const)
      t.match(
        await ask(ann, 'POST', '', { ...body, ...wrong }),
        { status: 400, body: { error: 'invalid_request', detail: new RegExp(param) } },
        param,
      );
    const run = await ask(ann, 'POST', `/${id}/run`);
    t.match([run.status, run.body], [201, { state: 'running', plan: { steps: [{ instruction: 'What is new?' }] } }]);
    t.match((await bed.until(ann, run.body.id, 'done')).plan.steps, [{ result: 'What is new? Done.' }]);
    t.equal(bed.bodies.length, 1, 'a prompt is not planned');
    // A minute that has passed since it was made.
    await ask(ann, 'PATCH', `/${id}`, { cron: '* * * * *', catch_up: 'one' });
    await bed.storage
      .access<SwarmTables>()
      .writeUnit(red, (db) => [db.updateTable('swarm_schedules').set({ next_at: Date.now() - MINUTE_MS })]);
    for (;;) {
      const [listed] = (await ask(ann, 'GET')).body.data;
      if (listed.last_fire.state === 'done' && bed.bodies.length === 2) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const [as, method] of [
      [bob, 'PATCH'],
      [eve, 'PATCH'],
      [bob, 'DELETE'],
    ] as const) {
      const [foreign, unknown] = [await ask(as, method, `/${id}`, {}), await ask(as, method, '/sch_unknown', {})];
      t.strictSame([foreign.status, foreign.text], [404, unknown.text.replaceAll('sch_unknown', id)]);
    }
    const narrow = callerOf('usr_ann', 'viewer', { scopes: ['goals:use'] });
    t.match(
      (await ask(narrow, 'PATCH', `/${id}`, { enabled: false })).body,
      { enabled: false, next_at: null },
      'to stop it takes no tools',
    );
    t.equal((await ask(narrow, 'PATCH', `/${id}`, { enabled: true })).status, 403);
    t.equal((await ask(callerOf('usr_ann', 'viewer', { scopes: ['tools:use'] }), 'GET')).status, 403);
    t.equal((await ask(ann, 'DELETE', `/${id}`)).status, 204);
    t.strictSame((await ask(ann, 'GET')).body.data, []);
  });
}

onEachDatabase(testSchedules, { timeoutMs: 180_000 });
