/**
 * The effective configuration: defaults, the file, those of conf.d beside it, what was saved while the node ran, the environment, the command
 * line; later ones win.
 */

import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { closestName } from '../text/closest-name.ts';
import { ConfigError } from './config-error.ts';
import { additionsTo, findConfigFile, refuseUnreadable } from './config-files.ts';
import { readValue } from './read-value.ts';
import { readSavedValues, SAVED_FILE } from './saved-values.ts';
import { findMember, findSetting, type SectionMember, type Sections, sectionMemberOf } from './section-member.ts';
import { environmentName, isSavable, type Setting, type SettingsSpec, type SettingValues } from './setting.ts';

/** For people: `default`, `file /etc/svc/svc.toml`, `environment SVC_LISTEN` or `command line`. */
type Origin = string;

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
  /** Of settings, and of members of sections by their whole keys. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** Of settings that were saved: what would hold if they had not been. */
  readonly beneath: Readonly<Record<string, { value: unknown; origin: Origin }>>;
  /** Sentences for the log: variables that look like settings and are none, saved values that cannot be used. */
  readonly warnings: readonly string[];
}

type Entry = {
  value: unknown;
  origin: Origin;
  /** Of a setting with sections: where each member comes from, by its whole key. */
  members?: Readonly<Record<string, Origin>>;
};
type Layer = Map<string, Entry>;

/** Throws ConfigError for the first value that cannot be used, and for unknown keys of the file. */
export function loadConfig<S extends SettingsSpec>(sources: ConfigSources<S>): Config<S> {
  const found: Layer = new Map();
  const cwd = sources.workingDirectory ?? process.cwd();
  const layers = [defaults(sources), fileLayer(sources, cwd), environmentLayer(sources, cwd), overrideLayer(sources, cwd)];
  for (const layer of layers) for (const [key, entry] of layer) found.set(key, entry);
  locateInside(found, sources.spec);
  const { beneath, problems } = applySaved(found, sources.spec);
  return {
    spec: sources.spec,
    values: Object.fromEntries([...found].map(([key, { value }]) => [key, value])) as SettingValues<S>,
    origins: Object.fromEntries(
      [...found].flatMap(([key, { origin, members = {} }]) => [[key, origin], ...Object.entries(members)]),
    ),
    beneath,
    warnings: [...findUnknownVariables(sources.environment, plainKeys(sources.spec)), ...problems],
  };
}

/** Where a saved value comes from; what the machine's own words set is not overridden. */
function applySaved(found: Layer, spec: SettingsSpec): { beneath: Record<string, Entry>; problems: string[] } {
  const beneath: Record<string, Entry> = {};
  const dataDir = found.get('data_dir')?.value;
  if (typeof dataDir !== 'string') return { beneath, problems: [] };
  const path = join(dataDir, SAVED_FILE);
  const origin = `saved ${path}`;
  const { values, problem } = readSavedValues(path);
  const problems = problem === undefined ? [] : [problem];
  for (const [key, raw] of Object.entries(values)) {
    const setting = findSetting(spec, key);
    const entry = entryOf(found, spec, key);
    if (setting === undefined || entry === undefined || !isSavable(setting)) {
      problems.push(`${path} holds ${key.slice(0, 80)}, which is no setting that can be saved`);
      continue;
    }
    if (isOfProcess(entry.origin)) continue;
    try {
      putValue(found, spec, key, { value: readValue(key, setting, raw, origin), origin });
      beneath[key] = entry;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error.message);
    }
  }
  return { beneath, problems };
}

/** What holds of a setting, or of a member of a section, which may not be named anywhere. */
function entryOf(found: Layer, spec: SettingsSpec, key: string): Entry | undefined {
  const section = sectionMemberOf(spec, key);
  if (section === undefined) return found.get(key);
  const entry = found.get(section.parent);
  return { value: findMember(entry?.value, section), origin: entry?.members?.[key] ?? 'default' };
}

function putValue(layer: Layer, spec: SettingsSpec, key: string, entry: Entry): void {
  const section = sectionMemberOf(spec, key);
  if (section === undefined) layer.set(key, entry);
  else putMember(layer, section, key, entry);
}

/** The environment and the command line, which belong to this one start. */
export function isOfProcess(origin: Origin): boolean {
  return origin.startsWith('environment ') || origin === 'command line';
}

/** The part of a configuration that one module declared. */
export function valuesOf<S extends SettingsSpec>({ values }: Config, spec: S): SettingValues<S> {
  return Object.fromEntries(Object.keys(spec).map((key) => [key, values[key]])) as SettingValues<S>;
}

