/** The other nodes of the cluster as this one knows them: their models, what they work on, and whether they answer. */
import { createHash } from 'node:crypto';
import { HttpClient, type HttpRequest } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import type { ModelCard } from '../../inference/index.ts';
import { decode, WIRE_VERSION } from './frames.ts';
import type { NodeCertificate } from './node-certificate.ts';
import type { NodeReport } from './work.ts';

/** Where a node is reached, and what it is trusted by. */
export interface PeerFacts {
  readonly id: string;
  readonly name: string;
  /** HOST:PORT of its link. */
  readonly address: string;
  /** It takes new work, as it tells itself. */
  readonly isReady: boolean;
  /** It joined with a token, and has no database of the cluster. */
  readonly isMember: boolean;
  /** Names of the modules that run there. */
  readonly modules: readonly string[];
  /** PEM: the certificates that it has registered. */
  readonly certificates: readonly string[];
}

const MOST_REPORT_BYTES = 4 * 1024 * 1024;
/** A node that does not say how it is for so long gets nothing new until it does. */
const PROBE_MS = 3_000;
const LIMITS = { connectMs: 2_000, firstByteMs: 5_000 };
/** So many more answers may a node work on before the one that has the beginning of a chat is passed over. */
const AFFINITY_SLACK = 2;

export class Peer {
  facts: PeerFacts;
  /** It has answered when it was last asked. */
  isAnswering = false;
  /** It was asked how it is, and did not answer. */
  isSilent = false;
  cards: ReadonlyMap<string, ModelCard> = new Map();
  nReported = 0;
  /** Counts what this node has dispatched to it and not had the end of. */
  nDispatched = 0;
  /** Requests of clients that it answers for this node. */
  nForwarding = 0;
  readonly #client: HttpClient;
  readonly #idleMs: number;
  /** Ends the requests that it answers for this node's clients. */
  #lost = new AbortController();
  #heardAt = performance.now();

  constructor(facts: PeerFacts, own: NodeCertificate, idleMs: number) {
    this.facts = facts;
    this.#idleMs = idleMs;
    // The certificate is this node's alone, so its name says nothing more.
    const tls = {
      ca: [...facts.certificates],
      cert: own.cert,
      key: own.key,
      minVersion: 'TLSv1.3' as const,
      checkServerIdentity: () => undefined,
    };
    this.#client = new HttpClient({ ...LIMITS, idleMs, environment: {}, tls, keepAliveMs: 30_000 });
  }

  get load(): number {
    return Math.max(this.nDispatched, this.nReported);
  }

  get isIdle(): boolean {
    return this.nDispatched + this.nForwarding === 0;
  }

  ask(path: string, signal: AbortSignal, body?: string): Promise<HttpResponse> {
    const headers = { 'x-svc-wire': WIRE_VERSION };
    const url = new URL(`https://${this.facts.address}${path}`);
    return this.#client.request(url, { method: body === undefined ? 'GET' : 'POST', headers, body, signal });
  }

  /** Sends a client's request on. Its answer takes as long as it takes, unless the node itself gives no sign of life. */
  forward(path: string, request: HttpRequest & { signal: AbortSignal }): Promise<HttpResponse> {
    const headers = { ...request.headers, 'x-svc-wire': WIRE_VERSION };
    const url = new URL(`https://${this.facts.address}${path}`);
    const signal = AbortSignal.any([request.signal, this.#lost.signal]);
    return this.#client.request(url, { ...request, headers, signal, firstByteMs: 0, idleMs: 0 });
  }

  /** Asks the node how it is. Throws where it does not answer as a node does. */
  async refresh(signal: AbortSignal): Promise<void> {
    try {
      const response = await this.ask('/node', AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]));
      const bytes = await response.bytes(MOST_REPORT_BYTES);
      if (response.status !== 200) throw new Error(`the node answers ${response.status}`);
      const { id, cards, nRunning } = decode(bytes.toString()) as NodeReport;
      if (id !== this.facts.id || !Array.isArray(cards)) throw new Error('another node answers there');
      this.cards = new Map(cards.map((card) => [String(card.id), card]));
      this.nReported = Number(nRunning);
      this.isAnswering = true;
      this.isSilent = false;
      this.#heardAt = performance.now();
    } catch (error) {
      this.isAnswering = false;
      this.isSilent = true;
      if (performance.now() - this.#heardAt > this.#idleMs) this.#endForwards();
      throw error;
    }
  }

  #endForwards(): void {
    this.#lost.abort(new Error(`the node gave no sign of life for ${this.#idleMs / 1000} s`));
    this.#lost = new AbortController();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

export class Peers {
  #all: readonly Peer[] = [];
  #cards: readonly ModelCard[] | undefined;

  get all(): readonly Peer[] {
    return this.#all;
  }

  replace(peers: readonly Peer[]): void {
    this.#all = peers;
    this.#cards = undefined;
  }

  /** A peer has other models, or answers again, or no more. */
  changed(): void {
    this.#cards = undefined;
  }

  /** The models of nodes that take work, a card each. */
  cards(): readonly ModelCard[] {
    this.#cards ??= this.#merged();
    return this.#cards;
  }

  /**
   * The node that is asked for a model next: the least loaded one, or the one that had the chat before while it is hardly busier. Undefined: none is
   * left.
   */
  choose(model: string, conversation: string, tried: ReadonlySet<Peer>): Peer | undefined {
    const able = this.#able().filter((peer) => peer.cards.has(model) && !tried.has(peer));
    const least = Math.min(...able.map(({ load }) => load));
    const near = able.filter(({ load }) => load <= least + AFFINITY_SLACK);
    return near.toSorted((a, b) => weightOf(a, conversation).localeCompare(weightOf(b, conversation)))[0];
  }

  #able(): Peer[] {
    return this.#all.filter(({ facts, isAnswering }) => facts.isReady && isAnswering);
  }

  #merged(): ModelCard[] {
    const found = new Map<string, { card: ModelCard; nodes: string[] }>();
    for (const { cards, facts } of this.#able())
      for (const card of cards.values()) {
        const known = found.get(card.id);
        if (known === undefined) found.set(card.id, { card, nodes: [facts.name] });
        else known.nodes.push(facts.name);
      }
    return [...found.values()].map(({ card, nodes }) => ({ ...card, nodes }));
  }
}

/** Rendezvous hashing: a node that comes or goes moves its own chats alone. */
function weightOf({ facts }: Peer, conversation: string): string {
  return createHash('sha1').update(`${facts.id}\0${conversation}`).digest('hex');
}
