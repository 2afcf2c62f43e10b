/** A schedule: a goal or a prompt at times of a cron pattern, and what becomes of times that came while it ran, or while no node did. */
import { Cron } from 'croner';
import type { Delegation } from '../../identity/index.ts';
import { swarmError } from '../errors.ts';
import type { Budget, GoalError } from '../goal.ts';

/** A time that comes while the goal of another one is under way is left out, waits, or begins beside it. */
export const OVERLAPS = ['skip', 'queue', 'allow'] as const;
/** Times that came while no node ran are made up for: none, the last one, or all. */
export const CATCH_UPS = ['none', 'one', 'all'] as const;
export const FIRE_STATES = ['due', 'started', 'done', 'failed', 'cancelled', 'skipped'] as const;
export type FireState = (typeof FIRE_STATES)[number];

export interface Schedule {
  readonly tenant: string;
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly cron: string;
  /** A name of the IANA database. */
  readonly timezone: string;
  /** A goal is planned; a prompt is one step. */
  readonly kind: 'goal' | 'prompt';
  readonly text: string;
  readonly tools: readonly string[];
  readonly budget: Partial<Budget>;
  readonly overlap: (typeof OVERLAPS)[number];
  readonly catchUp: (typeof CATCH_UPS)[number];
  readonly isEnabled: boolean;
  readonly delegation: Delegation;
  /** Failures since the last success. */
  readonly failures: number;
  /** The last failure of those that it was paused after. */
  readonly paused: GoalError | undefined;
  /** Undefined: it is not enabled, or no such time comes. */
  readonly nextAt: number | undefined;
  /** The clock when `nextAt` was worked out: where that lies ahead, it was set back. */
  readonly plannedAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One time of a schedule, which comes once, whatever clocks and nodes do. */
export interface Fire {
  readonly tenant: string;
  readonly schedule: string;
  readonly dueAt: number;
  readonly state: FireState;
  readonly goal: string | undefined;
  readonly error: GoalError | undefined;
}

type Times = Pick<Schedule, 'cron' | 'timezone' | 'catchUp'>;

/** Nodes look every second: a time that is this old came while none ran. */
const LATE_MS = 60_000;
const MAX_CAUGHT_UP = 100;
/** Nothing comes more often than every minute, and no pattern is looked up in the surroundings of the node. */
const MODE = '5-part';

/** Throws `invalid_request` for what is no pattern of five fields, for an unknown time zone, and where no such time comes. */
export function requireTimes({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>, now: number): void {
  const refuse = (param: string, sentence: string) => swarmError('invalid_request', sentence, { param });
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw refuse('timezone', `timezone is ${JSON.stringify(timezone)}, which is none: write one as Europe/Berlin or UTC.`);
  }
  let next: number | undefined;
  try {
    next = nextTime({ cron, timezone }, now);
  } catch {
    throw refuse('cron', `cron is ${JSON.stringify(cron)}: write minute, hour, day, month and weekday, as in 0 9 * * 1-5.`);
  }
  if (next === undefined) throw refuse('cron', `cron is ${JSON.stringify(cron)}, and no such time comes.`);
}

/** The first time behind `after`; undefined: none comes. */
export function nextTime({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>, after: number): number | undefined {
  return cronOf(cron, timezone).nextRun(new Date(after))?.getTime();
}

/** The times since `from` that are to come now, oldest first: at most the last hundred. */
export function timesDue({ cron, timezone, catchUp }: Times, from: number, now: number): number[] {
  const nMost = catchUp === 'all' ? MAX_CAUGHT_UP : 1;
  // The reference itself is none of the runs before it.
  const runs = cronOf(cron, timezone).previousRuns(nMost, new Date(now + 1));
  const times = runs.map((date) => date.getTime()).filter((time) => time >= from);
  return (catchUp === 'none' ? times.filter((time) => now - time < LATE_MS) : times).reverse();
}

function cronOf(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, paused: true, mode: MODE });
}
