/**
 * Sends requests on that another node answers: on a node of the database those of modules that do not run here, on a member all but what concerns the member
 * itself. The credential goes along, and the node that answers judges it, so rights, quotas and their ends are never copied.
 */

import { createHash } from 'node:crypto';
import { finished, type Readable } from 'node:stream';
import type { CredentialSource } from '../../../platform/http/authenticator.ts';
import { HttpError } from '../../../platform/http/errors.ts';
import type { AskedRequest, ForwardedRequest, Forwarding } from '../../../platform/http/forwarding.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import { endToEndOf } from '../../../platform/http/reply/hop-by-hop.ts';
import { OWN_FIELDS } from '../../../platform/http/reply/replier.ts';
import type { Reply } from '../../../platform/http/reply/reply.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { LINK_HEADER } from '../protocol/wire-version.ts';
import { CREDENTIAL_PATH, FACTS_HEADER, FORWARD_PATH, type NodeFront, type WrittenRefusal } from './forward-server.ts';
import { decode, encode } from './frames.ts';
import { type AskNode, findHolder, gather, isList, partsOf } from './gathering.ts';
import { OwnNode } from './own-node.ts';
import { passEvents } from './pass-events.ts';
import { judging, type Peer, type PeerFacts, type Peers, usable } from './peers.ts';

interface ForwarderParts {
  readonly peers: Peers;
  nodeId(): string;
  isMember(): boolean;
  /** A path of a member's own beside those of every node. */
  ownPath(): string;
  /** This node as its clients meet it. */
  front(): NodeFront | undefined;
  /** Once for each request that was sent on, unless its client went away before the answer. */
  onEnd(outcome: 'ok' | 'lost' | 'unreachable'): void;
}

/** A member answers these itself: its probes, its pages, its own models, its own state and membership, and the accounts that it had. */
const OF_NODE =
  /^\/(?!v1\/|api\/|mcp|scim|\.well-known)|^\/api\/v1\/(system|inference|models\/pulls?|cluster\/(?:join|leave)|identity\/local-unknown)(\/|$)/;
const ACCOUNTS = /^\/api\/v1\/(auth|identity|users)(\/|$)/;
const PROMOTION = /^\/api\/v1\/cluster\/storage\/[^/]+\/promote$/;
/** The name of an answer's stream ends with the id of its node. */
const STREAM = /^\/api\/v1\/edge\/conversations\/streams\/[^/]*(?:@|%40)([0-9a-f-]{36})$/;
const MOST_ATTEMPTS = 3;
const MOST_ANSWER_BYTES = 256 * 1024;

