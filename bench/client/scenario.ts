import type { Sample } from '../trial.ts';
import type { Target } from './connection.ts';

/** What every scenario gets beside its load. */
export interface ScenarioContext {
  target: Target;
  /** The server's process. */
  pid: number;
  /** Chooses the prompts; the same on every server, another in each round. */
  seed: number;
}

export type Scenario<L> = (context: ScenarioContext, load: L) => Promise<Sample>;
