/** Wires the cluster module. */
import { readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseListenAddress } from '../../platform/config/listen-address.ts';
import { decideAside } from '../../platform/files/staged-swap.ts';
import type { CredentialSource } from '../../platform/http/authenticator.ts';
import type { Forwarding } from '../../platform/http/forwarding.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { StartError } from '../../platform/module/start-error.ts';
import { StorageError } from '../../platform/storage/index.ts';
import { inference, isOwn, type NodeFiles } from '../inference/index.ts';
import { markCopy, requireOriginal, requireSilence } from './join/copy-guard.ts';
import { Joining } from './join/joining.ts';
import { type Controller, hasLeft, type Membership, membershipText, readMembership, writeMembership } from './join/membership.ts';
import { RegistryClient } from './join/registry-client.ts';
import { RegistryServer } from './join/registry-server.ts';
import type { NodeFront } from './link/forward-server.ts';
import { ClusterLink } from './link/link.ts';
import { nodeFiles } from './link/model-files.ts';
import { type NodeCertificate, openNodeCertificate } from './link/node-certificate.ts';
import type { Peer, PeerFacts } from './link/peers.ts';
import type { StateReport } from './link/work.ts';
import { Member } from './member.ts';
import { NodeStore, type Registry } from './node-store.ts';
import { NodeMap } from './protocol/node-map.ts';
import { REPLICA_PATH } from './replica/peer-files.ts';
import { Primary } from './replica/primary.ts';
import { Replicas } from './replica/replicas.ts';
import type { Replication } from './replica/replication.ts';
import { MEMBER_FILE, PROMOTED_FILE, Standby } from './replica/standby.ts';
import { clusterRoutes } from './routes.ts';
import type { clusterSettings } from './settings.ts';
import { type AttachServer, SplitModels } from './split/split-models.ts';
import { SPLIT_PATH, TensorHost } from './split/tensor-host.ts';
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
  /** It asks for credentials whether it has accounts or not: it is a member of a cluster, or was one. */
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
  map: Member['map'];
  leads: boolean;
}

