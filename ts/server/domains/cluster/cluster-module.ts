/** Wires the cluster module. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { CredentialSource } from '../../platform/http/authenticator.ts';
import type { Forwarding } from '../../platform/http/forwarding.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { StartError } from '../../platform/module/start-error.ts';
import { inference, isOwn, type NodeFiles } from '../inference/index.ts';
import { ClusterMetrics } from './cluster-metrics.ts';
import { ClusterNode } from './cluster-node.ts';
import { ControllerSide } from './controller-side.ts';
import { markCopy, requireOriginal, requireSilence } from './join/copy-guard.ts';
import { Joining } from './join/joining.ts';
import { enforcesForGood, readMembership } from './join/membership.ts';
import type { NodeFront } from './link/forward-server.ts';
import { ClusterLink } from './link/link.ts';
import { nodeFiles } from './link/model-files.ts';
import { type NodeCertificate, openNodeCertificate } from './link/node-certificate.ts';
import { MemberSide } from './member-side.ts';
import type { NodeSide } from './node-side.ts';
import { NodeStore, REMOVALS } from './node-store.ts';
import { NodeMap } from './protocol/node-map.ts';
import type { Replication } from './replica/replication.ts';
import { clusterRoutes } from './routes.ts';
import type { clusterSettings } from './settings.ts';
import type { AttachServer } from './split/split-models.ts';
import { Splitting } from './split/splitting.ts';
import type { ClusterTables } from './tables.ts';

const ORDER_MS = 15_000;
/** Three times as long as nodes take to read the list again. */
const SPREAD_MS = 1_500;
const WORK = { kind: 'work' } as const;

/** The interface for modules of higher tiers. */
export interface ClusterApi {
  /** The epoch in which this node leads; undefined: another one does. */
  readonly epoch: number | undefined;
  /** The node joined with a token: it works for the cluster, and has no callers of its own. */
  readonly isMember: boolean;
  /** Sends requests on that other nodes answer; undefined: there are no links. */
  readonly forwarding: Forwarding | undefined;
  /** The model files of the other nodes; undefined: there are no links. */
  readonly modelFiles: NodeFiles | undefined;
  /** It asks for credentials whether it has accounts or not: it is a member of a cluster, has members, or was one of these. */
  readonly enforces: boolean;
  /** Judges a credential where the accounts are. Throws HttpError, 503 where no controller answers. */
  authenticate(source: CredentialSource): Promise<Principal>;
  /** Whether another node of that id works on the database of this one, as far as its heartbeats say. */
  usesDatabase(id: string): Promise<boolean>;
  /** Lets other nodes reach this one as its clients do; called before the start. */
  connect(front: NodeFront): void;
  /** How servers of split models become models of this node; before the start. */
  connectModels(attach: AttachServer): void;
  /** How snapshots are made and laid out; before the start. */
  connectReplication(replication: Replication): void;
}

/** The part of /health. */
export interface ClusterHealth {
  map: ClusterNode['map'];
  leads: boolean;
}

/** Tests put others in their place. */
export interface ClusterOverrides {
  /** Unix milliseconds, by which certificates are made and renewed. */
  now?(): number;
}