export class Forwarder implements Forwarding {
  readonly #parts: ForwarderParts;
  readonly #own: OwnNode;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#own = new OwnNode(() => parts.front());
  }

  find({ route, method, path, isPart }: AskedRequest): ((request: ForwardedRequest) => Promise<Reply>) | undefined {
    if (isPart) return undefined;
    const { isMember, ownPath } = this.#parts;
    const module = route?.answeredBy?.module;
    const others = this.#nodesWith(partsOf(method, path));
    if (others.length > 0)
      return (request) => this.#putTogether(request, others, route?.answeredBy?.isRunning === false ? module : undefined);
    const holder = this.#holderOf(path);
    if (holder !== undefined) return (request) => this.#send(request, module, path, holder);
    if (isMember()) return OF_NODE.test(path) || path === ownPath() ? undefined : (request) => this.#send(request, module, path);
    if (module === undefined || route?.answeredBy?.isRunning) return undefined;
    // Where no node runs it, this one says so.
    const isElsewhere = this.#parts.peers.all.some(({ facts }) => isAble(facts) && facts.modules.includes(module));
    return isElsewhere ? (request) => this.#send(request, module, path) : undefined;
  }

  close(): Promise<void> {
    return this.#own.close();
  }

  /** The nodes that may have a part of it. A member asks one controller, which asks the others. */
  #nodesWith(kind: ReturnType<typeof partsOf>): AskNode[] {
    if (kind === undefined) return [];
    if (!this.#parts.isMember())
      return this.#parts.peers.all
        .filter(({ facts, isAnswering }) => isAnswering && facts.isMember === (kind === 'members'))
        .map((peer) => (request) => askPeer(peer, { ...request, facts: { ...request.facts, isPart: true } }));
    const controller = kind === 'members' ? this.#choose(undefined, new Set()) : undefined;
    return controller === undefined ? [] : [(request) => askPeer(controller, request)];
  }

  /** `module`: it does not run here, so what no node has is for one where it does. */
  async #putTogether(given: ForwardedRequest, others: readonly AskNode[], module: string | undefined): Promise<Reply> {
    const own: AskNode = (asked) => this.#own.ask(asked);
    const list = isList(given) ? await gather(given, own, others, module === undefined) : undefined;
    if (list !== undefined) return list;
    const request = { ...given, body: given.body && (await wholeOf(given.body)) };
    const holder = isList(given) ? own : await findHolder(request, [own, ...others]);
    if (holder === undefined && module !== undefined) return this.#send(request, module, request.path);
    return replyOf(await (holder ?? own)(request), request);
  }

  /** Asks a controller whose credential that is. Throws its refusal, or HttpError 503 where none answers. */
  async authenticate({ headers, path, remoteAddress, listener }: CredentialSource): Promise<Principal> {
    const body = encode({ headers: [...headers], path, remoteAddress, listener });
    const tried = new Set<Peer>();
    for (let peer = this.#choose(undefined, tried); peer !== undefined; peer = this.#choose(undefined, tried)) {
      tried.add(peer);
      try {
        // It takes as long as the controller waits for its database; one that gives no sign of life is given up before.
        const response = await peer.ask(CREDENTIAL_PATH, new AbortController().signal, body);
        const bytes = await response.bytes(MOST_ANSWER_BYTES);
        if (response.status !== 200) continue;
        const { caller, refusal } = decode(bytes.toString()) as { caller?: Principal; refusal?: WrittenRefusal };
        if (caller !== undefined) return caller;
        // It could not judge, and another one may.
        const isElsewhere = refusal?.status === 503 && this.#choose(undefined, tried)?.lacksDatabase === false;
        if (refusal !== undefined && !isElsewhere) throw new HttpError(refusal.status, refusal.code, refusal.detail, refusal);
      } catch (error) {
        if (error instanceof HttpError) throw error;
        peer.isAnswering = false;
      }
    }
    throw nobody(path);
  }

  /** The node that makes the answer of a stream, which its name says; undefined: this one, or none that answers. */
  #holderOf(path: string): Peer | undefined {
    const [, node] = STREAM.exec(path) ?? [];
    if (node === undefined) return undefined;
    return this.#parts.peers.all.find(({ facts, isAnswering }) => facts.id === node && isAnswering && !facts.isMember);
  }

  /** A request without a body may begin again elsewhere until its answer begins. */
  async #send(request: ForwardedRequest, module: string | undefined, path: string, first?: Peer): Promise<Reply> {
    const tried = new Set<Peer>();
    const mayRetry = request.method === 'GET' || request.method === 'HEAD';
    for (let peer = first ?? this.#choose(module, tried); peer !== undefined; peer = this.#choose(module, tried)) {
      tried.add(peer);
      try {
        const response = await this.#sendTo(peer, request);
        // It waited for its database for as long as it may, and another node need not.
        const isElsewhere = mayRetry && response.status === 503 && peer.lacksDatabase && tried.size < MOST_ATTEMPTS;
        if (!isElsewhere || this.#choose(module, tried)?.lacksDatabase !== false) {
          if (!isEvents(response, request)) await untilBegun(response.body);
          finished(response.body, () => this.#parts.onEnd(response.body.errored ? 'lost' : 'ok'));
          return replyOf(response, request);
        }
        response.discard();
      } catch (error) {
        request.signal.throwIfAborted();
        if (isOfBody(error)) throw error;
        peer.isAnswering = false;
        const wasSent = (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
        if (wasSent && !mayRetry) {
          this.#parts.onEnd('lost');
          throw lost(error);
        }
        if (tried.size >= MOST_ATTEMPTS) break;
      }
    }
    this.#parts.onEnd('unreachable');
    throw this.#parts.isMember() ? nobody(path) : silent();
  }

  async #sendTo(peer: Peer, request: ForwardedRequest): Promise<HttpResponse> {
    peer.nForwarding += 1;
    try {
      const response = await askPeer(peer, request);
      response.body.once('close', () => (peer.nForwarding -= 1));
      return response;
    } catch (error) {
      peer.nForwarding -= 1;
      throw error;
    }
  }

  /**
   * One that runs the module goes before others, and one that reaches its database. A member asks one controller for as long as that answers, since some of
   * what a client does lasts longer than one request and is on one node: uploads, backends. Nodes of the database ask the one that has least to do.
   */
  #choose(module: string | undefined, tried: ReadonlySet<Peer>): Peer | undefined {
    const able = this.#parts.peers.all.filter((peer) => isAble(peer.facts) && !tried.has(peer));
    const near = usable(able.filter(({ facts }) => module !== undefined && facts.modules.includes(module)));
    if (!this.#parts.isMember()) return judging(near).toSorted((a, b) => a.nForwarding - b.nForwarding)[0];
    const from = judging(near.length > 0 ? near : usable(able));
    return from.toSorted((a, b) => this.#weightOf(a).localeCompare(this.#weightOf(b)))[0];
  }

  /** Rendezvous hashing: members spread over the controllers. */
  #weightOf({ facts }: Peer): string {
    return createHash('sha1').update(`${facts.id}\0${this.#parts.nodeId()}`).digest('hex');
  }
}

