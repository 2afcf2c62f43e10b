/** What a module is given when it is made. */
import type { SettingsSpec, SettingValues } from '../config/setting.ts';
import type { Events } from '../events/index.ts';
import type { Principal } from '../http/principal.ts';
import type { Route } from '../http/route.ts';
import type { Jobs } from '../jobs/index.ts';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Node } from '../node/node.ts';
import type { SeriesRegistry } from '../series/series-registry.ts';
import type { Storage } from '../storage/index.ts';
import type { ListedTool } from '../tools/tool.ts';
import type { ModuleDefinition } from './module.ts';
import type { TenantRules } from './tenant-rules.ts';
import type { UseKind, UseRules } from './use-rules.ts';

/** The parts of the platform that all modules share. */
export interface PlatformServices {
  readonly node: Node;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly storage: Storage;
  /** Durable background jobs; a module declares its kinds when it is made and starts their queues with itself. */
  readonly jobs: Jobs;
  /** What modules tell each other; durable subscribers are declared when a module is made. */
  readonly events: Events;
  /** Named series of numbers, which modules register when they are made. */
  readonly series: SeriesRegistry;
  readonly tenants: TenantRules;
  readonly uses: UseRules;
}

export interface ModuleContext<S extends SettingsSpec> extends PlatformServices {
  /** The kinds of things that all modules registered. */
  readonly useKinds: readonly UseKind[];
  /** Those of the modules of lower tiers, whether they run or not, and those that running ones have for the caller. */
  tools(caller: Principal): Promise<readonly ListedTool[]>;
  /** The settings that the module declared. */
  readonly settings: SettingValues<S>;
  /** The public interface of a module of a lower tier. Throws for any other. */
  // biome-ignore lint/suspicious/noExplicitAny: which settings it declares does not matter here
  use<Api>(definition: ModuleDefinition<any, Api>): Api;
  /** The same of one that may be switched off. */
  // biome-ignore lint/suspicious/noExplicitAny: which settings it declares does not matter here
  useOptional<Api>(definition: ModuleDefinition<any, Api>): OptionalModule<Api>;
}

/** A module of a lower tier that the user can do without. */
export interface OptionalModule<Api> {
  readonly isRunning: boolean;
  /** Throws the DomainError that the list of modules has for it (`whenOff`) while it does not run. */
  readonly api: Api;
  /** Routes of the user that answer as its own do while it does not run. */
  guard(routes: readonly Route[]): Route[];
}
