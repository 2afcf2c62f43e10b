/** The effective configuration: defaults, then the file, then the environment, then the command line. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { closestName } from '../text/closest-name.ts';
import { ConfigError } from './config-error.ts';
import { readConfigFile } from './config-file.ts';
import { readValue } from './read-value.ts';
import { environmentName, type Setting, type SettingsSpec, type SettingValues } from './setting.ts';
import { findUnknownVariables } from './unknown-variables.ts';

/** For people: `default`, `file /etc/svc/svc.toml`, `environment SVC_LISTEN` or `command line`. */
export type Origin = string;

export type SettingOverrides = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ConfigSources<S extends SettingsSpec> {
  /** Every setting that this program knows. */
  spec: S;
  /** Folder the program is installed in: a checkout, or below /usr or /opt when packaged. */
  root: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Values given on the command line, by key. */
  overrides?: SettingOverrides;
  /** Configuration file; else SVC_CONFIG, else svc.toml in the root or /etc/svc. Named ones must exist. */
  file?: string | undefined;
  workingDirectory?: string;
}

export interface Config<S extends SettingsSpec = SettingsSpec> {
  readonly spec: S;
  readonly values: SettingValues<S>;
  readonly origins: Readonly<Record<string, Origin>>;
  /** Sentences for the log: variables that look like settings and are none. */
  readonly warnings: readonly string[];
}

type Layer = Map<string, { value: unknown; origin: Origin }>;

/** Throws ConfigError for the first value that cannot be used, and for unknown keys of the file. */
export function loadConfig<S extends SettingsSpec>(sources: ConfigSources<S>): Config<S> {
  const found: Layer = new Map();
  const cwd = sources.workingDirectory ?? process.cwd();
  const layers = [defaults(sources), fileLayer(sources, cwd), environmentLayer(sources, cwd), overrideLayer(sources, cwd)];
  for (const layer of layers) for (const [key, entry] of layer) found.set(key, entry);
  locateInside(found, sources.spec);
  return {
    spec: sources.spec,
    values: Object.fromEntries([...found].map(([key, { value }]) => [key, value])) as SettingValues<S>,
    origins: Object.fromEntries([...found].map(([key, { origin }]) => [key, origin])),
    warnings: findUnknownVariables(sources.environment, Object.keys(sources.spec)),
  };
}

/** The part of a configuration that one module declared. */
export function valuesOf<S extends SettingsSpec>({ values }: Config, spec: S): SettingValues<S> {
  return Object.fromEntries(Object.keys(spec).map((key) => [key, values[key]])) as SettingValues<S>;
}

function defaults({ spec, root }: ConfigSources<SettingsSpec>): Layer {
  const layer: Layer = new Map(
    Object.entries(spec).map(([key, setting]) => [key, { value: setting.default, origin: 'default' }]),
  );
  if ('data_dir' in spec)
    layer.set('data_dir', { value: isPackaged(root) ? '/var/lib/svc' : join(root, 'data'), origin: 'default' });
  return layer;
}

function locateInside(found: Layer, spec: SettingsSpec): void {
  for (const [key, { insideOf }] of Object.entries(spec)) {
    const entry = found.get(key);
    if (insideOf === undefined || entry?.value !== '') continue;
    found.set(key, { ...entry, value: join(String(found.get(insideOf.key)?.value), insideOf.name) });
  }
}

function isPackaged(root: string): boolean {
  return root.startsWith('/usr/') || root.startsWith('/opt/');
}

function fileLayer(sources: ConfigSources<SettingsSpec>, cwd: string): Layer {
  const path = configFile(sources, cwd);
  const layer: Layer = new Map();
  if (path === undefined) return layer;
  for (const [key, raw] of readConfigFile(path)) take(layer, sources.spec, key, raw, `file ${path}`, dirname(path));
  return layer;
}

function configFile({ file, environment, root }: ConfigSources<SettingsSpec>, cwd: string): string | undefined {
  const named = file ?? environment['SVC_CONFIG'];
  if (named === undefined || named === '') {
    return [join(root, 'svc.toml'), '/etc/svc/svc.toml'].find((candidate) => existsSync(candidate));
  }
  return resolve(cwd, named);
}

function environmentLayer({ spec, environment }: ConfigSources<SettingsSpec>, cwd: string): Layer {
  const layer: Layer = new Map();
  for (const key of Object.keys(spec)) {
    const name = environmentName(key);
    const raw = environment[name];
    if (raw !== undefined && raw !== '') take(layer, spec, key, raw, `environment ${name}`, cwd);
  }
  return layer;
}

function overrideLayer({ spec, overrides = {} }: ConfigSources<SettingsSpec>, cwd: string): Layer {
  const layer: Layer = new Map();
  for (const [key, raw] of Object.entries(overrides)) if (raw !== undefined) take(layer, spec, key, raw, 'command line', cwd);
  return layer;
}

/** `folder` is where relative paths begin. */
function take(layer: Layer, spec: SettingsSpec, key: string, raw: unknown, origin: Origin, folder: string): void {
  const setting = Object.hasOwn(spec, key) ? spec[key] : undefined;
  if (setting === undefined) throw new ConfigError(unknownKey(key, origin, Object.keys(spec)));
  layer.set(key, { value: located(setting, readValue(key, setting, raw, origin), folder), origin });
}

function located({ isPath }: Setting, value: unknown, folder: string): unknown {
  return isPath === true && typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function unknownKey(key: string, origin: Origin, known: readonly string[]): string {
  const near = closestName(key, known) ?? known.find((name) => name.endsWith(`.${lastPart(key)}`));
  const hint = near === undefined ? '`svc config` lists the known ones' : `did you mean ${near}?`;
  return `${key.slice(0, 80)} (${origin}) is not a known setting; ${hint}`;
}
