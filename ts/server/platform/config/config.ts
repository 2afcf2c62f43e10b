/** The effective configuration: defaults, then the file, then the environment, then the command line. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { closestKey } from './closest-key.ts';
import { ConfigError } from './config-error.ts';
import { readValue } from './read-value.ts';
import { type ConfigValues, environmentName, SETTING_KEYS, type Setting, type SettingKey, settings } from './settings.ts';

/** For people: `default`, `file /etc/svc/svc.toml`, `environment SVC_LISTEN` or `command line`. */
export type Origin = string;

export interface Config {
  values: ConfigValues;
  origins: Record<SettingKey, Origin>;
}

export interface ConfigSources {
  /** Folder the program is installed in: a checkout, or below /usr or /opt when packaged. */
  root: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Values given on the command line, by key. */
  overrides?: Partial<Record<SettingKey, string | number | boolean>>;
  /** Configuration file; else SVC_CONFIG, else svc.toml in the root or /etc/svc. Named ones must exist. */
  file?: string | undefined;
  workingDirectory?: string;
}

/** Throws ConfigError for the first value that cannot be used, and for unknown keys of the file. */
export function loadConfig(sources: ConfigSources): Config {
  const found = new Map<SettingKey, { value: unknown; origin: Origin }>();
  const cwd = sources.workingDirectory ?? process.cwd();
  for (const layer of [
    defaults(sources.root),
    fileLayer(sources, cwd),
    environmentLayer(sources, cwd),
    overrideLayer(sources, cwd),
  ]) {
    for (const [key, entry] of layer) found.set(key, entry);
  }
  const models = found.get('models_dir');
  if (models?.value === '')
    found.set('models_dir', { value: join(String(found.get('data_dir')?.value), 'models'), origin: 'default' });
  return {
    values: Object.fromEntries([...found].map(([key, { value }]) => [key, value])) as ConfigValues,
    origins: Object.fromEntries([...found].map(([key, { origin }]) => [key, origin])) as Record<SettingKey, Origin>,
  };
}

type Layer = Map<SettingKey, { value: unknown; origin: Origin }>;

function defaults(root: string): Layer {
  const layer: Layer = new Map(SETTING_KEYS.map((key) => [key, { value: settings[key].default, origin: 'default' }]));
  layer.set('data_dir', { value: isPackaged(root) ? '/var/lib/svc' : join(root, 'data'), origin: 'default' });
  return layer;
}

function isPackaged(root: string): boolean {
  return root.startsWith('/usr/') || root.startsWith('/opt/');
}

function fileLayer(sources: ConfigSources, cwd: string): Layer {
  const path = configFile(sources, cwd);
  const layer: Layer = new Map();
  if (path === undefined) return layer;
  const origin = `file ${path}`;
  for (const [key, raw] of flatten(readToml(path))) {
    if (!isSettingKey(key)) throw new ConfigError(unknownKey(key, origin));
    layer.set(key, { value: located(key, readValue(key, raw, origin), dirname(path)), origin });
  }
  return layer;
}

function configFile({ file, environment, root }: ConfigSources, cwd: string): string | undefined {
  const named = file ?? environment['SVC_CONFIG'];
  if (named === undefined || named === '') {
    return [join(root, 'svc.toml'), '/etc/svc/svc.toml'].find((candidate) => existsSync(candidate));
  }
  return resolve(cwd, named);
}

function readToml(path: string): Record<string, unknown> {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (cause instanceof TomlError)
      throw new ConfigError(`${path} is not valid TOML, line ${cause.line}: ${firstLine(cause.message)}`, { cause });
    throw new ConfigError(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}

/** Tables one level deep become dotted keys. */
function flatten(table: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
    return isTable ? flatten(value as Record<string, unknown>, `${prefix}${name}.`) : [[`${prefix}${name}`, value]];
  });
}

function environmentLayer({ environment }: ConfigSources, cwd: string): Layer {
  const layer: Layer = new Map();
  for (const key of SETTING_KEYS) {
    const raw = environment[environmentName(key)];
    const origin = `environment ${environmentName(key)}`;
    if (raw !== undefined && raw !== '') layer.set(key, { value: located(key, readValue(key, raw, origin), cwd), origin });
  }
  return layer;
}

function overrideLayer({ overrides = {} }: ConfigSources, cwd: string): Layer {
  const layer: Layer = new Map();
  for (const [key, raw] of Object.entries(overrides)) {
    if (!isSettingKey(key)) throw new ConfigError(unknownKey(key, 'command line'));
    if (raw !== undefined)
      layer.set(key, { value: located(key, readValue(key, raw, 'command line'), cwd), origin: 'command line' });
  }
  return layer;
}

function located(key: SettingKey, value: unknown, folder: string): unknown {
  const { isPath }: Setting = settings[key];
  return isPath === true && typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
}

function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

function unknownKey(key: string, origin: Origin): string {
  const near = closestKey(key);
  const hint = near === undefined ? '`svc config` lists the known ones' : `did you mean ${near}?`;
  return `${key.slice(0, 80)} (${origin}) is not a known setting; ${hint}`;
}
