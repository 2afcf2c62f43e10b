/** One raw value of a setting to its checked value. */
import { Check } from 'typebox/value';
import { describeAccepted, type SchemaNode } from '../schema/accepted.ts';
import { ConfigError } from './config-error.ts';
import { type Setting, shownValue } from './setting.ts';

/** Strings (environment, command line) are read as the number or boolean that the setting wants. Throws ConfigError. */
export function readValue(key: string, setting: Setting, raw: unknown, origin: string): unknown {
  const { schema, help, accepts } = setting;
  const value = typeof raw === 'string' ? fromText(raw, schema) : raw;
  if (Check(schema, value)) return value;
  const wanted = accepts ?? describeAccepted(schema as unknown as SchemaNode);
  throw new ConfigError(`${key} (${origin}) is ${shownValue(setting, raw)}, but must be ${wanted}. ${help}`);
}

function fromText(text: string, schema: Setting['schema']): unknown {
  const type = (schema as { type?: unknown }).type;
  if (type === 'integer' && /^[+-]?\d{1,16}$/.test(text)) return Number(text);
  if (type === 'number' && /^[+-]?\d{1,16}(\.\d{1,16})?(e[+-]?\d{1,3})?$/i.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|on|yes|1)$/i.test(text)) return true;
  if (type === 'boolean' && /^(false|off|no|0)$/i.test(text)) return false;
  return text;
}