export function createCluster(context: ModuleContext<typeof clusterSettings>): Module<ClusterApi> {
  const { settings, node, log, metrics } = context;
  const storage = context.storage.access<ClusterTables>();
  const models = context.useOptional(inference);
  const listen = settings['cluster.listen'];
  const isShared = storage.dialect !== 'sqlite';
  const store = isShared || listen !== '' ? new NodeStore(storage) : undefined;
  let membership: Membership | undefined;
  let wasMember = false;
  let client: RegistryClient | undefined;
  const registry = (): Registry | undefined => client ?? store;
  const controller = store && new RegistryServer({ store, log });
  const address = settings['cluster.address'];
  const entryMs = settings['cluster.entry_seconds'] * 1000;
  const nodeMap = new NodeMap({ ownId: () => node.id, entryMs });
  const forwards = metrics.counter(
    'svc_cluster_forwards_total',
    'Answers that other nodes made for this one, by how they ended.',
    ['outcome'],
  );
  const retries = metrics
    .counter('svc_cluster_forward_retries_total', 'Times that such an answer began again at another node.')
    .with();
  const saved = metrics
    .counter('svc_cluster_prefix_tokens_saved_total', 'Tokens of prompts that other nodes had in their caches.')
    .with();
  const sentOn = metrics.counter(
    'svc_cluster_requests_sent_on_total',
    'Requests of clients that other nodes answered for this one, by how they ended.',
    ['outcome'],
  );
  let front: NodeFront | undefined;
  let attach: AttachServer | undefined;
  let tensorHost: TensorHost | undefined;
  let split: SplitModels | undefined;
  let replication: Replication | undefined;
  let primary: Primary | undefined;
  let standby: Standby | undefined;
  /** How often a standby took the place of a primary, as this node knows. */
  let promotions = 0;
  let fenced: Promise<string> | undefined;
  const service = () => (models.isRunning ? models.api.service : undefined);
  const link =
    store === undefined || listen === ''
      ? undefined
      : new ClusterLink({
          store: () => registry() as Registry,
          controller: () => (membership === undefined ? controller : undefined),
          onChange: async (certificate, peers, standbys) => {
            if (client === undefined) return;
            await follow(certificate, peers, standbys);
          },
          node,
          log,
          listen,
          address: () => address || (membership?.address ?? ''),
          entryMs,
          nodeMap,
          models: service,
          modelFiles: () => (models.isRunning ? models.api.modelFiles : undefined),
          front: () => front,
          state: () => ownState(),
          onReport: (peer) => hear(peer),
          asksFirst: !isShared,
          handlerOf: (path) =>
            (path === REPLICA_PATH && standby ? (request) => (standby as Standby).answer(request) : undefined) ??
            (path === SPLIT_PATH ? tensorHost && ((request) => (tensorHost as TensorHost).answer(request)) : undefined),
          onTrust: (fingerprints) => tensorHost?.trust(fingerprints),
          onForwarded: (outcome) => sentOn.with({ outcome }).add(1),
          observer: {
            onEnd: (outcome, nAttempts) => {
              forwards.with({ outcome }).add(1);
              if (nAttempts > 1) retries.add(nAttempts - 1);
            },
            onSaved: (nTokens) => saved.add(nTokens),
          },
        });
  const opened = Promise.withResolvers<void>();
  /** A member keeps up with its controllers, which come, go and renew their certificates. */
  let followed = '';
  const follow = async (
    certificate: NodeCertificate,
    peers: readonly PeerFacts[],
    standbys: readonly Controller[],
  ): Promise<void> => {
    const controllers = peers.map(({ id, address: at, certificates }) => ({ id, address: at, certificates }));
    const now = JSON.stringify([certificate.fingerprint, controllers, standbys]);
    if (controllers.length === 0 || now === followed || joining.hasLeft) return;
    followed = now;
    membership = { ...membership, controllers, standbys };
    await writeMembership(node.dataDir, membership);
    await client?.follow([...controllers, ...standbys], certificate);
  };
  const ownState = async (): Promise<StateReport> => {
    const replica = standby?.state;
    if (membership !== undefined || isShared || store === undefined) return replica === undefined ? {} : { replica };
    const [{ epoch, promotions: raised }, commit] = await Promise.all([store.state(), context.storage.commitNumber()]);
    return { primary: { commit, epoch, promotions: raised } };
  };
  const hear = (peer: Peer): void => {
    const { primary: told } = peer.said;
    if (told === undefined) return;
    standby?.hear(told.commit);
    // Others have no copy of the data to go on with.
    if (membership === undefined && !isShared && peer.facts.isStandby === true && told.promotions > promotions)
      fence(peer, told.epoch);
  };
  /** A standby took this node's place: it writes nothing more, keeps what it has apart, and works for the other from its next start on. */
  const fence = ({ facts: { id, name, address: at, certificates } }: Peer, since: number): void => {
    if (fenced !== undefined || replication === undefined) return;
    const sentence = `${name} took the place of this node as the primary, in epoch ${since}.`;
    const remedy = 'Ask that node: this one is about to start again as its standby.';
    context.storage.fence(new StorageError('storage_unavailable', sentence, { remedy }));
    const to = `fenced-${since}`;
    log.error('another node took the place of this one, whose state is kept apart', { node: id, epoch: since, folder: to });
    const file = membershipText({ controllers: [{ id, address: at, certificates }] });
    fenced = decideAside(node.dataDir, { to, names: replication.names }, { [MEMBER_FILE]: file }).then(
      () => {
        node.restart('another node took its place as the primary');
        return sentence;
      },
      (error: unknown) => {
        log.error('the state of this node could not be kept apart', { error: String(error) });
        return sentence;
      },
    );
  };
  const replicas = new Replicas({
    storage,
    nodeId: () => node.id,
    primary: () => primary,
    standby: () => standby,
    commit: () => context.storage.commitNumber(),
  });
  /** Copies of a node on SQLite: it has standbys, or is one. */
  const beginReplicas = async (links: ClusterLink): Promise<void> => {
    if (isShared || replication === undefined) return;
    if (membership === undefined) {
      primary = new Primary({
        log,
        replication,
        syncMs: settings['cluster.sync_seconds'] * 1000,
        commit: () => context.storage.commitNumber(),
        roles: () => node.roles().flatMap(({ role, enabled }) => (enabled ? [role] : [])),
        standbys: () => links.peers.filter(({ facts }) => facts.isStandby === true),
      });
      primary.start();
      return;
    }
    standby = new Standby({ dataDir: node.dataDir, log, replication, restart: (reason) => node.restart(reason) });
    await standby.start();
  };
  /** The first start as the primary that this node was not before. */
  const finishPromotion = async (own: NodeStore): Promise<void> => {
    const file = join(node.dataDir, PROMOTED_FILE);
    const wasPromoted = await readFile(file).then(
      () => true,
      () => false,
    );
    if (!wasPromoted) return;
    await own.open();
    await own.promote(node.id);
    await rm(file);
    log.warn('this node took the place of the primary', { epoch: (await own.state()).epoch });
  };
  const joining = new Joining({
    node,
    log,
    link,
    store,
    isShared,
    membership: () => membership,
    registry: () => client,
  });
  const member = new Member({
    get store() {
      return registry();
    },
    get isController() {
      return client === undefined;
    },
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
  /** Serves the split models of this node, and lends it to those of others. */
  const begin = (links: ClusterLink): void => {
    if (!models.isRunning) return;
    const { installRoot } = node;
    const { programs, port, models: served } = models.api.split;
    const certificate = () => links.certificate;
    const { host } = parseListenAddress(listen);
    tensorHost = new TensorHost({ log, programs, port, installRoot, host, certificate });
    if (attach === undefined || served.length === 0) return;
    split = new SplitModels({
      log,
      models: served,
      attach,
      nodeId: () => node.id,
      nodeName: node.name,
      tensorHost,
      programs,
      installRoot,
      address: () => links.address,
      certificate,
      peers: () => links.peers,
    });
    split.start();
  };
  const lag = metrics.gauge('svc_cluster_replica_lag_seconds', 'Age of the newest snapshot that a standby has; 0: it has all.', [
    'node',
  ]);
  const size = metrics.gauge('svc_cluster_nodes', 'Nodes of the cluster that are not gone.').with();
  const age = metrics.gauge('svc_cluster_map_age_seconds', 'Time since this node last read the map of the cluster.').with();
  const epoch = metrics.gauge('svc_cluster_epoch', 'The epoch in which this node leads; 0 while another one does.').with();
  const answered = metrics.gauge('svc_cluster_running', 'Answers that this node makes for others now.').with();
  metrics.onCollect(() => {
    size.set(member.map.size);
    age.set(member.map.age_seconds);
    for (const [of, seconds] of primary?.lags() ?? []) lag.with({ node: of }).set(seconds);
    epoch.set(member.epoch ?? 0);
    answered.set(link?.running.answered ?? 0);
  });
  return {
    api: {
      get epoch() {
        return member.epoch;
      },
      get isMember() {
        return membership !== undefined;
      },
      get enforces() {
        return membership !== undefined || wasMember;
      },
      forwarding: link?.forwarder,
      modelFiles: link && nodeFiles(() => link.peers, opened.promise),
      authenticate: (source) => (link as ClusterLink).forwarder.authenticate(source),
      usesDatabase: async (id) =>
        isShared && (await member.topology()).nodes.some((one) => one.id === id && one.state !== 'gone'),
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
    routes: clusterRoutes(node, member, joining, replicas),
    corsHeaders: { accepted: [], exposed: ['x-svc-node'] },
    start: async () => {
      if (store !== undefined) await requireOriginal(node.dataDir);
      membership = await readMembership(node.dataDir);
      wasMember = await hasLeft(node.dataDir);
      if (link === undefined && models.isRunning && models.api.split.models.length > 0)
        throw new StartError(
          'split_without_link',
          'inference.split names other nodes, and this node has no cluster.listen to reach them',
          'set cluster.listen, or leave inference.split out',
        );
      if (membership !== undefined && (link === undefined || isShared))
        throw new StartError(
          'member_without_link',
          'this node joined a cluster, and has no cluster.listen or a PostgreSQL database',
          'set cluster.listen and leave database.url out, or move data_dir/cluster/member.json away to leave the cluster',
        );
      if (link !== undefined) {
        const certificate = await openNodeCertificate(join(node.dataDir, 'cluster'), node.id);
        if (membership === undefined && !isShared && store !== undefined) {
          await finishPromotion(store);
          await store.open();
          await context.storage.countCommits();
          promotions = (await store.state()).promotions;
        }
        if (membership !== undefined)
          client = new RegistryClient([...membership.controllers, ...(membership.standbys ?? [])], certificate);
        await link.start(certificate);
        opened.resolve();
        if (fenced !== undefined)
          throw new StartError(
            'primary_replaced',
            await fenced,
            'start it again, as a service manager does: it is the standby then',
          );
        const known = await registry()
          ?.nodes()
          .catch(() => []);
        await requireSilence(
          known?.find(({ id }) => id === node.id),
          link.address,
          certificate,
        );
        begin(link);
        await beginReplicas(link);
      }
      await member.start();
    },
    stop: async () => {
      await primary?.stop();
      await standby?.stop();
      primary = undefined;
      standby = undefined;
      await split?.stop();
      await tensorHost?.stop();
      await member.stop();
      await link?.stop();
      await client?.close();
      client = undefined;
    },
    health: () => ({
      state: { map: member.map, leads: member.epoch !== undefined } satisfies ClusterHealth,
      reasons: primary?.reasons() ?? [],
    }),
    ready: () => member.notReady(),
  };
}
