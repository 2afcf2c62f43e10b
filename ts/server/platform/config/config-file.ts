/** svc.toml as dotted keys with raw values. */
import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { ConfigError } from './config-error.ts';
import { refuseUnreadable } from './config-files.ts';

/** Throws ConfigError with the line of what is no TOML, or with why the file cannot be read. */
export function readConfigFile(path: string): [string, unknown][] {
  return flatten(readToml(path));
}

function readToml(path: string): Record<string, unknown> {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (cause instanceof TomlError)
      throw new ConfigError(`${path} is not valid TOML, line ${cause.line}: ${firstLine(cause.message)}`, { cause });
    refuseUnreadable(path, cause);
    throw new ConfigError(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}

/** Tables become dotted keys. */
function flatten(table: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
    return isTable ? flatten(value as Record<string, unknown>, `${prefix}${name}.`) : [[`${prefix}${name}`, value]];
  });
}
