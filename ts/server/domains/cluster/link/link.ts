/** The links between this node and the others of its database: whom it trusts, who answers, and what it answers itself. */

import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { formatListenAddress, parseListenAddress } from '../../../platform/config/listen-address.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Node } from '../../../platform/node/node.ts';
import { Repeater } from '../../../platform/repeater.ts';
import type { InferenceApi, InferenceService } from '../../inference/index.ts';
import type { Controller } from '../join/membership.ts';
import type { NodeSide } from '../node-side.ts';
import type { NodeEntry } from '../node-store.ts';
import type { NodeMap } from '../protocol/node-map.ts';
import { Renewal } from '../protocol/renewal.ts';
import { Trust } from '../protocol/trust.ts';
import { AWAY_HEADER, WIRE_HEADER, WIRE_VERSION } from '../protocol/wire-version.ts';
import type { CertificateRow } from '../tables.ts';
import { FORWARD_PATH, ForwardServer, type NodeFront } from './forward-server.ts';
import { Forwarder } from './forwarder.ts';
import { JOIN_PATH, LinkListener, type LinkRequest } from './link-listener.ts';
import { MODEL_FILE_PATH, ModelFileServer } from './model-files.ts';
import { certificateRow, type NodeCertificate, openNextCertificate, takeNextCertificate } from './node-certificate.ts';
import { Peer, type PeerFacts, Peers } from './peers.ts';
import { RemoteBackend, type RemoteObserver } from './remote-backend.ts';
import { PROBE_PATH, WorkServer } from './work-server.ts';

interface LinkParts {
  readonly node: Node;
  readonly log: Log;
  /** HOST:PORT of the listener. */
  readonly listen: string;
  /** The setting `cluster.address`; empty: the node's side or the listener says it. */
  readonly address: string;
  /** Nodes that tell nothing for so long are gone, and certificates that were not read for so long are trusted no more. */
  readonly entryMs: number;
  readonly nodeMap: NodeMap;
  /** Undefined while the module is off. */
  models(): InferenceService | undefined;
  modelFiles(): InferenceApi['modelFiles'] | undefined;
  readonly observer: RemoteObserver;
  /** This node as its clients meet it. */
  front(): NodeFront | undefined;
  onForwarded(outcome: string): void;
  /** What others are told: this node judges nobody now. */
  lacksDatabase(): boolean;
  /** Unix milliseconds, by which certificates are renewed. */
  now(): number;
  /** Nothing begins before each of the others was asked once: one of them may have taken the place of this one. */
  readonly asksFirst: boolean;
}

/** How soon a node that is removed is refused, and another one is known. */
const TICK_MS = 500;
/** An answer without news says so often that it goes on, and is given up after the other. */
const ALIVE_MS = 2_000;
const IDLE_MS = 8_000;
const DRAIN_MS = 10_000;

export class ClusterLink {
  readonly #parts: LinkParts;
  /** Given by start(). */
  #side!: NodeSide;
  readonly #peers = new Peers();
  readonly #listener: LinkListener;
  readonly #work: WorkServer;
  readonly #files: ModelFileServer;
  readonly #backend: RemoteBackend;
  readonly #forwards: ForwardServer;
  readonly forwarder: Forwarder;
  readonly #repeater: Repeater;
  /** Asks the others how they are, also while the list of them cannot be read. */
  readonly #prober: Repeater;
  #stopped = new AbortController();
  #certificate: NodeCertificate | undefined;
  readonly #renewal: Renewal<NodeCertificate>;
  readonly #trust: Trust<CertificateRow>;
  #trusted = '';
  #distrust: NodeJS.Timeout | undefined;
  /** Fingerprint of the certificate by which the others were met. */
  #metAs = '';
  #port = 0;
  #removeBackend: (() => void) | undefined;
  /** Ids of nodes that joined with a token. */
  #members: ReadonlySet<string> = new Set();
  /** Those of them that may have a copy of the data, and be the primary one day. */
  #standbys: ReadonlySet<string> = new Set();
  readonly #asked = new Set<Peer>();
  /** Those that go on with what they answer, and get nothing new: their nodes moved, or have another certificate. */
  #retired: readonly Peer[] = [];
  readonly #handlers = new Map<string, (request: LinkRequest) => Promise<void>>();
  #onTrust: (nodes: readonly string[]) => void = () => undefined;

