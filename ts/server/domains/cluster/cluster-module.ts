/** Wires the cluster module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { inference } from '../inference/index.ts';
import { Member } from './member.ts';
import { NodeStore } from './node-store.ts';
import { clusterRoutes } from './routes.ts';
import type { clusterSettings } from './settings.ts';
import type { ClusterTables } from './tables.ts';

const ORDER_MS = 15_000;
const WORK = { kind: 'work' } as const;

/** The interface for modules of higher tiers. */
export interface ClusterApi {
  /** The epoch in which this node leads; undefined: another one does. */
  readonly epoch: number | undefined;
}

/** The part of /health. */
export interface ClusterHealth {
  map: Member['map'];
  leads: boolean;
}

export function createCluster(context: ModuleContext<typeof clusterSettings>): Module<ClusterApi> {
  const { settings, node, log, metrics } = context;
  const storage = context.storage.access<ClusterTables>();
  const models = context.useOptional(inference);
  const member = new Member({
    store: storage.dialect === 'sqlite' ? undefined : new NodeStore(storage),
    node,
    log,
    address: settings['cluster.address'],
    heartbeatMs: settings['cluster.heartbeat_seconds'] * 1000,
    entryMs: settings['cluster.entry_seconds'] * 1000,
    orderMs: ORDER_MS,
    models: async () => {
      if (!models.isRunning) return [];
      const cards = await models.api.service.models(WORK);
      return cards.flatMap(({ id, backend }) => (backend === undefined ? [id] : []));
    },
  });
  const size = metrics.gauge('svc_cluster_nodes', 'Nodes of the cluster that are not gone.').with();
  const age = metrics.gauge('svc_cluster_map_age_seconds', 'Time since this node last read the map of the cluster.').with();
  const epoch = metrics.gauge('svc_cluster_epoch', 'The epoch in which this node leads; 0 while another one does.').with();
  metrics.onCollect(() => {
    size.set(member.map.size);
    age.set(member.map.age_seconds);
    epoch.set(member.epoch ?? 0);
  });
  return {
    api: member,
    routes: clusterRoutes(member),
    start: () => member.start(),
    stop: () => member.stop(),
    health: () => ({ state: { map: member.map, leads: member.epoch !== undefined } satisfies ClusterHealth, reasons: [] }),
    ready: () => member.notReady(),
  };
}
