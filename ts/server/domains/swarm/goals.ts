/** Goals as their owners use them: made, planned, approved, executed, paused, cancelled, and told what became of a doubtful step. */
import { hasRole, hasScope, type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { JobQueue } from '../../platform/jobs/index.ts';
import type { SystemScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { ownerOf } from '../conversations/index.ts';
import type { EdgeApi } from '../edge/index.ts';
import type { IdentityApi } from '../identity/index.ts';
import { scopeOfGoal } from './access-check.ts';
import { swarmError } from './errors.ts';
import {
  type Act,
  type Agent,
  type Budget,
  type Goal,
  type GoalState,
  type JournalledCall,
  type Team,
  transitionOf,
} from './goal.ts';
import { planHashOf, planOfOneStep } from './goal-planner.ts';
import type { GoalStore, Step } from './goal-store.ts';
import type { SwarmStore } from './swarm-store.ts';

interface GoalJob {
  goal_id: string;
  epoch: number;
}

interface GoalsDeps {
  readonly store: GoalStore;
  readonly swarms: SwarmStore;
  readonly delegations: IdentityApi['delegations'];
  /** Throws where the module that runs tools is off. */
  runs(): EdgeApi['runs'];
  readonly queue: JobQueue<GoalJob>;
  readonly budget: Budget;
  now(): number;
}

interface NewGoal {
  readonly goal: string;
  /** It is one step, which needs no plan. */
  readonly isPrompt?: boolean;
  readonly swarmId: string | undefined;
  readonly tools: readonly string[] | undefined;
  readonly budget: Partial<Budget>;
  readonly until: Goal['until'];
}

type Outcome = 'done' | 'repeat' | 'skip';

const MAX_LOOKED_AT = 200;

export class Goals {
  readonly #deps: GoalsDeps;

  constructor(deps: GoalsDeps) {
    this.#deps = deps;
  }

  async create(caller: Principal, asked: NewGoal): Promise<Goal> {
    const made = await this.draft(caller, asked);
    await this.#deps.store.insert(scopeOf(caller), made);
    await this.enqueue(made);
    return made;
  }

  /** The goal as it is made: nothing is written. Throws what it is refused with. */
  async draft(caller: Principal, { goal, isPrompt = false, swarmId, tools, budget, until }: NewGoal): Promise<Goal> {
    const { delegations, now } = this.#deps;
    const team = await this.#teamOf(caller, swarmId, tools);
    const used = { steps: 0, tokens: 0, seconds: 0, cost_micros: 0 };
    const createdAt = now();
    const plan = isPrompt ? planOfOneStep(goal, team) : [];
    return {
      tenant: caller.tenant,
      id: `goal_${newTimeOrderedId(createdAt)}`,
      owner: ownerOf(caller).subject,
      state: isPrompt ? 'running' : 'planning',
      goal,
      swarmId,
      team,
      until,
      budget: { ...this.#deps.budget, ...budget },
      used,
      plan,
      planHash: isPrompt ? planHashOf(plan) : '',
      delegation: delegations.of(caller, { tools: [...new Set(team.agents.flatMap((agent) => agent.tools))] }),
      artifacts: [],
      error: undefined,
      isTainted: false,
      refusals: 0,
      epoch: 1,
      createdAt,
      updatedAt: createdAt,
    };
  }

  /** Throws `goal_not_found`, alike for one that is not there and for one of somebody else. */
  async get(caller: Principal, id: string): Promise<{ goal: Goal; steps: Step[] }> {
    const { store } = this.#deps;
    const scope = scopeOf(caller);
    const goal = await store.find(scope, id);
    if (goal?.owner !== ownerOf(caller).subject)
      throw swarmError('goal_not_found', `There is no goal ${id.slice(0, 64)} of yours.`);
    return { goal, steps: await store.steps(scope, id) };
  }

  /** Newest first. */
  async list(caller: Principal, page: { after: string; limit: number }): Promise<Goal[]> {
    return await this.#deps.store.list(scopeOf(caller), { ...page, owner: ownerOf(caller).subject });
  }

  async plan(caller: Principal, id: string): Promise<void> {
    await this.#act(caller, id, 'plan', { isNewEpoch: true });
  }

  /** Finds what `get` does; where the policy wants a second person for plans, an administrator sees those that wait for one. */
  async look(caller: Principal, id: string): Promise<{ goal: Goal; steps: Step[] }> {
    const scope = scopeOf(caller);
    const goal = await this.#deps.store.find(scope, id);
    const isForeign = goal !== undefined && goal.owner !== ownerOf(caller).subject;
    if (!isForeign || goal.state !== 'planned' || !(await this.#isSecondPerson(caller))) return await this.get(caller, id);
    return { goal, steps: await this.#deps.store.steps(scope, id) };
  }

  /** Throws `plan_changed` where the plan has another hash, and `second_person_needed` where the owner may not do it. */
  async approve(caller: Principal, id: string, hash: string): Promise<{ goal: Goal; steps: Step[] }> {
    const { store, runs } = this.#deps;
    const { goal, steps } = await this.look(caller, id);
    if (goal.state === 'planned' && goal.planHash !== hash)
      throw swarmError('plan_changed', `The plan of ${id} is ${goal.planHash}.`, { extra: { hash: goal.planHash } });
    const by = ownerOf(caller).subject;
    if (goal.state === 'planned' && by === goal.owner && (await runs().needsSecondPerson(caller)))
      throw swarmError(
        'second_person_needed',
        'The policy of your tenant wants an administrator other than you to approve plans.',
      );
    const { from, to } = transitionOf('approve');
    const event = { type: 'approval', data: { plan: hash, by } } as const;
    // Somebody else let it pass: it goes on as far as its owner said.
    const goesOn = by !== goal.owner && goal.until === 'execute';
    const passed = { type: 'goal', data: { state: to } } as const;
    const written = goesOn
      ? { state: 'running' as const, isNewEpoch: true, events: [event, passed] }
      : { state: to, events: [event] };
    const approved = await store.write(scopeOf(caller), id, { states: from, epoch: goal.epoch }, written);
    if (approved === undefined) {
      const { goal: now } = await this.get(caller, id);
      throw wrongState(now, `${id} is ${now.state}; approve is for goals that are ${from.join(' or ')}.`);
    }
    if (goesOn) await this.enqueue(approved);
    return { goal: approved, steps };
  }

  async #isSecondPerson(caller: Principal): Promise<boolean> {
    const mayDecide = hasRole(caller, 'admin') && hasScope(caller, 'account:manage');
    return mayDecide && (await this.#deps.runs().needsSecondPerson(caller));
  }

  async execute(caller: Principal, id: string, budget: Partial<Budget>): Promise<void> {
    const { goal } = await this.get(caller, id);
    await this.#act(caller, id, 'execute', { isNewEpoch: true, budget: { ...goal.budget, ...budget } });
  }

  async pause(caller: Principal, id: string): Promise<void> {
    await this.#act(caller, id, 'pause', {});
  }

  async cancel(caller: Principal, id: string): Promise<void> {
    await this.#act(caller, id, 'cancel', {});
  }

  /** Says what became of a step that was interrupted within a call. Throws `step_not_found`, and `wrong_state` where it was not. */
  async resolve(caller: Principal, id: string, stepId: string, outcome: Outcome): Promise<void> {
    const { goal, steps } = await this.get(caller, id);
    const step = steps.find((each) => each.id === stepId);
    if (step === undefined) throw swarmError('step_not_found', `The goal ${id} has no step ${stepId.slice(0, 64)}.`);
    if (step.state !== 'unknown')
      throw wrongState(goal, `The step ${stepId} is ${step.state}; nobody has to say what became of it.`);
    const resolved = resolvedStep(step, outcome);
    const told = { type: 'step', data: { id: stepId, state: resolved.state, outcome } } as const;
    const written = { steps: [resolved], events: [told] };
    if (goal.state === 'waiting') await this.#resume(goal, written);
    else if (
      (await this.#deps.store.write(scopeOf(caller), id, { states: [goal.state], epoch: goal.epoch }, written)) === undefined
    )
      throw wrongState(goal, `The goal ${id} was changed meanwhile; try again.`);
  }

  /** Goals whose calls were decided about go on; those whose job was lost with its node get another. */
  async lookAfter(everyone: SystemScope): Promise<void> {
    const { store } = this.#deps;
    for (const goal of await store.listIn(everyone, 'waiting', MAX_LOOKED_AT)) await this.#resumeDecided(goal);
    for (const state of ['planning', 'running'] as const)
      for (const goal of await store.listIn(everyone, state, MAX_LOOKED_AT)) await this.enqueue(goal);
  }

  async #resumeDecided(goal: Goal): Promise<void> {
    const { store, delegations, runs } = this.#deps;
    const steps = await store.steps(scopeOfGoal(goal), goal.id);
    const waiting = steps.filter(({ state }) => state === 'waiting');
    if (waiting.length === 0) return;
    const caller = await delegations.principalOf(goal.delegation);
    // Without one, the step that goes on says so.
    const isDecided = async (step: Step): Promise<boolean> => {
      const approval = step.journal.calls.find(({ state }) => state === 'waiting')?.approval;
      return approval === undefined || caller === undefined || (await runs().isDecided(caller, approval));
    };
    const decided = [];
    for (const step of waiting) if (await isDecided(step)) decided.push({ ...step, state: 'running' as const });
    if (decided.length > 0) await this.#resume(goal, { steps: decided });
  }

  async #resume(goal: Goal, written: Parameters<GoalStore['write']>[3]): Promise<void> {
    const scope = scopeOfGoal(goal);
    const expected = { states: ['waiting'] as const, epoch: goal.epoch };
    const resumed = await this.#deps.store.write(scope, goal.id, expected, { ...written, state: 'running', isNewEpoch: true });
    if (resumed !== undefined) await this.enqueue(resumed);
  }

  async #act(caller: Principal, id: string, act: Act, written: Parameters<GoalStore['write']>[3]): Promise<void> {
    const scope = scopeOf(caller);
    const { goal } = await this.get(caller, id);
    const { from, to } = transitionOf(act);
    const moved = await this.#deps.store.write(scope, id, { states: from }, { ...written, state: to });
    if (moved === undefined) {
      const { goal: now } = await this.get(caller, id);
      throw wrongState(now, `${goal.id} is ${now.state}; ${act} is for goals that are ${from.join(' or ')}.`);
    }
    if (to === 'running' || to === 'planning') await this.enqueue(moved);
  }

  /** The goal gets a job, unless it has one. */
  async enqueue({ tenant, id, epoch, owner }: Goal): Promise<void> {
    await this.#deps.queue.enqueue(scopeOfGoal({ tenant }), { goal_id: id, epoch }, { key: `${id} ${epoch}`, owner });
  }

  /** The tools that a goal of the caller may use. Throws `invalid_request` for one that the caller may not use. */
  async toolsOf(caller: Principal, tools: readonly string[] | undefined): Promise<readonly string[]> {
    const offered = (await this.#deps.runs().offered(caller)).map(({ name }) => name);
    const unknown = tools?.find((tool) => !offered.includes(tool));
    if (unknown !== undefined)
      throw swarmError('invalid_request', `tools names ${unknown.slice(0, 100)}, which is no tool that you may use.`, {
        param: 'tools',
      });
    return tools ?? offered;
  }

  /** Throws `swarm_not_found`, and `invalid_request` for a tool that the caller may not use. */
  async #teamOf(caller: Principal, swarmId: string | undefined, tools: readonly string[] | undefined): Promise<Team> {
    const allowed = await this.toolsOf(caller, tools);
    if (swarmId === undefined) {
      const agent: Agent = { name: 'agent', instructions: '', tools: allowed, knowledge: [] };
      return { order: 'sequence', agents: [agent] };
    }
    const { team } = await this.#deps.swarms.get(scopeOf(caller), swarmId);
    return {
      ...team,
      agents: team.agents.map((agent) => ({ ...agent, tools: agent.tools.filter((tool) => allowed.includes(tool)) })),
    };
  }
}

function resolvedStep(step: Step, outcome: Outcome): Step {
  if (outcome === 'skip') return { ...step, state: 'skipped', result: step.result ?? 'The step was skipped.' };
  const { journal } = step;
  const calls = journal.calls.map((call): JournalledCall => {
    if (call.state !== 'running') return call;
    const { approval: _, ...rest } = call;
    return outcome === 'repeat' ? { ...rest, state: 'planned' } : { ...call, state: 'done' };
  });
  const done = outcome === 'done' ? journal.calls.filter(({ state }) => state === 'running') : [];
  const said = done.map(({ id }) => ({
    role: 'tool',
    tool_call_id: id,
    content: JSON.stringify({ result: 'It was done; what it answered was lost.' }),
  }));
  return { ...step, state: 'running', journal: { ...journal, calls, messages: [...journal.messages, ...said] } };
}

function wrongState({ state }: { state: GoalState }, sentence: string) {
  return swarmError('wrong_state', sentence, { extra: { state } });
}
