/** What every module of the server is: one object with a life cycle, whose parts the host puts together. */
import type { SettingsSpec } from '../config/setting.ts';
import type { CorsHeaderNames } from '../http/access/cors.ts';
import type { ErrorBodyPrefix } from '../http/error-body.ts';
import type { Principal } from '../http/principal.ts';
import type { Route } from '../http/route.ts';
import type { Migration, ModuleMigrations } from '../storage/index.ts';
import type { Tool } from '../tools/tool.ts';
import type { Belongings } from './belongings.ts';
import type { ModuleContext } from './module-context.ts';
import type { ModuleName } from './module-names.ts';
import type { StateFile } from './state-file.ts';
import type { UseKind } from './use-rules.ts';

export interface HealthReason {
  /** For example cpu_lacks_avx2. */
  code: string;
  detail: string;
}

/** Something that was found beside the node itself, for its list of incidents. It names no address and nobody: strangers may read it. */
export interface NodeIncident {
  code: string;
  detail: string;
  /** Unix milliseconds. */
  since: number;
  /** Absent: it lasts. */
  endedAt?: number;
}

/** A module's part of /health: a member under its name, and reasons for what it lacks. */
export interface HealthReport {
  state: object;
  reasons: readonly HealthReason[];
  /** They are no defect of the node, and are listed with its incidents alone. */
  incidents?: readonly NodeIncident[];
}

/** Why the node takes no work yet, for /readyz. */
export interface NotReady {
  code: string;
  detail: string;
}

export interface Module<Api = unknown> {
  /** What modules of higher tiers may call. */
  readonly api: Api;
  readonly routes: readonly Route[];
  /** What models and callers may have done through it; the module `edge` runs them. */
  readonly tools?: readonly Tool[];
  /** Further tools, which depend on the caller's tenant. */
  toolsFor?(caller: Principal): Promise<readonly Tool[]>;
  /** Shapes of refusals under its paths where no route claims them; for modules that imitate a foreign API. */
  readonly errorBodies?: readonly ErrorBodyPrefix[];
  /** Headers of its API that pages of other origins may send and read. */
  readonly corsHeaders?: CorsHeaderNames;
  /** Paths outside of /api/v1/ that its API reserves and no route serves: a credential is asked for before they are answered with 404. */
  readonly guardedPaths?: readonly string[];
  /** What it keeps of tenants and accounts; needed where it has tables of theirs. */
  readonly belongings?: Belongings;
  /**
   * Begins what needs no database, before that is open. What start() must wait for and fails, start() throws; where start() is never called,
   * stop() ends it.
   */
  prepare?(): void;
  /** Opens what the module needs. Throws a StartError, or any error with a `remedy`. Called again after stop(). */
  start(): Promise<void>;
  /** Ends all work and frees everything. */
  stop(): Promise<void>;
  health(): HealthReport | Promise<HealthReport>;
  ready(): NotReady | undefined;
}

/** A module before it is made: what `svc config`, the OpenAPI document and migrations need to know. */
export interface ModuleDefinition<S extends SettingsSpec = SettingsSpec, Api = unknown> {
  readonly name: ModuleName;
  /** The name that the database has its migrations and erasures under, where its tables are older than the module. */
  readonly recordedAs?: ModuleName;
  readonly settings: S;
  /** Of the tables that the module owns, numbered from 1. */
  readonly migrations?: readonly Migration[];
  /** See ModuleMigrations. */
  readonly transient?: readonly string[];
  /** What it keeps in data_dir beside the database. Caches are left out, and so are models, which can be fetched again. */
  readonly stateFiles?: readonly StateFile[];
  /** Kinds of its things that groups and capability tokens limit; it asks `context.uses` before it shows or uses one. */
  readonly useKinds?: readonly UseKind[];
  /** Wires the module and does no I/O: no file, no addon, no connection before start(). */
  create(context: ModuleContext<S>): Module<Api> | Promise<Module<Api>>;
}

/** A definition of any types, as the host holds it. */
// biome-ignore lint/suspicious/noExplicitAny: the types were checked where the module was defined
export type AnyModuleDefinition = ModuleDefinition<any, any>;

/** The migrations of these modules by the names that they are recorded under: those of modules that were one are numbered together. */
export function migrationsOf(definitions: readonly AnyModuleDefinition[]): ModuleMigrations[] {
  const recorded = Map.groupBy(definitions, ({ name, recordedAs = name }) => recordedAs);
  return [...recorded].map(([module, group]) => ({
    module,
    migrations: group.flatMap(({ migrations = [] }) => migrations).sort((a, b) => a.id - b.id),
    transient: group.flatMap(({ transient = [] }) => transient),
  }));
}

/** The kinds of things that these modules register. Throws where two share a name. */
export function useKindsOf(definitions: readonly AnyModuleDefinition[]): UseKind[] {
  const kinds = definitions.flatMap(({ useKinds = [] }) => useKinds);
  const names = kinds.flatMap(({ name, one }) => [name, one]);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return kinds;
  throw new Error(`two kinds of things that groups and tokens limit are called ${twice}`);
}

export function defineModule<S extends SettingsSpec, Api>(definition: ModuleDefinition<S, Api>): ModuleDefinition<S, Api> {
  return definition;
}
