/** A module's context without a node around it. */
import { type Config, valuesOf } from '../../config/config.ts';
import type { SettingsSpec } from '../../config/setting.ts';
import type { Events } from '../../events/index.ts';
import { RemovalHold } from '../../files/removal-hold.ts';
import type { JobQueue, Jobs } from '../../jobs/index.ts';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import type { Node } from '../../node/node.ts';
import { SeriesRegistry } from '../../series/series-registry.ts';
import type { Storage } from '../../storage/index.ts';
import type { ModuleContext, PlatformServices } from '../module-context.ts';
import { NO_LIMITS, type UseKind } from '../use-rules.ts';

export const silentLog = new Log({ level: 'error', format: 'json', sink: { write: () => {}, flush: () => {} } });

export const scriptedNode: Node = {
  id: 'node',
  name: 'scripted',
  version: '1.2.3',
  installRoot: '/nowhere',
  dataDir: '/nowhere/data',
  stateFiles: [],
  removals: new RemovalHold(),
  configFiles: [],
  auth: () => 'off',
  modules: () => ['system', 'data'],
  health: async () => new Map(),
  notReady: () => undefined,
  roles: () => [],
  settings: () => [],
  proposeSetting: () => undefined,
  saveSetting: async () => undefined,
  settingSection: () => undefined,
  forgetSetting: async () => undefined,
  restart: () => {},
  holdsDocuments: async () => false,
  setRole: async () => {},
};

/** A module that uses one of these in a test, and does not only prepare to, must bring its own. */
export const noStorage = absent<Storage>('storage', { access: () => absent('storage') });
export const noJobs = absent<Jobs>('jobs', { define: () => idleQueue });
/** Nobody listens. */
export const noEvents = absent<Events>('events', {
  publish: () => {},
  subscribeDurably: () => {},
  send: async () => {},
  sendOfNode: async () => {},
});

const idleQueue: Partial<JobQueue<unknown>> = { start: () => {}, stop: async () => {} };

function absent<T extends object>(part: string, prepared: object = {}): T {
  return new Proxy(prepared as T, {
    get(target, name) {
      if (Object.hasOwn(target, name)) return Reflect.get(target, name) as unknown;
      throw new Error(`${part}.${String(name)} was used, and the test has no ${part}`);
    },
  });
}

function noModule(): never {
  throw new Error('no other module is there');
}

/** As modules register them. */
export const scriptedKinds: readonly UseKind[] = ['model', 'namespace'].map((one) => ({
  name: `${one}s`,
  one,
  labels: [one, `${one}s`],
  example: 'a*',
}));

export interface ScriptedContextOptions<S extends SettingsSpec> extends Partial<PlatformServices> {
  spec: S;
  /** Values other than the defaults. */
  settings?: Readonly<Record<string, unknown>>;
  useKinds?: readonly UseKind[];
}

export function scriptedContext<S extends SettingsSpec>(options: ScriptedContextOptions<S>): ModuleContext<S> {
  const { spec, settings = {}, ...services } = options;
  const defaults = Object.fromEntries(Object.entries(spec).map(([key, setting]) => [key, setting.default]));
  const config: Config = { spec, values: { ...defaults, ...settings }, origins: {}, beneath: {}, warnings: [] };
  return {
    node: scriptedNode,
    log: silentLog,
    metrics: new MetricsRegistry(),
    storage: noStorage,
    jobs: noJobs,
    events: noEvents,
    series: new SeriesRegistry(),
    tenants: { exists: async (tenant) => tenant !== 'nobody', tokensPerMinute: () => undefined, allowsPriority: () => true },
    uses: NO_LIMITS,
    useKinds: scriptedKinds,
    tools: async () => [],
    ...services,
    settings: valuesOf(config, spec),
    use: noModule,
    useOptional: noModule,
  };
}
