/** What `svc config` prints: each setting, its value, and where it came from. */
import type { Config } from './config.ts';
import { environmentName, SETTING_KEYS, settings, shownValue } from './settings.ts';

export interface EffectiveSetting {
  key: string;
  /** JSON text, with secrets masked. */
  value: string;
  origin: string;
  environment: string;
  help: string;
}

export function effectiveConfig({ values, origins }: Config): EffectiveSetting[] {
  return SETTING_KEYS.map((key) => ({
    key,
    value: shownValue(key, values[key]),
    origin: origins[key],
    environment: environmentName(key),
    help: settings[key].help,
  }));
}
