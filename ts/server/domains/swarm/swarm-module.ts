/** Wires the swarm module. */
import Type from 'typebox';
import type { Belongings } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { completions } from '../completions/index.ts';
import { edge } from '../edge/index.ts';
import { identity } from '../identity/index.ts';
import { everyTenant } from './access-check.ts';
import { GoalEngine, MAX_ATTEMPTS } from './goal-engine.ts';
import { GoalStore } from './goal-store.ts';
import { Goals } from './goals.ts';
import { swarmRoutes } from './routes.ts';
import { FireStore } from './schedules/fire-store.ts';
import { scheduleRoutes } from './schedules/schedule-routes.ts';
import { ScheduleRunner } from './schedules/schedule-runner.ts';
import { ScheduleStore } from './schedules/schedule-store.ts';
import { Schedules } from './schedules/schedules.ts';
import type { swarmSettings } from './settings.ts';
import { SwarmStore } from './swarm-store.ts';
import type { SwarmStorage, SwarmTables } from './tables.ts';

const LOOK_MS = 1_000;

export function createSwarm(context: ModuleContext<typeof swarmSettings>): Module<undefined> {
  const { settings, log, jobs, events } = context;
  const { delegations } = context.use(identity);
  const { chat } = context.use(completions);
  const tools = context.useOptional(edge);
  const storage = context.storage.access<SwarmTables>();
  const now = (): number => Date.now();
  const store = new GoalStore(storage, events, now);
  const swarms = new SwarmStore(storage, now);
  const engine = new GoalEngine({ store, delegations, tools: () => tools.api, chat, log });
  const queue = jobs.define({
    name: 'swarm.goal',
    input: Type.Object({ goal_id: Type.String(), epoch: Type.Integer() }),
    step: Type.Integer(),
    maxAttempts: MAX_ATTEMPTS,
    countsAttemptsFromStep: true,
    run: async (job) => await engine.run(job, job.input.goal_id, job.input.epoch),
  });
  const goals = new Goals({
    store,
    swarms,
    delegations,
    runs: () => tools.api.runs,
    queue,
    budget: {
      steps: settings['goals.steps'],
      tokens: settings['goals.tokens'],
      seconds: settings['goals.seconds'],
      cost_micros: settings['goals.cost_micros'],
    },
    now,
  });
  const timed = {
    store: new ScheduleStore(storage, now),
    fires: new FireStore(storage, store, events, now),
    goals,
    delegations,
    now,
  };
  const schedules = new Schedules(timed);
  const runner = new ScheduleRunner({ ...timed, log });
  const looking = new Repeater({
    intervalMs: LOOK_MS,
    run: () => goals.lookAfter(everyTenant()),
    onError: (error) => log.warn('goals that wait could not be looked after', { error: String(error) }),
  });
  const timing = new Repeater({
    intervalMs: LOOK_MS,
    run: () => runner.look(everyTenant()),
    onError: (error) => log.warn('schedules could not be looked after', { error: String(error) }),
  });
  return {
    api: undefined,
    routes: tools.guard([...swarmRoutes({ swarms, goals, store }), ...scheduleRoutes(schedules)]),
    belongings: new SwarmBelongings(storage),
    start: async () => {
      queue.start();
      looking.start();
      timing.start();
    },
    stop: async () => {
      await Promise.all([looking.stop(), timing.stop()]);
      await queue.stop();
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

/** Swarms, goals and schedules of tenants that are deleted, and of accounts their own. */
class SwarmBelongings implements Belongings {
  readonly #storage: SwarmStorage;

  constructor(storage: SwarmStorage) {
    this.#storage = storage;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['swarm_fires', 'swarm_schedules', 'swarm_events', 'swarm_steps', 'swarm_goals', 'swarm_swarms'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant),
      ),
    );
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    const owner = `user:${accountId}`;
    await this.#storage.write(everyone, async (tx) => {
      const schedules = tx.selectFrom('swarm_schedules').select('id').where('owner', '=', owner);
      await tx.deleteFrom('swarm_fires').where('schedule', 'in', schedules).execute();
      await tx.deleteFrom('swarm_schedules').where('owner', '=', owner).execute();
      const goals = tx.selectFrom('swarm_goals').select('id').where('owner', '=', owner);
      await tx.deleteFrom('swarm_events').where('goal', 'in', goals).execute();
      await tx.deleteFrom('swarm_steps').where('goal', 'in', goals).execute();
      await tx.deleteFrom('swarm_goals').where('owner', '=', owner).execute();
    });
  }
}
