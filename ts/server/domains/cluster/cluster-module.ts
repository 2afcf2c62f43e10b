/** Wires the cluster module. */
import { hostname } from 'node:os';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { inference, isOwn } from '../inference/index.ts';
import { ClusterLink } from './link/link.ts';
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
  const store = storage.dialect === 'sqlite' ? undefined : new NodeStore(storage);
  const listen = settings['cluster.listen'];
  const address = settings['cluster.address'];
  const entryMs = settings['cluster.entry_seconds'] * 1000;
  const forwards = metrics.counter(
    'svc_cluster_forwards_total',
    'Answers that other nodes made for this one, by how they ended.',
    ['outcome'],
  );
  const retries = metrics
    .counter('svc_cluster_forward_retries_total', 'Times that such an answer began again at another node.')
    .with();
  const service = () => (models.isRunning ? models.api.service : undefined);
  const link =
    store === undefined || listen === ''
      ? undefined
      : new ClusterLink({
          store,
          node,
          log,
          listen,
          address,
          entryMs,
          models: service,
          onEnd: (outcome, nAttempts) => {
            forwards.with({ outcome }).add(1);
            if (nAttempts > 1) retries.add(nAttempts - 1);
          },
        });
  const member = new Member({
    store,
    node,
    log,
    address: () => link?.address ?? (address === '' ? hostname() : address),
    heartbeatMs: settings['cluster.heartbeat_seconds'] * 1000,
    entryMs,
    orderMs: ORDER_MS,
    models: async () => ((await service()?.models(WORK)) ?? []).flatMap((card) => (isOwn(card) ? [card.id] : [])),
  });
  const size = metrics.gauge('svc_cluster_nodes', 'Nodes of the cluster that are not gone.').with();
  const age = metrics.gauge('svc_cluster_map_age_seconds', 'Time since this node last read the map of the cluster.').with();
  const epoch = metrics.gauge('svc_cluster_epoch', 'The epoch in which this node leads; 0 while another one does.').with();
  const answered = metrics.gauge('svc_cluster_running', 'Answers that this node makes for others now.').with();
  metrics.onCollect(() => {
    size.set(member.map.size);
    age.set(member.map.age_seconds);
    epoch.set(member.epoch ?? 0);
    answered.set(link?.running.answered ?? 0);
  });
  return {
    api: member,
    routes: clusterRoutes(member),
    corsHeaders: { accepted: [], exposed: ['x-svc-node'] },
    start: async () => {
      if (link === undefined && listen !== '')
        log.warn('cluster.listen is left alone: a node on SQLite shares its models with none');
      await link?.start();
      await member.start();
    },
    stop: async () => {
      await member.stop();
      await link?.stop();
    },
    health: () => ({ state: { map: member.map, leads: member.epoch !== undefined } satisfies ClusterHealth, reasons: [] }),
    ready: () => member.notReady(),
  };
}