export function createCluster(
  context: ModuleContext<typeof clusterSettings>,
  { now = Date.now }: ClusterOverrides = {},
): Module<ClusterApi> {
  const { settings, node, log, metrics, storage } = context;
  const access = storage.access<ClusterTables>();
  const models = context.useOptional(inference);
  const listen = settings['cluster.listen'];
  const isShared = access.dialect !== 'sqlite';
  const store = isShared || listen !== '' ? new NodeStore(access, () => link?.reread()) : undefined;
  const address = settings['cluster.address'];
  const entryMs = settings['cluster.entry_seconds'] * 1000;
  const nodeMap = new NodeMap({ ownId: () => node.id, entryMs });
  const service = () => (models.isRunning ? models.api.service : undefined);
  /** Known from the start on; undefined where the node is alone. */
  let side: ControllerSide | MemberSide | undefined;
  let enforces = false;
  let front: NodeFront | undefined;
  let attach: AttachServer | undefined;
  let replication: Replication | undefined;
  let splitting: Splitting | undefined;
  const opened = Promise.withResolvers<void>();
  const figures = new ClusterMetrics(metrics, () => ({
    nNodes: self.map.size,
    mapAgeSeconds: self.map.age_seconds,
    epoch: self.epoch,
    nAnswered: link?.running.answered ?? 0,
    lags: side?.lags() ?? [],
  }));
  const link =
    listen === ''
      ? undefined
      : new ClusterLink({
          node,
          log,
          listen,
          address,
          entryMs,
          nodeMap,
          models: service,
          modelFiles: () => (models.isRunning ? models.api.modelFiles : undefined),
          observer: figures.observer,
          front: () => front,
          onForwarded: figures.countForward,
          asksFirst: !isShared,
          lacksDatabase: () => storage.notReady() !== undefined,
          now,
        });
  // Without news of it a removal is seen with the next reading of the list.
  const removals =
    link &&
    storage.listen(REMOVALS, {
      onListening: async () => link.reread(),
      onNotification: () => link.reread(),
      onLost: () => undefined,
    });
  const self = new ClusterNode({
    isAlone: store === undefined,
    node,
    log,
    address: () => link?.address ?? (address === '' ? hostname() : address),
    heartbeatMs: settings['cluster.heartbeat_seconds'] * 1000,
    entryMs,
    orderMs: ORDER_MS,
    spreadMs: link === undefined ? 0 : SPREAD_MS,
    nodeMap,
    isSilent: (id) => link?.isSilent(id) === true,
    onTwin: () => {
      log.error('this data folder is a copy of that of a node that runs: this process ends, and does not start again');
      void markCopy(node.dataDir).finally(() => node.restart('another process is the same node'));
    },
    models: async () => ((await service()?.models(WORK)) ?? []).flatMap((card) => (isOwn(card) ? [card.id] : [])),
  });
  const member = () => (side?.isMember ? side : undefined);
  const joining = new Joining({ node, log, link, store, isShared, member });

  const openSide = async (certificate: NodeCertificate | undefined) => {
    const membership = await readMembership(node.dataDir);
    enforces = await enforcesForGood(node.dataDir);
    if (membership !== undefined) {
      if (certificate === undefined || isShared) throw memberWithoutLink();
      return new MemberSide({ node, log, membership, certificate, replication });
    }
    const syncMs = settings['cluster.sync_seconds'] * 1000;
    return store && new ControllerSide({ node, log, store, storage, replication, syncMs, enforces });
  };
  const openLinks = async (links: ClusterLink, certificate: NodeCertificate, own: NodeSide): Promise<void> => {
    await own.open();
    await links.start(certificate, own);
    removals?.start();
    opened.resolve();
    const known = await own.registry.nodes().catch(() => []);
    const told = known.find(({ id }) => id === node.id);
    await requireSilence(told, links.address, certificate);
    if (models.isRunning) splitting = new Splitting({ log, node, links, split: models.api.split, attach, listen });
    await own.start(links);
  };
  return {
    api: {
      get epoch() {
        return self.epoch;
      },
      get isMember() {
        return side?.isMember === true;
      },
      get enforces() {
        return side?.enforces ?? enforces;
      },
      forwarding: link?.forwarder,
      modelFiles: link && nodeFiles(() => link.peers, opened.promise),
      authenticate: (source) => (link as ClusterLink).forwarder.authenticate(source),
      usesDatabase: async (id) => isShared && (await self.topology()).nodes.some((one) => one.id === id && one.state !== 'gone'),
      connect: (given) => {
        front = given;
      },
      connectModels: (given) => {
        attach = given;
      },
      connectReplication: (given) => {
        replication = given;
      },
    },
    routes: clusterRoutes(node, self, joining, () => side),
    corsHeaders: { accepted: [], exposed: ['x-svc-node'] },
    start: async () => {
      if (store !== undefined) await requireOriginal(node.dataDir);
      if (link === undefined && models.isRunning && models.api.split.models.length > 0) throw splitWithoutLink();
      const certificate = link && (await openNodeCertificate(join(node.dataDir, 'cluster'), node.id, now()));
      side = await openSide(certificate);
      if (link !== undefined && certificate !== undefined && side !== undefined) await openLinks(link, certificate, side);
      await self.start(side);
    },
    stop: async () => {
      await side?.stop();
      await splitting?.stop();
      await self.stop();
      await removals?.stop();
      await link?.stop();
      await side?.close();
    },
    health: () => ({
      state: { map: self.map, leads: self.epoch !== undefined } satisfies ClusterHealth,
      reasons: side?.reasons() ?? [],
    }),
    ready: () => self.notReady(),
  };
}

function splitWithoutLink(): StartError {
  return new StartError(
    'split_without_link',
    'inference.split names other nodes, and this node has no cluster.listen to reach them',
    'set cluster.listen, or leave inference.split out',
  );
}

function memberWithoutLink(): StartError {
  return new StartError(
    'member_without_link',
    'this node joined a cluster, and has no cluster.listen or a PostgreSQL database',
    'set cluster.listen and leave database.url out, or move data_dir/cluster/member.json away to leave the cluster',
  );
}
