/**
 * Sets goals to work: makes their plans, and takes their steps. Everything is written before it is done and after, so that whoever goes on behind a kill
 * knows what was done, and what nobody knows of. A goal that waits for a person holds no job.
 */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { hasScope, type Principal } from '../../platform/http/principal.ts';
import type { JobContext } from '../../platform/jobs/index.ts';
import type { Log } from '../../platform/log/log.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { KnownAddresses } from '../../platform/tools/known-addresses.ts';
import { type CompletionsApi, isPassing } from '../completions/index.ts';
import type { EdgeApi } from '../edge/index.ts';
import type { IdentityApi } from '../identity/index.ts';
import { swarmError } from './errors.ts';
import { type Goal, type GoalError, type GoalState, type PlannedStep, readySteps, spentLimit, type Used } from './goal.ts';
import { makePlan, planTokens } from './goal-planner.ts';
import type { GoalEvent, GoalStore, Step } from './goal-store.ts';
import { type StepUse, StepWork } from './step-work.ts';

interface GoalEngineDeps {
  readonly store: GoalStore;
  readonly delegations: IdentityApi['delegations'];
  /** Throws where the module that runs tools is off. */
  tools(): Pick<EdgeApi, 'executor' | 'runs'>;
  readonly chat: CompletionsApi['chat'];
  readonly log: Log;
}

/** The goal was paused, cancelled or set to work again: whoever worked at it writes nothing any more. */
class GoalMoved extends Error {
  override readonly name = 'GoalMoved';
}

/** Failures of the node itself that end a goal. */
export const MAX_ATTEMPTS = 3;
const CHAT_SCOPE = 'chat:use';
const WATCH_MS = 500;
const WORKING: readonly GoalState[] = ['planning', 'running'];
/** The result of a call is written also where the goal was paused or ended meanwhile. */
const RECORDING: readonly GoalState[] = ['running', 'paused', 'waiting', 'stopped', 'cancelled'];
/** A model that is busy is asked again so often, which takes a quarter of an hour. */
export const MAX_REFUSALS = 24;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;

type Job = Pick<JobContext<unknown, number>, 'scope' | 'signal' | 'saveStep' | 'attempt'>;

export class GoalEngine {
  readonly #deps: GoalEngineDeps;

  constructor(deps: GoalEngineDeps) {
    this.#deps = deps;
  }

  async run(job: Job, id: string, epoch: number): Promise<void> {
    const goal = await this.#deps.store.find(job.scope, id);
    if (goal === undefined || goal.epoch !== epoch || !WORKING.includes(goal.state)) return;
    const work = new GoalWork(this.#deps, job, goal);
    await work.run();
  }
}

/** One goal while this process works at it. */
class GoalWork {
  readonly #deps: GoalEngineDeps;
  readonly #job: Job;
  readonly #scope: TenantScope;
  readonly #addresses = new KnownAddresses();
  readonly #moved = new AbortController();
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #secondsBefore: number;
  #goal: Goal;
  #used: Used;
  #nFences = 0;
  #isTainted = false;

  constructor(deps: GoalEngineDeps, job: Job, goal: Goal) {
    this.#deps = deps;
    this.#job = job;
    this.#scope = job.scope;
    this.#goal = goal;
    this.#used = { ...goal.used };
    this.#secondsBefore = goal.used.seconds;
    this.#addresses.addText(goal.goal);
    this.#signal = AbortSignal.any([job.signal, this.#moved.signal]);
  }

