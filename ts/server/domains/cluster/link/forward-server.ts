/**
 * Answers what other nodes send on: the request comes by the link and goes to this node's own listener, with a note that this process alone can write. So
 * it takes the way of every request, with its limits, its rights and its record. Members may have credentials judged as well.
 */
import { Agent, type IncomingMessage, request as requestOf } from 'node:http';
import { formatListenAddress } from '../../../platform/config/listen-address.ts';
import type { Authenticator, CredentialSource } from '../../../platform/http/authenticator.ts';
import { HttpError } from '../../../platform/http/errors.ts';
import { type ForwardedFacts, IDENTITY_HEADER, writeForwardedFacts } from '../../../platform/http/forwarding.ts';
import type { ListenAddress } from '../../../platform/http/listen/listening-app.ts';
import { endToEndOf } from '../../../platform/http/reply/hop-by-hop.ts';
import { LINK_HEADER, WIRE_HEADER } from '../protocol/wire-version.ts';
import { decode, encode } from './frames.ts';
import { partsOf } from './gathering.ts';
import type { LinkRequest } from './link-listener.ts';

/** This node as its clients meet it. */
export interface NodeFront {
  readonly authenticator: Authenticator;
  /** The address where it listens for clients of the machine's own network. */
  address(): ListenAddress;
  /** Judges the credentials of open requests again. */
  recheck(): void;
}

/** A refusal as it travels. */
export interface WrittenRefusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

type SentFacts = ForwardedFacts & { readonly path: string };
type SentSource = Omit<CredentialSource, 'headers'> & { readonly headers: [string, string][] };

export const FORWARD_PATH = '/forward';
export const CREDENTIAL_PATH = '/credential';
export const FACTS_HEADER = 'x-svc-forwarded-facts';
const OF_LINK = new Set([WIRE_HEADER, FACTS_HEADER, IDENTITY_HEADER]);
/** The head of a request has less. */
const MOST_CREDENTIAL_BYTES = 256 * 1024;
/** The listener closes connections that are idle for ten seconds. */
const KEEP_MS = 4_000;
/** The accounts may have to be waited for, as in a failover of the database: the other node is told so often that this one goes on. */
const ALIVE_MS = 2_000;

export class ForwardServer {
  readonly #front: () => NodeFront | undefined;
  readonly #agent = new Agent({ keepAlive: true, timeout: KEEP_MS });

  constructor(front: () => NodeFront | undefined) {
    this.#front = front;
  }

  takes(path: string): boolean {
    return path === CREDENTIAL_PATH || path === FORWARD_PATH;
  }

  /** `isMember`: the node that asks has no accounts, so nobody is unknown to it. `isOwnMember`: this one has none, and answers with its parts alone. */
  async answer(asked: LinkRequest, isMember: boolean, isOwnMember: boolean): Promise<void> {
    const front = this.#front();
    if (front === undefined) return refuse(asked, 503);
    if (asked.path === CREDENTIAL_PATH)
      return isOwnMember ? refuse(asked, 403) : await judge(asked, front.authenticator, isMember);
    const facts = factsOf(asked, isMember);
    if (facts === undefined) return refuse(asked, 400);
    if (isOwnMember && !isPartOfMember(asked, facts)) return refuse(asked, 403);
    await this.#pass(asked, facts, front.address());
  }

  close(): void {
    this.#agent.destroy();
  }

  #pass({ request, response }: LinkRequest, { path, ...facts }: SentFacts, { host, port }: ListenAddress): Promise<void> {
    return new Promise((resolve) => {
      const outgoing = requestOf({
        agent: this.#agent,
        host: LOOPBACK.get(host) ?? host,
        port,
        method: request.method ?? 'GET',
        path,
        headers: headersOf(request, facts),
      });
      response.once('close', () => {
        outgoing.destroy();
        resolve();
      });
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, sentBack(answer));
        response.flushHeaders();
        answer.on('error', () => response.destroy());
        answer.pipe(response);
      });
      // What breaks before the answer is for the other node to know; behind its head the cut tells.
      outgoing.on('error', () => response.destroy());
      request.on('error', () => outgoing.destroy());
      request.pipe(outgoing);
    });
  }
}

