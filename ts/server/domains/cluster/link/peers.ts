/** The other nodes of the cluster as this one knows them: their models, what they work on, and whether they answer. */
import { createHash } from 'node:crypto';
import { linkSignals } from '../../../platform/linked-signal.ts';
import { HttpClient, type HttpRequest } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import type { ModelCard } from '../../inference/index.ts';
import { clusterErrors } from '../errors.ts';
import { AWAY_HEADER, LINK_HEADER, versionFor, WIRE_BEFORE, WIRE_HEADER } from '../protocol/wire-version.ts';
import { readReport } from './bodies.ts';
import type { NodeCertificate } from './node-certificate.ts';
import { BLOCK_TOKENS, PrefixDigest } from './prefixes.ts';
import { checkReport } from './told-report.ts';
import { LOAD_HEADER, type NodeLoad, type ReportedCard, readLoad, type StateReport } from './work.ts';

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
  /** A member that an administrator gave the role data, and that has it: it gets copies of the data, and may take this node's place. */
  readonly isStandby?: boolean;
  /** Names of the modules that run there. */
  readonly modules: readonly string[];
  /** PEM: the certificates that it has registered. */
  readonly certificates: readonly string[];
}

const MOST_REPORT_BYTES = 4 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 2_048;
/** A node that does not say how it is for so long gets nothing new until it does. */
const PROBE_MS = 3_000;
const LIMITS = { connectMs: 2_000, firstByteMs: 5_000 };
/** An answer that a node works on slows the reading of a prompt there like so many more tokens. */
const RUNNING_TOKENS = 64;
/** Where no node has read a prompt yet, each is taken to read so many tokens a second. */
const UNKNOWN_RATE = 500;
/** Nodes that are as fast as the fastest but for so much are told apart by the chat: all that choose choose alike. */
const LIKE_FACTOR = 1.1;
const LIKE_MS = 5;
/**
 * A node that gets twice its share is as slow as if it had to read the prompt so many times more, or so many tokens if that is less: a chat that begins goes
 * elsewhere, one that goes on stays, and so does a long document.
 */
const UNEVEN_PROMPTS = 2;
const UNEVEN_TOKENS = 4_000;
const RECENT_MEMORY = 0.99;
/** Shares are told as if each node had got so many answers more: of few, one gets more by chance. */
const CHANCE = 4;
const IDLE: NodeLoad = { nRunning: 0, nQueuedTokens: 0, tokensPerSecond: 0 };

