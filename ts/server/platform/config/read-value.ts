/** One raw value of a setting to its checked value. */
import { Compile } from 'typebox/compile';
import { ConfigError } from './config-error.ts';
import { environmentName, type Setting, type SettingKey, settings, shownValue } from './settings.ts';

/** Strings (environment, command line) are read as the number or boolean that the setting wants. Throws ConfigError. */
export function readValue(key: SettingKey, raw: unknown, origin: string): unknown {
  const { schema, help }: Setting = settings[key];
  const value = typeof raw === 'string' ? fromText(raw, schema) : raw;
  if (Compile(schema).Check(value)) return value;
  throw new ConfigError(`${key} (${origin}) is ${shownValue(key, raw)}, but must be ${accepted(key, schema)}. ${help}`);
}

function fromText(text: string, schema: Setting['schema']): unknown {
  const type = (schema as { type?: unknown }).type;
  if (type === 'integer' && /^[+-]?\d{1,16}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|on|yes|1)$/i.test(text)) return true;
  if (type === 'boolean' && /^(false|off|no|0)$/i.test(text)) return false;
  return text;
}

function accepted(key: SettingKey, schema: Setting['schema']): string {
  if (key === 'listen' || key === 'public_listen')
    return `HOST:PORT, [IPv6]:PORT or a port (${environmentName(key)}=127.0.0.1:8880)`;
  const node = schema as {
    type?: unknown;
    minimum?: number;
    maximum?: number;
    maxLength?: number;
    anyOf?: { const: unknown }[];
    enum?: unknown[];
  };
  const choices = node.enum ?? node.anyOf?.map((one) => one.const);
  if (choices !== undefined) return `one of ${choices.map((one) => JSON.stringify(one)).join(', ')}`;
  if (node.type === 'integer') return `an integer from ${node.minimum} to ${node.maximum}`;
  if (node.type === 'boolean') return 'true or false';
  return key === 'models.mirror'
    ? 'a URL that starts with http:// or https://'
    : `a string of at most ${node.maxLength} characters`;
}