  async run(): Promise<void> {
    const watch = setInterval(() => void this.#watch(), WATCH_MS).unref();
    try {
      if (this.#goal.state === 'planning') await this.#plan();
      else await this.#takeSteps();
    } catch (error) {
      // Whoever moved the goal says how it goes on; a job that was interrupted is run again.
      if (error instanceof GoalMoved || this.#moved.signal.aborted) return;
      if (isPassing(error) && !this.#job.signal.aborted) return await this.#putOff(error);
      const isFinal = error instanceof DomainError || this.#job.attempt >= MAX_ATTEMPTS;
      if (this.#job.signal.aborted || !isFinal) throw error;
      await this.#end('failed', failureOf(error));
    } finally {
      clearInterval(watch);
    }
  }

  async #watch(): Promise<void> {
    const now = await this.#deps.store.find(this.#scope, this.#goal.id).catch(() => undefined);
    if (now !== undefined && (now.epoch !== this.#goal.epoch || !WORKING.includes(now.state))) this.#moved.abort(new GoalMoved());
  }

  async #plan(): Promise<void> {
    const caller = await this.#caller();
    const held = planTokens(this.#goal);
    if (await this.#isSpent()) return;
    this.#used.tokens += held;
    await this.#begin({ used: this.#used });
    const made = await makePlan(this.#deps.chat, caller, this.#goal, this.#signal).catch((error: unknown) => {
      if (isPassing(error)) this.#used.tokens -= held;
      throw error;
    });
    const { plan, planHash, nTokens, costMicros } = made;
    this.#used.tokens += nTokens - held;
    this.#used.cost_micros += costMicros;
    const { until } = this.#goal;
    const waits = until === 'plan' || (await this.#deps.tools().runs.needsSecondPerson(caller));
    const state = waits ? 'planned' : until === 'approve' ? 'approved' : 'running';
    // All of it is one write: a goal that goes on by itself does not end between two states.
    const passed: GoalEvent[] = waits ? [] : [stateEvent('planned'), approvedBy(planHash, 'until')];
    const events = state === 'running' ? [...passed, stateEvent('approved')] : passed;
    await this.#begin({ used: this.#used, plan, planHash, refusals: 0, state, events });
    if (state === 'running') await this.#takeSteps();
  }

  async #takeSteps(): Promise<void> {
    for (;;) {
      const steps = await this.#deps.store.steps(this.#scope, this.#goal.id);
      const states = new Map(steps.map(({ id, state }) => [id, state]));
      const ready = readySteps(this.#goal.plan, states);
      if (ready.length === 0) return await this.#settle(steps);
      const work = ready.map((planned) => {
        const step = steps.find(({ id }) => id === planned.id) as Step;
        return new StepWork(this, planned, step, resultsOf(planned, steps)).run();
      });
      // Each step ends by itself before the next ones begin, whatever the others came to.
      const outcomes = await Promise.allSettled(work);
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      if (failures.length > 0) throw failures.find((failure) => !isPassing(failure)) ?? failures[0];
      if (await this.#isSpent()) return;
    }
  }

  /** No step can begin: the goal is done, failed, or waits for somebody. */
  async #settle(steps: readonly Step[]): Promise<void> {
    const failed = steps.find(({ state }) => state === 'failed');
    if (failed !== undefined)
      return await this.#end('failed', {
        error: 'step_failed',
        detail: `The step ${failed.id} failed: ${failed.result ?? ''}`.slice(0, 1_000),
      });
    if (steps.every(({ state }) => state === 'done' || state === 'skipped')) return await this.#end('done');
    await this.#begin({ used: this.#used, state: 'waiting' });
  }

  /** Throws, so that the job is run again when the model may take the request; behind the last time the goal fails with what it was refused with. */
  async #putOff(error: DomainError): Promise<void> {
    const refusals = this.#goal.refusals + 1;
    if (refusals > MAX_REFUSALS) return await this.#end('failed', failureOf(error));
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(error.retryAfterMs ?? 0, FIRST_WAIT_MS * 2 ** (refusals - 1)));
    const data = { state: this.#goal.state, waits_for: error.code, wait_ms: waitMs };
    await this.#begin({ used: this.#usedNow(), refusals, events: [{ type: 'goal', data }] });
    throw new DomainError(error.code, error.sentence, { retryAfterMs: waitMs });
  }

  async #end(state: 'done' | 'failed', error?: GoalError): Promise<void> {
    const { store } = this.#deps;
    const written = { state, used: this.#usedNow(), ...(error !== undefined && { error }) };
    await store.write(this.#scope, this.#goal.id, { states: WORKING, epoch: this.#goal.epoch }, written);
  }

  /** Ends the work where a limit is spent: it may be raised. */
  async #isSpent(): Promise<boolean> {
    const spent = spentLimit(this.#goal.budget, this.#usedNow());
    if (spent === undefined) return false;
    await this.#begin({ used: this.#used, state: 'stopped', events: [{ type: 'budget', data: { spent, used: this.#used } }] });
    return true;
  }

  #usedNow(): Used {
    this.#used.seconds = this.#secondsBefore + Math.round((performance.now() - this.#startedAt) / 1000);
    return this.#used;
  }

  /** The principal of the delegation as it is now. */
  async #caller(): Promise<Principal> {
    const caller = await this.#deps.delegations.principalOf(this.#goal.delegation);
    if (caller === undefined)
      throw swarmError('delegation_over', 'The account or the credential that the goal was made with is there no more.');
    if (caller.kind !== 'anonymous' && !hasScope(caller, CHAT_SCOPE))
      throw swarmError('insufficient_scope', `The credential lacks the scope ${CHAT_SCOPE}, which a goal needs.`);
    return caller;
  }

  /** Is called before something is done: throws where the goal moved, or another node has the job. */
  async #begin(written: Parameters<GoalStore['write']>[3]): Promise<void> {
    const { id, epoch } = this.#goal;
    const goal = await this.#deps.store.write(this.#scope, id, { states: WORKING, epoch }, written);
    if (goal === undefined) throw new GoalMoved();
    this.#goal = goal;
    this.#nFences += 1;
    await this.#job.saveStep(this.#nFences);
  }

  // What the steps of the goal use.

  get goal(): Goal {
    return this.#goal;
  }

  get deps(): GoalEngineDeps {
    return this.#deps;
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  get addresses(): KnownAddresses {
    return this.#addresses;
  }

  caller(): Promise<Principal> {
    return this.#caller();
  }

  get isSpent(): boolean {
    return spentLimit(this.#goal.budget, this.#usedNow()) !== undefined;
  }

  /** Written before the step does it. */
  async begin(step: Step, { tokens = 0, steps = 0, isTainted = false, events = [] }: StepUse = {}): Promise<void> {
    this.#used.tokens += tokens;
    this.#used.steps += steps;
    await this.#begin({ steps: [step], used: this.#usedNow(), events, ...(isTainted && { isTainted }) });
  }

  /** Text of others comes into the goal with what is recorded next. */
  taint(): void {
    this.#isTainted = true;
  }

  /** Written after it was done, whatever became of the goal meanwhile. */
  async record(step: Step, use: StepUse = {}): Promise<void> {
    const { tokens = 0, costMicros = 0, isAnswered = false, artifacts = [], events = [] } = use;
    this.#used.tokens += tokens;
    this.#used.cost_micros += costMicros;
    const all = [...new Set([...this.#goal.artifacts, ...artifacts])];
    const changes = { ...(isAnswered && { refusals: 0 }), ...(this.#isTainted && { isTainted: true }) };
    const written = { steps: [step], used: this.#usedNow(), artifacts: all, events, ...changes };
    const { id, epoch } = this.#goal;
    const goal = await this.#deps.store.write(this.#scope, id, { states: RECORDING, epoch }, written);
    if (goal === undefined) throw new GoalMoved();
    this.#goal = goal;
  }
}

function failureOf(error: unknown): GoalError {
  if (error instanceof DomainError) return { error: error.code, detail: error.message };
  return { error: 'internal', detail: 'The goal failed unexpectedly; the log of the node says why.' };
}

function stateEvent(state: GoalState): GoalEvent {
  return { type: 'goal', data: { state } };
}

function approvedBy(hash: string, by: string): GoalEvent {
  return { type: 'approval', data: { plan: hash, by } };
}

function resultsOf({ needs }: PlannedStep, steps: readonly Step[]): string {
  return steps
    .filter(({ id, result }) => needs.includes(id) && result !== undefined)
    .map(({ id, result }) => `${id}: ${result}`)
    .join('\n\n');
}