/** HOST:PORT at which this node reaches itself. */
export function ownAddress({ host, port }: ListenAddress): string {
  return formatListenAddress({ host: LOOPBACK.get(host) ?? host, port });
}

const LOOPBACK = new Map([
  ['', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function headersOf(request: IncomingMessage, facts: ForwardedFacts): Record<string, string | string[]> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return {
    ...endToEndOf(request.headers as Record<string, string | string[]>, OF_LINK),
    ...(facts.host !== '' && { host: facts.host }),
    ...(facts.isEncrypted && { 'x-forwarded-proto': 'https' }),
    ...(length !== undefined && { 'content-length': length }),
    ...(coding !== undefined && { 'transfer-encoding': 'chunked' }),
    // Whoever comes through a node is not on this machine.
    via: '1.1 svc',
    'x-request-id': facts.requestId,
    [IDENTITY_HEADER]: writeForwardedFacts(facts),
  };
}

function sentBack(answer: IncomingMessage): Record<string, string | string[]> {
  const length = answer.headers['content-length'];
  const kept = endToEndOf(answer.headers as Record<string, string | string[]>);
  return length === undefined ? kept : { ...kept, 'content-length': length };
}

/** Undefined: it is none. What a member says of itself cannot widen what its caller may do. */
function factsOf({ request }: LinkRequest, isMember: boolean): SentFacts | undefined {
  try {
    const text = Buffer.from(String(request.headers[FACTS_HEADER]), 'base64url').toString();
    const { path, address, listener, state, host, isEncrypted, requestId, hops, isPart } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    if (typeof hops !== 'number' || !(hops >= 1) || typeof address !== 'string' || typeof host !== 'string') return undefined;
    if (typeof path !== 'string' || !/^\/[!-~]*$/.test(path)) return undefined;
    return {
      path,
      address: address.slice(0, 100),
      listener: !isMember && listener === 'internal' ? 'internal' : 'public',
      state: isMember || state === 'enforce' ? 'enforce' : 'off',
      host: host.slice(0, 300),
      isEncrypted: isEncrypted === true,
      requestId: String(requestId).slice(0, 200),
      hops,
      isPart: isPart === true,
    };
  } catch {
    return undefined;
  }
}

async function judge({ body, response }: LinkRequest, authenticator: Authenticator, isMember: boolean): Promise<void> {
  const { headers, path, remoteAddress, listener } = decode(await body(MOST_CREDENTIAL_BYTES)) as SentSource;
  const shown = new Map([...headers, ['via', '1.1 svc'] as const]);
  const source = {
    path: String(path),
    remoteAddress: String(remoteAddress).slice(0, 100),
    listener: !isMember && listener === 'internal' ? ('internal' as const) : ('public' as const),
  };
  let answer: { caller?: unknown; refusal?: WrittenRefusal };
  response.setHeader('content-type', 'application/json');
  // Blanks before JSON are no part of it.
  const alive = setInterval(() => response.write(' '), ALIVE_MS).unref();
  try {
    answer = { caller: await authenticator.authenticate({ ...source, headers: shown }) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { status, code, message: detail, extra, headers: sent } = error;
    answer = { refusal: { status, code, detail, extra, headers: sent } };
  } finally {
    clearInterval(alive);
  }
  response.end(encode(answer));
}

function isPartOfMember({ request }: LinkRequest, { isPart, path }: SentFacts): boolean {
  return isPart === true && partsOf(request.method ?? 'GET', path.split('?', 1)[0] as string) === 'members';
}

/** The other node tells it from an answer to its client by the field. */
function refuse({ request, response }: LinkRequest, status: number): void {
  request.resume();
  response.writeHead(status, { [LINK_HEADER]: 'refused' }).end();
}