  constructor(parts: LinkParts) {
    const { log, node, models } = parts;
    this.#parts = parts;
    this.#trust = new Trust({ now: () => performance.now(), lastsMs: parts.entryMs });
    const folder = () => join(node.dataDir, 'cluster');
    this.#renewal = new Renewal({
      now: () => parts.now(),
      next: () => openNextCertificate(folder(), node.id, parts.now()),
      register: (certificate) => this.#register(certificate),
      take: () => takeNextCertificate(folder()),
    });
    this.#work = new WorkServer({ models, state: () => this.#side.state(), nodeId: () => node.id, log, idleMs: ALIVE_MS });
    this.#listener = new LinkListener({
      log,
      takesTokens: () => !this.#side.isMember,
      isCurrent: () => this.#trust.isCurrent,
      answer: (request) => this.#answer(request),
    });
    this.#files = new ModelFileServer(parts.modelFiles);
    this.#backend = new RemoteBackend(this.#peers, parts.observer);
    this.#forwards = new ForwardServer(parts.front);
    this.forwarder = new Forwarder({
      peers: this.#peers,
      nodeId: () => node.id,
      isMember: () => this.isMember,
      ownPath: () => `/api/v1/cluster/storage/${node.id}/promote`,
      front: () => parts.front(),
      onEnd: parts.onForwarded,
    });
    this.#repeater = new Repeater({
      intervalMs: TICK_MS,
      run: () => this.#tick(),
      onError: (error) => log.warn('the links to other nodes were not brought up to date', { error: String(error) }),
    });
    this.#prober = new Repeater({
      intervalMs: TICK_MS,
      run: async () => {
        for (const peer of [...this.#peers.all, ...this.#retired]) void this.#ask(peer);
      },
      onError: () => undefined,
    });
  }

  /** The address by which the others reach this node, once it listens. */
  get address(): string {
    const { listen } = this.#parts;
    const address = this.#parts.address || this.#side?.address;
    if (address !== undefined) return address;
    const { host } = parseListenAddress(listen);
    return formatListenAddress({ host: isAny(host) ? hostname() : host, port: this.#port });
  }

  /** The certificate that it shows, once it listens. */
  get certificate(): NodeCertificate {
    return this.#certificate as NodeCertificate;
  }

  /** The other nodes. */
  get peers(): readonly Peer[] {
    return this.#peers.all;
  }

  /** SHA-256 of the certificate that it shows. */
  get fingerprint(): string {
    return (this.#certificate as NodeCertificate).fingerprint;
  }

  get running(): { answered: number; peers: number } {
    return { answered: this.#work.load.nRunning, peers: this.#peers.all.filter(({ isAnswering }) => isAnswering).length };
  }

  /** Known once the links open; a node without a side answers nobody. */
  get isMember(): boolean {
    return this.#side?.isMember === true;
  }

  /** Answers controllers at a path of its own, until the links close. */
  answerAt(path: string, handle: (request: LinkRequest) => Promise<void>): void {
    this.#handlers.set(path, handle);
  }

  /** Certificates of these nodes are trusted from now on, and of no others: their ids are reported at each change. */
  onTrust(listener: (nodes: readonly string[]) => void): void {
    this.#onTrust = listener;
  }

  /** It did not answer when it was last asked. */
  isSilent(id: string): boolean {
    return this.#peers.all.some(({ facts, isSilent }) => facts.id === id && isSilent);
  }

  async start(certificate: NodeCertificate, side: NodeSide): Promise<void> {
    const { listen, log } = this.#parts;
    this.#stopped = new AbortController();
    this.#certificate = certificate;
    this.#side = side;
    const first = async (work: Promise<void>): Promise<void> => {
      if (!side.isMember) return await work;
      // A member begins without its controllers, and finds them later.
      await work.catch((error: unknown) => log.warn('no controller of the cluster answers', { error: String(error) }));
    };
    await first(this.#register(this.#certificate));
    this.#port = await this.#listener.open(parseListenAddress(listen), this.#certificate);
    log.info('other nodes of the cluster are answered', { address: this.address });
    await first(this.#tick());
    if (this.#parts.asksFirst) await Promise.all(this.#peers.all.map((peer) => this.#ask(peer)));
    this.#repeater.start();
    this.#prober.start();
  }

  async stop(): Promise<void> {
    this.#removeBackend?.();
    this.#removeBackend = undefined;
    await Promise.all([this.#repeater.stop(), this.#prober.stop()]);
    clearTimeout(this.#distrust);
    this.#stopped.abort();
    await this.#listener.close(DRAIN_MS);
    this.#forwards.close();
    await this.forwarder.close();
    await this.#closeAll();
    this.#trusted = '';
    this.#handlers.clear();
    this.#onTrust = () => undefined;
  }

  /** Reads the list of nodes at once. */
  reread(): void {
    this.#repeater.wake();
  }

  async #answer(request: LinkRequest): Promise<void> {
    const { server } = this.#side;
    if (server !== undefined && request.path === JOIN_PATH) return await server.join(request);
    const isMember = this.#members.has(request.from);
    // Answers to clients of the other node have no such field.
    if (request.path !== FORWARD_PATH) {
      request.response.setHeader(WIRE_HEADER, WIRE_VERSION);
      if (this.#parts.lacksDatabase()) request.response.setHeader(AWAY_HEADER, '1');
    }
    if (this.#forwards.takes(request.path)) return await this.#forwards.answer(request, isMember, this.isMember);
    // A member lends its models: it has those of the cluster from whoever has them.
    if (request.path.startsWith(MODEL_FILE_PATH)) return await this.#files.answer(request);
    // A member that was taken over reaches none of these.
    const handle = isMember ? undefined : this.#handlers.get(request.path);
    if (handle !== undefined) return await handle(request);
    if (!isMember || request.path === PROBE_PATH) return await this.#work.answer(request);
    // A member is asked for answers of its models, and asks for none: its callers' requests are sent on whole.
    if (server !== undefined && request.path === '/registry') return await server.call(request);
    request.response.writeHead(403).end();
  }

  async #tick(): Promise<void> {
    const { models } = this.#parts;
    const { registry, isMember } = this.#side;
    const service = models();
    // A member has no callers of its own.
    if (service !== undefined && !isMember) this.#removeBackend ??= service.addBackend(this.#backend);
    await this.#renew();
    const askedAt = performance.now();
    const [certificates, entries] = await Promise.all([registry.certificates(), registry.nodes()]);
    const nodes = this.#parts.nodeMap.take(entries);
    this.#members = new Set(certificates.flatMap(({ node, is_member: joined }) => (joined === 1 ? [node] : [])));
    // A controller of before does not say it.
    const standbys = certificates.filter(({ is_member: joined, is_standby: may = 1 }) => joined === 1 && may === 1);
    this.#standbys = new Set(standbys.map(({ node }) => node));
    const heard = isMember ? certificates.filter(({ is_member: joined }) => joined === 0) : certificates;
    this.#trust.read(heard, askedAt);
    clearTimeout(this.#distrust);
    this.#distrust = setTimeout(() => void this.#trustNobody(), askedAt + this.#parts.entryMs - performance.now()).unref();
    this.#show();
    this.#meet(heard, nodes);
    await this.#side.follow({
      certificate: this.#certificate as NodeCertificate,
      peers: this.#peers.all.map(({ facts }) => facts),
      standbys: this.#standbysOf(certificates, nodes),
      hasMembers: this.#members.size > 0,
    });
    if (isMember) this.#parts.front()?.recheck();
  }

  /** Nobody can be removed while the list cannot be read, so none of it is believed for ever. */
  async #trustNobody(): Promise<void> {
    this.#parts.log.warn('the list of nodes was not read for too long: no other node is trusted until it is');
    this.#show();
    await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    const peers = [...this.#peers.all, ...this.#retired];
    this.#peers.forget();
    this.#retired = [];
    await Promise.all(peers.map((peer) => peer.close()));
  }

  #show(): void {
    const own = this.#certificate as NodeCertificate;
    const certificates = this.#trust.current;
    const wanted = [own.fingerprint, ...certificates.map(({ fingerprint }) => fingerprint)].join();
    if (wanted === this.#trusted) return;
    this.#trusted = wanted;
    // Whoever has this node's own key is a copy of it, and is told that the node is there.
    const itself = { node: this.#parts.node.id, fingerprint: own.fingerprint, pem: own.cert };
    this.#listener.trust([...certificates, itself], own);
    this.#onTrust([itself.node, ...certificates.map(({ node }) => node)]);
  }

  #standbysOf(certificates: readonly CertificateRow[], nodes: readonly NodeEntry[]): Controller[] {
    return nodes.flatMap((entry) => {
      const { id, address } = entry;
      const isOne = id !== this.#parts.node.id && this.#standbys.has(id) && modulesOf(entry).includes('data');
      const pems = certificates.filter(({ node: of }) => of === id).map(({ pem }) => pem);
      return isOne ? [{ id, address, certificates: pems }] : [];
    });
  }

  #meet(certificates: readonly CertificateRow[], nodes: readonly NodeEntry[]): void {
    const { node, entryMs } = this.#parts;
    const own = this.#certificate as NodeCertificate;
    const known = new Map(this.#peers.all.map((peer) => [`${this.#metAs} ${keyOf(peer.facts)}`, peer]));
    const before = new Map(this.#peers.all.map((peer) => [peer.facts.id, peer]));
    this.#metAs = own.fingerprint;
    const peers = nodes.flatMap((entry) => {
      const pems = certificates.filter(({ node: of }) => of === entry.id).map(({ pem }) => pem);
      if (entry.id === node.id || pems.length === 0) return [];
      const isReady = entry.draining === 0 && entry.ended === 0 && entry.seenMsAgo <= Math.max(entryMs, entry.heartbeat_ms);
      const facts: PeerFacts = {
        id: entry.id,
        name: entry.name,
        address: entry.address,
        isReady,
        isMember: this.#members.has(entry.id),
        isStandby: this.#standbys.has(entry.id) && modulesOf(entry).includes('data'),
        modules: modulesOf(entry),
        certificates: pems,
      };
      const key = `${own.fingerprint} ${keyOf(facts)}`;
      const found = known.get(key);
      known.delete(key);
      if (found !== undefined) return [Object.assign(found, { facts })];
      const peer = new Peer(facts, own, IDLE_MS);
      const earlier = before.get(facts.id);
      return [earlier?.facts.address === facts.address ? peer.succeed(earlier) : peer];
    });
    this.#peers.replace(peers);
    const trusted = new Set(certificates.map(({ node: of }) => of));
    const left = [...this.#retired, ...known.values()];
    this.#retired = left.filter(({ facts, isIdle }) => trusted.has(facts.id) && !isIdle);
    for (const peer of left) if (!this.#retired.includes(peer)) void peer.close();
  }

  async #ask(peer: Peer): Promise<void> {
    if (this.#asked.has(peer)) return;
    this.#asked.add(peer);
    const { isAnswering } = peer;
    const { id, name, address } = peer.facts;
    try {
      await peer.refresh(this.#stopped.signal);
      this.#side.hear(peer);
      if (!isAnswering) this.#parts.log.info('another node answers', { node: id, name, address });
    } catch (error) {
      if (isAnswering && !this.#stopped.signal.aborted)
        this.#parts.log.warn('another node does not answer', { node: id, name, address, error: String(error) });
    } finally {
      this.#asked.delete(peer);
      this.#peers.changed();
    }
  }

  async #renew(): Promise<void> {
    const next = await this.#renewal.run(this.#certificate as NodeCertificate);
    if (next === undefined) return;
    this.#certificate = next;
    this.#parts.log.info('the next certificate of this node is in use', { expires: new Date(next.expiresAt).toISOString() });
  }

  #register({ cert }: NodeCertificate): Promise<void> {
    const certificate = certificateRow(this.#parts.node.id, new X509Certificate(cert));
    return this.#side.registry.register({ ...certificate, is_member: 0, is_standby: 0 });
  }
}

/** A node that moves, or has another certificate, is met again. */
function keyOf({ id, address, certificates }: PeerFacts): string {
  return [id, address, ...certificates].join('\n');
}

function modulesOf({ modules }: NodeEntry): string[] {
  return JSON.parse(modules) as string[];
}

function isAny(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::';
}
