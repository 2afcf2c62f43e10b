/** Swarms, and goals with what happens to them. */
import { listOf, PageQuery, page, pageRead } from '../../platform/http/page.ts';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { ownerOf } from '../conversations/index.ts';
import { swarmErrors } from './errors.ts';
import { GoalEvents } from './goal-events.ts';
import type { GoalStore } from './goal-store.ts';
import type { Goals } from './goals.ts';
import {
  ApprovePlan,
  budgetOf,
  ChangeSwarm,
  ExecuteGoal,
  GoalEventShape,
  GoalShape,
  goalBody,
  Id,
  MakeGoal,
  MakeSwarm,
  ResolveStep,
  StepId,
  SwarmShape,
  swarmBody,
} from './schemas.ts';
import type { SwarmStore } from './swarm-store.ts';

interface SwarmRouteDeps {
  readonly swarms: SwarmStore;
  readonly goals: Goals;
  readonly store: GoalStore;
}

const SWARMS = '/api/v1/swarm/swarms';
const GOALS = '/api/v1/swarm/goals';

const { get, post } = routes({
  tag: 'Goals',
  auth: 'viewer',
  scope: 'goals:use',
  maxBody: 1024 * 1024,
  errors: swarmErrors,
});
const made = routes({ tag: 'Goals', auth: 'developer', scope: 'goals:use', maxBody: 1024 * 1024, errors: swarmErrors });

export function swarmRoutes(deps: SwarmRouteDeps): Route[] {
  return [...swarmsRoutes(deps), ...goalRoutes(deps), ...actRoutes(deps), eventsRoute(deps)];
}

function swarmsRoutes({ swarms }: SwarmRouteDeps): Route[] {
  return [
    get(SWARMS, {
      summary: 'The swarms of the tenant',
      query: PageQuery,
      answer: listOf(SwarmShape),
      handle: async ({ caller, query }) => page(await swarms.list(scopeOf(caller), pageRead(query)), query.limit, swarmBody),
    }),
    made.post(SWARMS, {
      summary: 'Make a swarm: agents who work in an order',
      body: MakeSwarm,
      bodyTexts: 'free',
      answer: SwarmShape,
      status: 201,
      handle: async ({ caller, body: { name, order, agents } }) =>
        swarmBody(await swarms.add(scopeOf(caller), ownerOf(caller).subject, name, { order, agents })),
    }),
    get(`${SWARMS}/{id}`, {
      summary: 'One swarm',
      params: Id,
      answer: SwarmShape,
      errors: ['swarm_not_found'],
      handle: async ({ caller, params }) => swarmBody(await swarms.get(scopeOf(caller), params.id)),
    }),
    made.patch(`${SWARMS}/{id}`, {
      summary: 'Change a swarm; goals keep the one that they were made with',
      params: Id,
      body: ChangeSwarm,
      bodyTexts: 'free',
      answer: SwarmShape,
      errors: ['swarm_not_found'],
      handle: async ({ caller, params, body: { name, order, agents } }) => {
        const { team } = await swarms.get(scopeOf(caller), params.id);
        const changed = { order: order ?? team.order, agents: agents ?? team.agents };
        return swarmBody(await swarms.update(scopeOf(caller), params.id, { name, team: changed }));
      },
    }),
    made.del(`${SWARMS}/{id}`, {
      summary: 'Remove a swarm',
      params: Id,
      errors: ['swarm_not_found'],
      handle: async ({ caller, params }) => {
        await swarms.remove(scopeOf(caller), params.id);
      },
    }),
  ];
}

