import type { NodeConfig } from '../../server/settings.ts';

export interface Finding {
  state: 'ok' | 'warning' | 'broken';
  finding: string;
  /** What to do; present unless all is well. */
  remedy?: string;
}

export interface CheckContext {
  config: NodeConfig;
  env: NodeJS.ProcessEnv;
}

/** One thing that `svc doctor` looks at. A check that throws is itself a finding: broken. */
export interface Check {
  name: string;
  run(context: CheckContext): Promise<Finding> | Finding;
}

export const ok = (finding: string): Finding => ({ state: 'ok', finding });
export const warning = (finding: string, remedy: string): Finding => ({ state: 'warning', finding, remedy });
export const broken = (finding: string, remedy: string): Finding => ({ state: 'broken', finding, remedy });
