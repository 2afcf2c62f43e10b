/** The program with folders of its own and no configuration but this. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { type CliOptions, type CliRun, runCli } from './run-cli.ts';

interface CliSetting {
  root: string;
  modelsDir: string;
  run(args: string[], options?: CliOptions): Promise<CliRun>;
}

export function cliSetting(t: Test): CliSetting {
  // This comes before the folder is made: tap removes one that was there before the first teardown ahead of what the teardowns stop.
  t.teardown(() => undefined);
  const root = t.testdir({ models: {}, data: {}, 'svc.toml': '' });
  const env = {
    SVC_MODELS_DIR: join(root, 'models'),
    SVC_DATA_DIR: join(root, 'data'),
    SVC_CONFIG: join(root, 'svc.toml'),
    SVC_MODELS_SHIPPED: 'false',
  };
  const run = (args: string[], options: CliOptions = {}) => runCli(args, { ...options, env: { ...env, ...options.env } });
  return { root, modelsDir: join(root, 'models'), run };
}
