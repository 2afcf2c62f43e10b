/** The configuration as the server would see it, and the model library that follows from it. */
import { inferenceSettings, openModelLibrary } from '../server/domains/inference/index.ts';
import type { ModelLibrary } from '../server/domains/inference/library/index.ts';
import { type SettingOverrides, valuesOf } from '../server/platform/config/config.ts';
import { ConfigError } from '../server/platform/config/config-error.ts';
import type { SettingValues } from '../server/platform/config/setting.ts';
import { INSTALL_ROOT } from '../server/product.ts';
import { loadNodeConfig, type NodeConfig } from '../server/settings.ts';
import { CliError } from './cli-error.ts';
import type { Invocation } from './command.ts';

export type Overrides = SettingOverrides;

/** Throws CliError usage that names the key, the value and what is accepted. */
export function readConfig({ options, env }: Pick<Invocation, 'options' | 'env'>, overrides: Overrides = {}): NodeConfig {
  try {
    return loadNodeConfig({ root: INSTALL_ROOT, environment: env, overrides, file: options.config });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(
      'usage',
      error.code,
      error.message,
      error.remedy ?? 'correct it there; `svc config` shows where each setting comes from',
      error,
    );
  }
}

export function inferenceValues(config: NodeConfig): SettingValues<typeof inferenceSettings> {
  return valuesOf(config, inferenceSettings);
}

/** The same models that the server sees. */
export function openLibrary(config: NodeConfig): ModelLibrary {
  return openModelLibrary(inferenceValues(config), INSTALL_ROOT);
}