/** The route bounds how much that is. */
async function wholeOf(body: NonNullable<ForwardedRequest['body']>): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Throws where the link itself refuses. */
async function askPeer(peer: Peer, { method, path, headers, body, facts, signal }: ForwardedRequest): Promise<HttpResponse> {
  const length = headers.get('content-length');
  const sent = {
    ...endToEndOf(headers, NOT_SENT),
    ...(body !== undefined && length !== undefined && { 'content-length': length }),
    [FACTS_HEADER]: Buffer.from(JSON.stringify({ ...facts, path })).toString('base64url'),
  };
  const response = await peer.forward(FORWARD_PATH, { method, headers: sent, body, signal });
  // The link itself refuses with this status alone, and with this field.
  if (response.header(LINK_HEADER) === undefined) return response;
  response.discard();
  throw new Error(`the node answers ${response.status} to a request that was sent on`);
}

/** Resolves with the first piece of a body, or its end: a head that was passed on by then lets no other node answer. Throws what cuts it before. */
async function untilBegun(body: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const ends = { readable: resolve, end: resolve, close: resolve, error: reject };
  for (const [event, listener] of Object.entries(ends)) body.once(event, listener);
  await promise.finally(() => {
    for (const [event, listener] of Object.entries(ends)) body.off(event, listener);
  });
}

function isEvents(response: HttpResponse, { method }: ForwardedRequest): boolean {
  return (
    method !== 'HEAD' && response.status === 200 && response.header('content-type')?.startsWith('text/event-stream') === true
  );
}

function replyOf(response: HttpResponse, request: ForwardedRequest): Reply {
  const kept = endToEndOf(response.headers, OWN_FIELDS);
  if (isEvents(response, request))
    return {
      kind: 'events',
      headers: kept,
      start: (stream) => void passEvents(response.body, stream, () => request.lastFrame(cut())),
    };
  const sizeText = response.header('content-length');
  return {
    kind: 'stream',
    status: response.status,
    headers: kept,
    ...(sizeText !== undefined && { sizeBytes: Number(sizeText) }),
    body: response.body,
  };
}

/** Fields that say how the client came, which the facts tell in their place. */
const NOT_SENT = new Set(['x-svc-forwarded-identity', FACTS_HEADER, 'x-forwarded-for', 'forwarded', 'x-request-id']);

/** Members have no accounts, and answer nothing for others. */
function isAble({ isReady, isMember }: PeerFacts): boolean {
  return isReady && !isMember;
}

function isOfBody(error: unknown): boolean {
  return error instanceof HttpError || (error instanceof Error && error.name === 'BodyAborted');
}

function nobody(path: string): HttpError {
  const headers = { 'retry-after': '2' };
  if (ACCOUNTS.test(path)) {
    const detail = 'No controller of the cluster answers, and accounts are there alone: nothing was changed. Retry in a moment.';
    return new HttpError(503, 'account_service_unreachable', detail, { headers });
  }
  const otherwise = PROMOTION.test(path) ? 'On the standby itself, `svc node promote` needs none.' : 'Retry in a moment.';
  const detail = `No controller of the cluster answers, so the credential was not judged. ${otherwise}`;
  return new HttpError(503, 'credential_check_unavailable', detail, { headers });
}

function silent(): HttpError {
  const detail = 'No node that answers this can be reached now, and nothing was done. Retry in a moment.';
  return new HttpError(503, 'node_lost', detail, { headers: { 'retry-after': '2' } });
}

function lost(cause: unknown): HttpError {
  const detail =
    'The node that answers this was lost before it did; whether it did what was asked is not known. Look before you retry.';
  return new HttpError(503, 'node_lost', detail, { cause, headers: { 'retry-after': '1' } });
}

function cut(): HttpError {
  return new HttpError(503, 'node_lost', 'The node that answers this was lost in the middle of it: what came is all there is.');
}
