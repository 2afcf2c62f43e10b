import type { Trial } from './trial.ts';
import { httpTrials } from './trials/http.ts';
import { servingTrials } from './trials/serving.ts';

export interface Suite {
  trials: readonly Trial[];
  /** Model when --model is not given. */
  model: string;
  nParallel: number;
  nCtx: number;
}

export const suites: Readonly<Record<string, Suite>> = {
  http: { trials: httpTrials, model: 'tiny', nParallel: 1, nCtx: 4_096 },
  serving: { trials: servingTrials, model: 'mid', nParallel: 32, nCtx: 65_536 },
};
