import type { ServerSettings } from './contenders/contender.ts';
import type { Trial } from './trial.ts';
import { httpTrials } from './trials/http.ts';
import { servingTrials } from './trials/serving.ts';

export interface Suite {
  trials: readonly Trial[];
  /** Model when --model is not given. */
  model: string;
  /** What the servers are started with unless a trial says otherwise. */
  server: Omit<ServerSettings, 'nThreads'>;
}

export const suites: Readonly<Record<string, Suite>> = {
  http: { trials: httpTrials, model: 'tiny', server: { nParallel: 1, nCtx: 4_096 } },
  serving: { trials: servingTrials, model: 'mid', server: { nParallel: 32, nCtx: 32_768 } },
};
