/** The configuration as the server would see it, and the model library that follows from it. */
import { join } from 'node:path';
import { namedModelFile } from '../server/default-model.ts';
import { ModelLibrary } from '../server/domains/inference/library/index.ts';
import { type Config, type ConfigSources, loadConfig } from '../server/platform/config/config.ts';
import { ConfigError } from '../server/platform/config/config-error.ts';
import { INSTALL_ROOT } from '../server/product.ts';
import { CliError } from './cli-error.ts';
import type { Invocation } from './command.ts';

export type Overrides = NonNullable<ConfigSources['overrides']>;

/** Throws CliError usage that names the key, the value and what is accepted. */
export function readConfig({ options, env }: Pick<Invocation, 'options' | 'env'>, overrides: Overrides = {}): Config {
  try {
    return loadConfig({ root: INSTALL_ROOT, environment: env, overrides, file: options.config });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(
      'usage',
      error.code,
      error.message,
      'correct it there; `svc config` shows where each setting comes from',
      error,
    );
  }
}

/** The same models that the server sees. */
export function openLibrary({ values }: Config): ModelLibrary {
  const readOnlyDirs = [join(INSTALL_ROOT, 'models')];
  return new ModelLibrary({ modelsDir: values.models_dir, readOnlyDirs, files: namedModelFile(values) });
}
