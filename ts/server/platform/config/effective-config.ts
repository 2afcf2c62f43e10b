/** What `svc config` prints: each setting, its value, and where it came from. */
import { describeAccepted, type SchemaNode } from '../schema/accepted.ts';
import { type Config, isOfProcess } from './config.ts';
import { environmentName, isSavable, type Setting, shownValue } from './setting.ts';

export interface EffectiveSetting {
  key: string;
  /** JSON text, with secrets masked. */
  value: string;
  /** JSON text of the default. */
  byDefault: string;
  origin: string;
  environment: string;
  help: string;
  /** In words. */
  accepts: string;
  /** Where it takes one of few texts. */
  choices: readonly string[] | undefined;
  /** Why it cannot be saved while the node runs: it belongs to the machine, or to this start of the process. */
  lockedBy: 'machine' | 'environment' | 'command line' | undefined;
  isLive: boolean;
}

export function effectiveConfig({ spec, values, origins }: Config): EffectiveSetting[] {
  return Object.entries(spec).map(([key, setting]) => effectiveSetting(key, setting, values[key], origins[key] ?? 'default'));
}

export function effectiveSetting(key: string, setting: Setting, value: unknown, origin: string): EffectiveSetting {
  const schema = setting.schema as unknown as SchemaNode;
  const { enum: choices } = schema;
  return {
    key,
    value: shownValue(setting, value),
    byDefault: shownValue(setting, setting.default),
    origin,
    environment: setting.sections === undefined ? environmentName(key) : '',
    help: setting.help,
    accepts: setting.accepts ?? describeAccepted(schema),
    choices: Array.isArray(choices) && choices.every((each) => typeof each === 'string') ? choices : undefined,
    lockedBy: lockOf(setting, origin),
    isLive: setting.isLive ?? false,
  };
}

function lockOf(setting: Setting, origin: string): EffectiveSetting['lockedBy'] {
  if (!isSavable(setting)) return 'machine';
  if (!isOfProcess(origin)) return undefined;
  return origin === 'command line' ? 'command line' : 'environment';
}