/** The files that some value of the configuration comes from. */
export function filesOf({ origins }: Pick<Config, 'origins'>): string[] {
  return [
    ...new Set(Object.values(origins).flatMap((origin) => (origin.startsWith('file ') ? [origin.slice('file '.length)] : []))),
  ];
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
  for (const file of [path, ...additionsTo(path)])
    for (const [key, raw] of readConfigFile(file)) take(layer, sources.spec, key, raw, `file ${file}`, dirname(file));
  return layer;
}

function configFile({ file, environment, root }: ConfigSources<SettingsSpec>, cwd: string): string | undefined {
  const named = file ?? environment['SVC_CONFIG'];
  if (named === undefined || named === '') {
    return findConfigFile([join(root, 'svc.toml'), '/etc/svc/svc.toml']);
  }
  return resolve(cwd, named);
}

function environmentLayer({ spec, environment }: ConfigSources<SettingsSpec>, cwd: string): Layer {
  const layer: Layer = new Map();
  for (const [key, { sections }] of Object.entries(spec)) {
    if (sections !== undefined) continue;
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

/** Those that a variable or an argument can set. */
function plainKeys(spec: SettingsSpec): string[] {
  return Object.entries(spec).flatMap(([key, { sections }]) => (sections === undefined ? [key] : []));
}

/** `folder` is where relative paths begin. */
function take(layer: Layer, spec: SettingsSpec, key: string, raw: unknown, origin: Origin, folder: string): void {
  const section = sectionMemberOf(spec, key);
  if (section !== undefined) {
    takeMember(layer, section, key, raw, origin, folder);
    return;
  }
  const setting = findSetting(spec, key);
  if (setting === undefined || setting.sections !== undefined) throw new ConfigError(unknownKey(key, origin, Object.keys(spec)));
  layer.set(key, { value: located(setting, readValue(key, setting, raw, origin), folder), origin });
}

function takeMember(layer: Layer, section: SectionMember, key: string, raw: unknown, origin: Origin, folder: string): void {
  const { parent, members, name, member } = section;
  const setting = Object.hasOwn(members, member) ? members[member] : undefined;
  const shown = `${parent}.${JSON.stringify(name)}.${member}`;
  if (setting === undefined) throw new ConfigError(unknownKey(shown, origin, Object.keys(members), member));
  putMember(layer, section, key, { value: located(setting, readValue(shown, setting, raw, origin), folder), origin });
}

function putMember(layer: Layer, { parent, name, member }: SectionMember, key: string, { value, origin }: Entry): void {
  const entry = layer.get(parent);
  const sections = (entry?.value ?? {}) as Sections;
  const section = Object.hasOwn(sections, name) ? sections[name] : {};
  const members = { ...entry?.members, [key]: origin };
  layer.set(parent, { value: { ...sections, [name]: { ...section, [member]: value } }, origin, members });
}

function located({ isPath }: Setting, value: unknown, folder: string): unknown {
  return isPath === true && typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function unknownKey(key: string, origin: Origin, known: readonly string[], name = key): string {
  const near = closestName(name, known) ?? known.find((name) => name.endsWith(`.${lastPart(key)}`));
  const hint = near === undefined ? '`svc config` lists the known ones' : `did you mean ${near}?`;
  return `${key.slice(0, 80)} (${origin}) is not a known setting; ${hint}`;
}

/** Reads svc.toml as dotted keys with raw values. Throws ConfigError with the line of what is no TOML, or with why the file cannot be read. */
function readConfigFile(path: string): [string, unknown][] {
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

/** Variables that are read outside the configuration: by the launcher, set-up, tests and the native loader. */
const otherVariables = [
  /^SVC_CONFIG$/,
  /^SVC_(CACHE_DIR|PRESET|NATIVE_DIR|FORCE_CPU_FEATURES|CPU_VARIANTS?)$/,
  /^SVC_(LLAMA_CPP|WHISPER_CPP|USEARCH)_DIR$/,
  /^SVC_(TEST|BENCH)_/,
];

/**
 * Names environment variables that begin like a setting's and are none, since a typo would otherwise do nothing, silently: one sentence for each,
 * with the setting that was probably meant.
 */
function findUnknownVariables(environment: Readonly<Record<string, string | undefined>>, keys: readonly string[]): string[] {
  const known = keys.map(environmentName);
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !known.includes(name) && !otherVariables.some((other) => other.test(name)))
    .map((name) => {
      const near = closestName(name, known);
      const hint = near === undefined ? '`svc config` lists the known ones' : `did you mean ${near}?`;
      return `the environment variable ${name.slice(0, 80)} is no setting and does nothing; ${hint}`;
    });
}