function goalRoutes(deps: SwarmRouteDeps): Route[] {
  const { goals } = deps;
  return [
    get(GOALS, {
      summary: 'Your goals, newest first; each as it is alone',
      query: PageQuery,
      answer: listOf(GoalShape),
      handle: async ({ caller, query }) =>
        page(await goals.list(caller, pageRead(query)), query.limit, (goal) => goalBody(goal, [])),
    }),
    post(GOALS, {
      summary: 'Set a goal',
      description:
        'A model writes the plan: steps, each done by an agent that may call the tools which the step lists. `until` says how far it goes by itself. The goal ' +
        'works with the rights that you have then, and no others; calls that ask wait for an approval for a day.',
      body: MakeGoal,
      bodyTexts: 'free',
      answer: GoalShape,
      status: 201,
      errors: ['invalid_request', 'swarm_not_found', 'forbidden', 'insufficient_scope'],
      handle: async ({ caller, body: { goal, swarm_id: swarmId, tools, budget, until = 'plan' } }) =>
        goalBody(await goals.create(caller, { goal, swarmId, tools, budget: budgetOf(budget), until }), []),
    }),
    get(`${GOALS}/{id}`, {
      summary: 'One goal with its plan',
      params: Id,
      answer: GoalShape,
      errors: ['goal_not_found'],
      handle: async ({ caller, params }) => {
        const { goal, steps } = await goals.look(caller, params.id);
        return goalBody(goal, steps);
      },
    }),
  ];
}

function actRoutes(deps: SwarmRouteDeps): Route[] {
  const { goals } = deps;
  const act = (name: 'plan' | 'pause' | 'cancel', summary: string): Route =>
    post(`${GOALS}/{id}/${name}`, {
      summary,
      params: Id,
      answer: GoalShape,
      errors: ['goal_not_found', 'wrong_state'],
      handle: async ({ caller, params }) => {
        await goals[name](caller, params.id);
        return await shown(deps, caller, params.id);
      },
    });
  return [
    act('plan', 'Have the plan of a goal made again'),
    act('pause', 'Pause a goal; what runs ends, and nothing more begins'),
    act('cancel', 'Cancel a goal'),
    post(`${GOALS}/{id}/approve`, {
      summary: 'Approve the plan of a goal, by its hash',
      params: Id,
      body: ApprovePlan,
      answer: GoalShape,
      description:
        'Where the policy of the tenant wants a second person for plans, an administrator other than the owner does it.',
      errors: ['goal_not_found', 'wrong_state', 'plan_changed', 'second_person_needed'],
      handle: async ({ caller, params, body }) => {
        const { goal, steps } = await goals.approve(caller, params.id, body.hash);
        return goalBody(goal, steps);
      },
    }),
    post(`${GOALS}/{id}/execute`, {
      summary: 'Have an approved, paused or stopped goal go on',
      description: 'A goal that is `stopped` has spent its budget; `budget` raises it.',
      params: Id,
      body: ExecuteGoal,
      answer: GoalShape,
      errors: ['goal_not_found', 'wrong_state'],
      handle: async ({ caller, params, body }) => {
        await goals.execute(caller, params.id, budgetOf(body.budget));
        return await shown(deps, caller, params.id);
      },
    }),
    post(`${GOALS}/{id}/steps/{step}/resolve`, {
      summary: 'Say what became of a step that was interrupted within a call',
      params: StepId,
      body: ResolveStep,
      answer: GoalShape,
      errors: ['goal_not_found', 'step_not_found', 'wrong_state'],
      handle: async ({ caller, params: { id, step }, body }) => {
        await goals.resolve(caller, id, step, body.outcome);
        return await shown(deps, caller, id);
      },
    }),
  ];
}

function eventsRoute({ goals, store }: SwarmRouteDeps): Route {
  return get(`${GOALS}/{id}/events`, {
    summary: 'Follow a goal',
    description:
      'Events: `goal` and `step` with a state, `tool` for a call, `approval` for one that waits, `text` of an agent, `budget` that is spent, and `end`, behind ' +
      'which the stream ends. Each has an id; with Last-Event-ID the stream goes on behind it.',
    params: Id,
    responses: { 200: GoalEventShape },
    stream: GoalEventShape,
    errors: ['goal_not_found'],
    handle: async ({ caller, params, headers, signal }) => {
      const { goal } = await goals.get(caller, params.id);
      const after = Number(/^\d{1,15}$/.exec(headers.get('last-event-id') ?? '')?.[0] ?? 0);
      const events = new GoalEvents({ store, scope: scopeOf(caller), goal: goal.id, after, signal });
      return { kind: 'events', headers: {}, start: (stream) => void events.send(stream) };
    },
  });
}

async function shown({ goals }: SwarmRouteDeps, caller: Principal, id: string) {
  const { goal, steps } = await goals.get(caller, id);
  return goalBody(goal, steps);
}
