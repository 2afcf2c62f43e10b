/** A trial is data: what is asked of both servers, what is compared, and what must come out. */
import type { ServerSettings } from './contenders/contender.ts';
import type { Load } from './load/load.ts';

export interface Trial {
  name: string;
  /** One sentence: what is measured and why it matters. */
  summary: string;
  /** What is measured as ours; `svc` unless told. */
  ours?: ContenderName;
  /** Absent in a run with `--rival none`. */
  rival?: ContenderName;
  /** A bound that no server passes, measured in the same rounds: the same work without a server around it. */
  ceiling?: ContenderName;
  /** It takes so long that a run of the suite leaves it out. */
  onlyWhenNamed?: true;
  /** A random shape to use whatever model the suite runs on, where the model does not matter. */
  model?: 'tiny';
  /** Settings of the servers, where they differ from the suite's. */
  server?: Partial<ServerSettings>;
  /** When servers are started anew; `trial` unless told. A server that does not notice aborts would carry them into what follows. */
  fresh?: 'trial' | 'round' | 'phase';
  /** What is run, in this order. A phase's figures are named `phase.figure`. */
  phases: Readonly<Record<string, Phase>>;
  goals: readonly Goal[];
}

export type ContenderName =
  | 'svc'
  | 'svc-before'
  | 'svc-start'
  | 'svc-packaged-start'
  | 'svc-engine'
  | 'svc-engine-before'
  | 'bare-uws'
  | 'llama-server'
  | 'llama-server-start'
  | 'llama-router'
  | 'llama-batched-bench'
  | 'svc-vectors'
  | 'vector-rivals'
  | 'svc-ingest'
  | 'ingest-by-hand'
  | 'svc-cloud'
  | 'bare-proxy'
  | 'litellm'
  | 'svc-agents'
  | 'bare-mcp'
  | 'svc-goals'
  | 'dbos'
  | 'svc-devices'
  | 'bare-devices'
  | 'svc-logs'
  | 'log-rivals'
  | 'svc-speech'
  | 'whisper-server';

/** A load, with what differs for the rival where it cannot take the same. */
export type Phase = Load & { forRival?: Partial<Load> };

/** Something that is compared, and what must come out. Without a bound it informs and is not counted. */
export interface Goal {
  /** `phase.figure` of the samples. */
  figure: string;
  unit: string;
  /**
   * What our figure is divided by: the rival's same figure, the ceiling's same figure, or another figure of our own (ours without
   * the disturbance). Absent: our figure itself is what is bounded.
   */
  against?: 'rival' | 'ceiling' | { baseline: string };
  atLeast?: number;
  atMost?: number;
}

/** What one round against one contender measured: `phase.figure`, with units in the names. */
export type Sample = Record<string, number>;

/** Undefined for a goal without a bound, and for a figure that was not measured. */
export function holds(goal: Goal, value: number): boolean | undefined {
  if (!isBounded(goal) || Number.isNaN(value)) return undefined;
  const { atLeast, atMost } = goal;
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
}

export function isBounded({ atLeast, atMost }: Pick<Goal, 'atLeast' | 'atMost'>): boolean {
  return atLeast !== undefined || atMost !== undefined;
}

export function describeBound({ against, atLeast, atMost }: Goal): string {
  const of = against === undefined ? '' : 'ratio ';
  if (atLeast !== undefined && atMost !== undefined) return `${of}${atLeast} to ${atMost}`;
  if (atLeast !== undefined) return `${of}>= ${atLeast}`;
  return atMost === undefined ? 'none' : `${of}<= ${atMost}`;
}