export class Peer {
  facts: PeerFacts;
  /** It has answered when it was last asked. */
  isAnswering = false;
  /** It was asked how it is, and did not answer. */
  isSilent = false;
  /** It said last that it does not reach its database: it judges nobody until it does. */
  lacksDatabase = false;
  /** The wire version that it is asked in: the one before, which each node speaks that this one can talk to, until it says that it speaks this one's. */
  version = WIRE_BEFORE;
  cards: ReadonlyMap<string, ModelCard> = new Map();
  /** It has said which models it has, since this node knows it. */
  hasTold = false;
  /** The node says it itself. */
  reported: NodeLoad = IDLE;
  /** The beginnings of prompts that it has. */
  readonly prefixes = new PrefixDigest();
  /** The last answers that it was chosen for, the older the less. */
  recent = 0;
  /** Its state, as it said last. */
  said: StateReport = {};
  /** Counts what this node has dispatched to it and not had the end of. */
  nDispatched = 0;
  /** Tokens of prompts that this node has dispatched to it and that it has not read. */
  nWaitingTokens = 0;
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
      // The certificates of one node have one name: without it the first of them alone is believed.
      allowPartialTrustChain: true,
      checkServerIdentity: () => undefined,
    };
    this.#client = new HttpClient({ ...LIMITS, idleMs, environment: {}, tls, keepAliveMs: 30_000 });
  }

  /**
   * How long a prompt of these blocks is expected to wait for its first word there. `evenly`: the answers that each node would have got of the last.
   * `rate`: what the node is taken to read a second as long as it has read no prompt.
   */
  expectedMs(blocks: Int32Array, evenly: number, rate: number): number {
    const { nRunning, nQueuedTokens, tokensPerSecond } = this.reported;
    const nMissing = (blocks.length - this.prefixes.nKnown(blocks)) * BLOCK_TOKENS;
    const nBefore = Math.max(nQueuedTokens, this.nWaitingTokens) + RUNNING_TOKENS * Math.max(nRunning, this.nDispatched);
    const nEven = Math.min(UNEVEN_PROMPTS * blocks.length * BLOCK_TOKENS, UNEVEN_TOKENS);
    const nMore = (Math.max(0, this.recent - evenly) / (evenly + CHANCE)) * nEven;
    return ((nBefore + nMissing + nMore) * 1000) / (tokensPerSecond || rate);
  }

  /** A request goes there: it counts from now on. Returns what says that its prompt was read. */
  dispatch(blocks: Int32Array): () => void {
    const nMissing = (blocks.length - this.prefixes.nKnown(blocks)) * BLOCK_TOKENS;
    let isRead = false;
    this.prefixes.add(blocks);
    this.nDispatched += 1;
    this.nWaitingTokens += nMissing;
    return () => {
      if (!isRead) this.nWaitingTokens -= nMissing;
      isRead = true;
    };
  }

  /** One that failed a single request is asked where no other one is left, until the next probe finds it silent or not. */
  get isDoubtful(): boolean {
    return !this.isAnswering && !this.isSilent;
  }

  /** The node is met again, with another certificate of either: what it said holds until it is asked. */
  succeed({ cards, hasTold, isAnswering, isSilent, lacksDatabase, version, reported, recent, said }: Peer): this {
    return Object.assign(this, { cards, hasTold, isAnswering, isSilent, lacksDatabase, version, reported, recent, said });
  }

  get isIdle(): boolean {
    return this.nDispatched + this.nForwarding === 0;
  }

  /** Throws `wire_version_refused` where the node does not speak with this one. `body` is of the version that the node is asked in now. */
  async ask(path: string, signal: AbortSignal, body?: string | Uint8Array): Promise<HttpResponse> {
    const headers = { [WIRE_HEADER]: String(this.version) };
    const url = new URL(`https://${this.facts.address}${path}`);
    const method = body === undefined ? 'GET' : 'POST';
    const response = await this.#client.request(url, { method, headers, body, signal }).catch((error: unknown) => {
      // It may come back as an older program.
      this.version = WIRE_BEFORE;
      throw error;
    });
    this.version = versionFor(response.header(WIRE_HEADER));
    this.lacksDatabase = response.header(AWAY_HEADER) !== undefined;
    if (response.status === 409 && response.header(LINK_HEADER) !== undefined) throw await this.#refusalOf(response);
    this.reported = readLoad(response.header(LOAD_HEADER)) ?? this.reported;
    return response;
  }

  /** Sends a client's request on. Its answer takes as long as it takes, unless the node itself gives no sign of life. */
  async forward(path: string, request: HttpRequest & { signal: AbortSignal }): Promise<HttpResponse> {
    const headers = { ...request.headers, [WIRE_HEADER]: String(this.version) };
    const url = new URL(`https://${this.facts.address}${path}`);
    const { signal, unlink } = linkSignals(request.signal, this.#lost.signal);
    try {
      const response = await this.#client.request(url, { firstByteMs: 0, idleMs: 0, ...request, headers, signal });
      response.body.once('close', unlink);
      return response;
    } catch (error) {
      unlink();
      throw error;
    }
  }

  /** Asks the node how it is. Throws where it does not answer as a node does. */
  async refresh(signal: AbortSignal): Promise<void> {
    const limit = linkSignals(signal, AbortSignal.timeout(PROBE_MS));
    try {
      const response = await this.ask('/node', limit.signal);
      const bytes = await response.bytes(MOST_REPORT_BYTES);
      if (response.status !== 200) throw new Error(`the node answers ${response.status}`);
      const { id, cards, load, prefixes, primary, replica } = checkReport(readReport(bytes));
      if (id !== this.facts.id) throw new Error('another node answers there');
      this.cards = new Map(cards.map((card) => [card.id, cardOf(card, this.facts.name)]));
      this.reported = load;
      this.prefixes.replace(prefixes);
      this.said = { ...(primary && { primary }), ...(replica && { replica }) };
      this.hasTold = true;
      this.isAnswering = true;
      this.isSilent = false;
      this.#heardAt = performance.now();
    } catch (error) {
      this.isAnswering = false;
      this.isSilent = true;
      if (performance.now() - this.#heardAt > this.#idleMs) this.#endForwards();
      throw error;
    } finally {
      limit.unlink();
    }
  }

  async #refusalOf(response: HttpResponse): Promise<Error> {
    const said = (await response.bytes(MOST_REFUSAL_BYTES)).toString();
    const { name, address } = this.facts;
    return clusterErrors.error('wire_version_refused', `The node ${name || address} refuses this one: ${said}`);
  }

  #endForwards(): void {
    this.#lost.abort(new Error(`the node gave no sign of life for ${this.#idleMs / 1000} s`));
    this.#lost = new AbortController();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

const NO_BLOCKS: Int32Array = new Int32Array();

export class Peers {
  #all: readonly Peer[] = [];
  #cards: readonly ModelCard[] | undefined;
  #isListed = false;

  get all(): readonly Peer[] {
    return this.#all;
  }

  /** There may be models that this node does not know: no list of nodes is believed, or one of the nodes has not said what it has. */
  get areUnknown(): boolean {
    return !this.#isListed || this.#all.some(({ facts, hasTold }) => facts.isReady && !hasTold);
  }

  replace(peers: readonly Peer[]): void {
    this.#all = peers;
    this.#isListed = true;
    this.#cards = undefined;
  }

  /** No list is believed until the next one is read. */
  forget(): void {
    this.replace([]);
    this.#isListed = false;
  }

  /** A peer has other models, or answers again, or no more. */
  changed(): void {
    this.#cards = undefined;
  }

  /** The models of nodes that are ready, a card each; those of them that do not answer now are not among its nodes. */
  cards(): readonly ModelCard[] {
    this.#cards ??= this.#merged();
    return this.#cards;
  }

  /** The node that is asked for a model next: the one that is expected to say its first word first. Undefined: none is left. */
  choose(model: string, conversation: string, tried: ReadonlySet<Peer>, blocks = NO_BLOCKS): Peer | undefined {
    const able = ownersOf(model, usable(this.#ready.filter((peer) => peer.cards.has(model) && !tried.has(peer))));
    const evenly = able.reduce((sum, { recent }) => sum + recent, 0) / able.length;
    const rates = able.flatMap(({ reported: { tokensPerSecond: rate } }) => (rate > 0 ? [rate] : []));
    const rate = rates.length === 0 ? UNKNOWN_RATE : rates.reduce((sum, each) => sum + each, 0) / rates.length;
    const expected = new Map(able.map((peer) => [peer, peer.expectedMs(blocks, evenly, rate)]));
    const most = Math.min(...expected.values()) * LIKE_FACTOR + LIKE_MS;
    const near = able.filter((peer) => (expected.get(peer) as number) <= most);
    const chosen = near.toSorted((a, b) => weightOf(a, conversation).localeCompare(weightOf(b, conversation)))[0];
    for (const peer of able) peer.recent = peer.recent * RECENT_MEMORY + (peer === chosen ? 1 : 0);
    return chosen;
  }

  get #ready(): Peer[] {
    return this.#all.filter(({ facts }) => facts.isReady);
  }

  #merged(): ModelCard[] {
    const ready = this.#ready;
    const names = new Set(ready.flatMap(({ cards }) => [...cards.keys()]));
    return [...names].flatMap((name) => {
      const having = ownersOf(name, ready);
      const answering = having.filter(({ isAnswering }) => isAnswering);
      const card = (answering[0] ?? having[0])?.cards.get(name);
      return card === undefined ? [] : [{ ...card, nodes: answering.map(({ facts }) => facts.name) }];
    });
  }
}

/** Those that answer; where none does, those that may. */
export function usable(peers: readonly Peer[]): Peer[] {
  const answering = peers.filter(({ isAnswering }) => isAnswering);
  return answering.length > 0 ? answering : peers.filter(({ isDoubtful }) => isDoubtful);
}

/** Those that reach their database; where none does, all: one of them waits for it as any node would. */
export function judging(peers: readonly Peer[]): readonly Peer[] {
  const able = peers.filter(({ lacksDatabase }) => !lacksDatabase);
  return able.length > 0 ? able : peers;
}

/** A model that a node has itself is asked of no provider. */
function ownersOf(model: string, peers: readonly Peer[]): Peer[] {
  const all = peers.filter(({ cards }) => cards.has(model));
  const own = all.filter(({ cards }) => cards.get(model)?.backend === undefined);
  return own.length > 0 ? own : all;
}

/** Rendezvous hashing: a node that comes or goes moves its own chats alone. */
function weightOf({ facts }: Peer, conversation: string): string {
  return createHash('sha1').update(`${facts.id}\0${conversation}`).digest('hex');
}

/** A provider's model is told with its node: other nodes may have a backend of that name. */
function cardOf({ costs, backend, ...card }: ReportedCard, node: string): ModelCard {
  if (backend === undefined) return card;
  const costOf = (nPrompt: number, nCompletion: number): number | undefined =>
    costs && (nPrompt * costs[0] + nCompletion * costs[1]) / 1_000_000;
  return { ...card, backend: `${backend}@${node}`, costOf };
}
