/** What somebody would write to change a setting: checked as the start of the server would, and as lines to copy. */
import type { Config } from './config.ts';
import { readValue } from './read-value.ts';
import { environmentName } from './setting.ts';

export interface ProposedSetting {
  key: string;
  /** For svc.toml, above its first table, or for a file of conf.d. */
  toml: string;
  /** For the environment of the server. */
  environment: string;
}

/** Undefined: there is no such setting. Throws ConfigError for a value that the setting does not take. */
export function proposeSetting({ spec }: Pick<Config, 'spec'>, key: string, text: string): ProposedSetting | undefined {
  const setting = Object.hasOwn(spec, key) ? spec[key] : undefined;
  if (setting === undefined) return undefined;
  const value = readValue(key, setting, text, 'the proposal');
  // A JSON string is a basic string of TOML but for U+007F; numbers and booleans are written alike.
  const toml = JSON.stringify(value).replaceAll('\u007f', '\\u007F');
  return { key, toml: `${key} = ${toml}`, environment: `${environmentName(key)}=${shellQuoted(String(value))}` };
}

function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
