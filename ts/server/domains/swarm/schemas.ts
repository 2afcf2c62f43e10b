/** Shapes of swarms and goals. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import { type Budget, GOAL_STATES, type Goal, ORDERS } from './goal.ts';
import type { Step } from './goal-store.ts';
import type { Swarm } from './swarm-store.ts';

const ToolName = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_.-]+$' });
export const Tools = Type.Array(ToolName, { maxItems: 64, description: 'Names of tools.' });
export const Time = Type.String({ format: 'date-time' });

const AgentShape = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    instructions: Type.String({ maxLength: 20_000 }),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: '\\S' })),
    tools: Tools,
    knowledge: Type.Array(Type.String({ minLength: 1, maxLength: 128, pattern: '\\S' }), {
      maxItems: 16,
      description: 'Knowledge bases that it is given passages of.',
    }),
  },
  { additionalProperties: false },
);
const Order = Type.Enum([...ORDERS], { description: 'One after the other, side by side, or under the first agent.' });
const Agents = Type.Array(AgentShape, { minItems: 1, maxItems: 16 });
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

export const MakeSwarm = named(
  'MakeSwarm',
  Type.Object({ name: Name, order: Order, agents: Agents }, { additionalProperties: false }),
);
export const ChangeSwarm = named(
  'ChangeSwarm',
  Type.Object(
    { name: Type.Optional(Name), order: Type.Optional(Order), agents: Type.Optional(Agents) },
    { additionalProperties: false },
  ),
);
export const SwarmShape = named(
  'Swarm',
  Type.Object({ id: Type.String(), name: Type.String(), order: Order, agents: Agents, created_at: Time, updated_at: Time }),
);

const Limit = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
const BudgetShape = Type.Object({ steps: Limit, tokens: Limit, seconds: Limit, cost_micros: Limit });
export const SetBudget = Type.Partial(BudgetShape, { additionalProperties: false });

export const Id = Type.Object({ id: Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }) });
export const StepId = Type.Object({
  id: Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
  step: Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
});

export const MakeGoal = named(
  'MakeGoal',
  Type.Object(
    {
      goal: Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' }),
      swarm_id: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' })),
      tools: Type.Optional(Tools),
      budget: Type.Optional(SetBudget),
      until: Type.Optional(
        Type.Enum(['plan', 'approve', 'execute'], { default: 'plan', description: 'How far it goes without being told to.' }),
      ),
    },
    { additionalProperties: false },
  ),
);
export const ApprovePlan = named(
  'ApprovePlan',
  Type.Object({ hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the plan.' }) }, { additionalProperties: false }),
);
export const ExecuteGoal = named(
  'ExecuteGoal',
  Type.Object({ budget: Type.Optional(SetBudget) }, { additionalProperties: false }),
);
export const ResolveStep = named(
  'ResolveStep',
  Type.Object(
    {
      outcome: Type.Enum(['done', 'repeat', 'skip'], {
        description: 'The call was made; it was not, and is made again; or the step is left out.',
      }),
    },
    { additionalProperties: false },
  ),
);

export const ErrorShape = Type.Object({ error: Type.String(), detail: Type.String() });
const StepShape = Type.Object({
  id: Type.String(),
  agent: Type.String(),
  instruction: Type.String(),
  tools: Type.Array(Type.String()),
  needs: Type.Array(Type.String()),
  state: Type.Enum(['pending', 'running', 'waiting', 'done', 'failed', 'unknown', 'skipped']),
  result: Type.Optional(Type.String()),
});
export const GoalShape = named(
  'Goal',
  Type.Object({
    id: Type.String(),
    goal: Type.String(),
    swarm_id: Type.Union([Type.String(), Type.Null()]),
    state: Type.Enum([...GOAL_STATES]),
    plan: Type.Object({ hash: Type.String({ description: 'Empty: there is none yet.' }), steps: Type.Array(StepShape) }),
    budget: BudgetShape,
    used: BudgetShape,
    artifacts: Type.Array(Type.String()),
    error: Type.Optional(ErrorShape),
    created_at: Time,
    updated_at: Time,
  }),
);
export const GoalEventShape = named('GoalEvent', Type.Object({}, { description: 'By the kind of the event.' }));

export function swarmBody({ id, name, team, createdAt, updatedAt }: Swarm): Static<typeof SwarmShape> {
  const agents = team.agents.map(({ model, tools, knowledge, ...agent }) => ({
    ...agent,
    ...(model !== undefined && { model }),
    tools: [...tools],
    knowledge: [...knowledge],
  }));
  return { id, name, order: team.order, agents, created_at: timeText(createdAt), updated_at: timeText(updatedAt) };
}

export function goalBody(goal: Goal, steps: readonly Step[]): Static<typeof GoalShape> {
  const { id, state, budget, used, error } = goal;
  const byId = new Map(steps.map((step) => [step.id, step]));
  const planned = goal.plan.map(({ tools, needs, ...step }) => {
    const { state: stepState = 'pending', result } = byId.get(step.id) ?? {};
    return { ...step, tools: [...tools], needs: [...needs], state: stepState, ...(result !== undefined && { result }) };
  });
  return {
    id,
    goal: goal.goal,
    swarm_id: goal.swarmId ?? null,
    state,
    plan: { hash: goal.planHash, steps: planned },
    budget,
    used,
    artifacts: [...goal.artifacts],
    ...(error !== undefined && { error }),
    created_at: timeText(goal.createdAt),
    updated_at: timeText(goal.updatedAt),
  };
}

/** The limits that a body names. */
export function budgetOf(given: { [Member in keyof Budget]?: number | undefined } | undefined): Partial<Budget> {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, limit]) => limit !== undefined));
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
