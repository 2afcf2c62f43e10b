/** A goal: what is to be reached, the plan for it, what it may use, and the states that it goes through. */
import type { Delegation } from '../identity/index.ts';

export const GOAL_STATES = [
  'planning',
  'planned',
  'approved',
  'running',
  'waiting',
  'paused',
  'done',
  'failed',
  'stopped',
  'cancelled',
] as const;
export type GoalState = (typeof GOAL_STATES)[number];

export const ORDERS = ['sequence', 'parallel', 'supervisor'] as const;
type Order = (typeof ORDERS)[number];

export interface Agent {
  readonly name: string;
  readonly instructions: string;
  readonly model?: string | undefined;
  readonly tools: readonly string[];
  readonly knowledge: readonly string[];
}

export interface Team {
  readonly order: Order;
  readonly agents: readonly Agent[];
}

/** The limits of a goal; the settings have those that it does not say. */
export interface Budget {
  readonly steps: number;
  readonly tokens: number;
  readonly seconds: number;
  /** Millionths that providers bill; 0: no limit. */
  readonly cost_micros: number;
}

/** Tokens are counted before a request with what it may come to, so that a kill leaves them ahead and never behind. */
export type Used = { -readonly [Member in keyof Budget]: number };

export interface PlannedStep {
  readonly id: string;
  readonly agent: string;
  readonly instruction: string;
  /** The tools that it calls without asking beyond the policy; others of the agent ask. */
  readonly tools: readonly string[];
  /** Ids of steps that must be done before. */
  readonly needs: readonly string[];
}

/** `unknown`: it was interrupted within a call that must not be made twice, and a person says what became of it. */
export type StepState = 'pending' | 'running' | 'waiting' | 'done' | 'failed' | 'unknown' | 'skipped';

/** `held`: the tokens that the request which runs may come to, counted already. */
export interface Journal {
  messages: readonly object[];
  calls: JournalledCall[];
  rounds: number;
  held: number;
}

export interface JournalledCall {
  readonly id: string;
  /** `area.action`. */
  readonly tool: string;
  readonly arguments: unknown;
  /** `running` is written before the call is made, and its result after. */
  state: 'planned' | 'running' | 'waiting' | 'done' | 'denied' | 'failed';
  approval?: string;
  /** The message for the model. */
  result?: unknown;
}

export interface GoalError {
  readonly error: string;
  readonly detail: string;
}

export interface Goal {
  readonly tenant: string;
  readonly id: string;
  readonly owner: string;
  readonly state: GoalState;
  readonly goal: string;
  readonly swarmId: string | undefined;
  readonly team: Team;
  readonly until: 'plan' | 'approve' | 'execute';
  readonly budget: Budget;
  readonly used: Used;
  readonly plan: readonly PlannedStep[];
  /** Empty: there is no plan yet. */
  readonly planHash: string;
  readonly delegation: Delegation;
  readonly artifacts: readonly string[];
  readonly error: GoalError | undefined;
  /** Text of others came into it. */
  readonly isTainted: boolean;
  /** Requests that a busy model put off since it answered last. */
  readonly refusals: number;
  /** Counts the times that it was set to work: whoever has an older number writes nothing any more. */
  readonly epoch: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type Act = 'plan' | 'approve' | 'execute' | 'pause' | 'cancel';

/** The acts of a person, the states in which they are possible, and where they lead. */
const ACTS: Readonly<Record<Act, { readonly from: readonly GoalState[]; readonly to: GoalState }>> = {
  plan: { from: ['planned', 'approved'], to: 'planning' },
  approve: { from: ['planned'], to: 'approved' },
  execute: { from: ['approved', 'paused', 'stopped'], to: 'running' },
  pause: { from: ['running', 'waiting'], to: 'paused' },
  cancel: { from: ['planning', 'planned', 'approved', 'running', 'waiting', 'paused', 'stopped'], to: 'cancelled' },
};

export function transitionOf(act: Act) {
  return ACTS[act];
}

/** Returns the first limit that is spent; undefined: none is. */
export function spentLimit(budget: Budget, used: Used): keyof Budget | undefined {
  if (used.steps > budget.steps) return 'steps';
  if (used.tokens >= budget.tokens) return 'tokens';
  if (used.seconds >= budget.seconds) return 'seconds';
  return budget.cost_micros > 0 && used.cost_micros >= budget.cost_micros ? 'cost_micros' : undefined;
}

/** The steps that may begin: every step that they need is over. */
export function readySteps(plan: readonly PlannedStep[], states: ReadonlyMap<string, StepState>): PlannedStep[] {
  const isOver = (id: string): boolean => states.get(id) === 'done' || states.get(id) === 'skipped';
  return plan.filter(({ id, needs }) => {
    const state = states.get(id);
    return (state === 'pending' || state === 'running') && needs.every(isOver);
  });
}
