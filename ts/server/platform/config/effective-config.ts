/** What `svc config` prints: each setting, its value, and where it came from. */
import type { Config } from './config.ts';
import { environmentName, shownValue } from './setting.ts';

export interface EffectiveSetting {
  key: string;
  /** JSON text, with secrets masked. */
  value: string;
  origin: string;
  environment: string;
  help: string;
}

export function effectiveConfig({ spec, values, origins }: Config): EffectiveSetting[] {
  return Object.entries(spec).map(([key, setting]) => ({
    key,
    value: shownValue(setting, values[key]),
    origin: origins[key] ?? 'default',
    environment: environmentName(key),
    help: setting.help,
  }));
}
