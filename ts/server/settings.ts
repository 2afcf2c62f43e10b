/** Every setting of the program: the node's own and those that the modules declare. */

import { modules as allModules } from './modules.ts';
import { nodeSettings } from './node-settings.ts';
import { type Config, type ConfigSources, loadConfig as load } from './platform/config/config.ts';
import type { SettingsSpec } from './platform/config/setting.ts';
import type { AnyModuleDefinition } from './platform/module/module.ts';

export type NodeConfig = Config<typeof nodeSettings & SettingsSpec>;

/** Throws when two parts declare one key. */
export function settingsOf(modules: readonly AnyModuleDefinition[] = allModules): typeof nodeSettings & SettingsSpec {
  const all: Record<string, SettingsSpec[string]> = { ...nodeSettings };
  for (const { name, settings } of modules) {
    for (const [key, value] of Object.entries(settings as SettingsSpec)) {
      if (Object.hasOwn(all, key)) throw new Error(`the module ${name} declares the setting ${key} again`);
      all[key] = value;
    }
  }
  return all as typeof nodeSettings & SettingsSpec;
}

/** The configuration of a node with these modules. Throws ConfigError for the first value that cannot be used. */
export function loadNodeConfig(
  sources: Omit<ConfigSources<SettingsSpec>, 'spec'>,
  modules: readonly AnyModuleDefinition[] = allModules,
): NodeConfig {
  return load({ ...sources, spec: settingsOf(modules) });
}
