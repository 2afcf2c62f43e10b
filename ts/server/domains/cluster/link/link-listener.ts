/**
 * The listener where other nodes of the cluster ask this one: TLS 1.3, and nobody is heard who shows no registered certificate. It is Node's own server, since
 * uWebSockets.js lets in clients without a certificate and takes TLS 1.2. It knows nothing of callers, routes and accounts.
 */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ListenAddress } from '../../../platform/http/listen/listening-app.ts';
import type { Log } from '../../../platform/log/log.ts';
import { LINK_HEADER, spokenVersion, WIRE_HEADER, WIRE_VERSION, wireRefusal } from '../protocol/wire-version.ts';
import type { KnownCertificate, NodeCertificate } from './node-certificate.ts';

/** One request of another node. The body is read by whoever answers, who says how much of it there may be: work and snapshots have `MOST_BODY_BYTES`. */
export interface LinkRequest {
  /** Id of the node that asks; empty: a stranger that has a token. */
  readonly from: string;
  /** Fingerprint of the certificate that it shows. */
  readonly certificate: string;
  readonly path: string;
  /** The wire version that the node asks in, and is answered in. */
  readonly version: number;
  body(mostBytes?: number): Promise<Buffer>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface ListenerParts {
  readonly log: Log;
  /** Strangers may show a token. */
  takesTokens(): boolean;
  /** The list of those that are trusted was read not long ago. */
  isCurrent(): boolean;
  answer(request: LinkRequest): Promise<void>;
}

const MOST_CONNECTIONS = 1_024;
/** One node has so many, so that the others still reach this one. */
const MOST_OF_NODE = 768;
/** One address and all together have so many, as long as nobody knows who it is. */
const MOST_UNKNOWN_OF_ADDRESS = 64;
const MOST_UNKNOWN = 256;
const MOST_BODY_BYTES = 192 * 1024 * 1024;
/** Bodies of one node that are held at once have so many bytes together. */
const MOST_HELD_BYTES = 2 * MOST_BODY_BYTES;
/** The one path that strangers may ask, with a token. */
export const JOIN_PATH = '/join';
const MOST_TOKEN_BYTES = 8 * 1024;
const MOST_STRANGERS = 16;
const MOST_STRANGERS_OF_ADDRESS = 8;
/** All of what a stranger does is over by then, however slow it is. */
const STRANGER_MS = 10_000;
const HANDSHAKE_MS = 5_000;
const HEAD_MS = 5_000;
const KEEP_ALIVE_MS = 15_000;
/** More than a client of the node that asks may send. */
const MOST_HEAD_BYTES = 48 * 1024;

export class LinkListener {
  readonly #parts: ListenerParts;
  #server: Server | undefined;
  /** Ids of nodes by the fingerprints of their certificates. */
  #known = new Map<string, string>();
  readonly #open = new Map<TLSSocket, string>();
  readonly #strangers = new Map<TLSSocket, string>();
  /** Addresses of connections that have not shown a certificate yet, by address and port. */
  readonly #unknown = new Map<string, string>();
  /** Bytes of bodies that are held, by the ids of nodes. */
  readonly #held = new Map<string, number>();
  /** Answers that are not over. */
  readonly active = new Set<Promise<void>>();

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  /** Resolves to the real port. Rejects with the connection's own error when the address cannot be had. */
  async open({ host, port }: ListenAddress, certificate: NodeCertificate): Promise<number> {
    const server = createServer(
      {
        ...secureOptions(certificate, []),
        requestCert: true,
        // #admit() judges them all, by their fingerprints: a stranger with a token has a certificate that nobody knows yet, and of certificates of one name
        // TLS would believe the first alone.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_MS,
        headersTimeout: HEAD_MS,
        // A node sends uploads of its clients on, which take their time; strangers have STRANGER_MS.
        requestTimeout: 0,
        keepAliveTimeout: 60_000,
        connectionsCheckingInterval: 1_000,
        maxHeaderSize: MOST_HEAD_BYTES,
      },
      (request, response) => this.#accept(request, response),
    );
    server.maxConnections = MOST_CONNECTIONS;
    server.on('tlsClientError', (error) =>
      this.#parts.log.debug('a connection of no node of the cluster was refused', { error }),
    );
    server.on('connection', (socket: Socket) => this.#greet(socket));
    server.on('secureConnection', (socket) => this.#admit(socket));
    server.listen(port, host === '' ? undefined : host);
    await once(server, 'listening');
    server.on('error', (error) => this.#parts.log.error('the listener of the cluster failed', { error }));
    this.#server = server;
    return (server.address() as AddressInfo).port;
  }

  /** Trusts these from now on, and no others: open connections of others are cut. */
  trust(known: readonly KnownCertificate[], certificate: NodeCertificate): void {
    this.#known = new Map(known.map(({ fingerprint, node }) => [fingerprint, node]));
    this.#server?.setSecureContext(
      secureOptions(
        certificate,
        known.map(({ pem }) => pem),
      ),
    );
    for (const [socket, fingerprint] of this.#open) if (!this.#known.has(fingerprint)) socket.destroy();
  }

  /** Takes nothing new; what runs has so long to end, and is cut then. */
  async close(limitMs: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    server.closeIdleConnections();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, limitMs);
    await Promise.race([Promise.allSettled([...this.active]), late.promise]);
    clearTimeout(timer);
    server.closeAllConnections();
    for (const socket of [...this.#open.keys(), ...this.#strangers.keys()]) socket.destroy();
  }

  /** Whoever opens connections and says nothing keeps nobody else out. */
  #greet(socket: Socket): void {
    const { remoteAddress: address = '', remotePort = 0 } = socket;
    const near = [...this.#unknown.values()].filter((each) => each === address);
    if (this.#unknown.size >= MOST_UNKNOWN || near.length >= MOST_UNKNOWN_OF_ADDRESS) {
      socket.destroy();
      return;
    }
    const key = `${address} ${remotePort}`;
    this.#unknown.set(key, address);
    socket.once('close', () => this.#unknown.delete(key));
  }

  #admit(socket: TLSSocket): void {
    const { remoteAddress: address = '', remotePort = 0 } = socket;
    this.#unknown.delete(`${address} ${remotePort}`);
    const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
    const isKnown = fingerprint !== undefined && this.#known.has(fingerprint);
    const mayAsk =
      fingerprint !== undefined &&
      (isKnown ? this.#nOpenOf(fingerprint) < MOST_OF_NODE : this.#parts.takesTokens() && this.#mayTake(address));
    if (!mayAsk || fingerprint === undefined) {
      socket.destroy();
      return;
    }
    // A machine that lost its power says nothing of it.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const sockets = isKnown ? this.#open : this.#strangers;
    sockets.set(socket, fingerprint);
    const late = isKnown ? undefined : setTimeout(() => socket.destroy(), STRANGER_MS).unref();
    socket.once('close', () => {
      clearTimeout(late);
      sockets.delete(socket);
    });
  }

  /** The connections of a node, by one of its certificates. */
  #nOpenOf(fingerprint: string): number {
    const nodes = [...this.#open.values()].map((each) => this.#known.get(each));
    const node = this.#known.get(fingerprint);
    return nodes.filter((each) => each === node).length;
  }

  /** Whether one more stranger may come from there. */
  #mayTake(address: string): boolean {
    const near = [...this.#strangers.keys()].filter(({ remoteAddress }) => remoteAddress === address);
    return this.#strangers.size < MOST_STRANGERS && near.length < MOST_STRANGERS_OF_ADDRESS;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const socket = request.socket as TLSSocket;
    const certificate = this.#open.get(socket) ?? this.#strangers.get(socket) ?? '';
    const from = this.#strangers.has(socket) ? '' : this.#known.get(certificate);
    // A process that was stopped for long hears others before it reads who is still one of them.
    const isHeard = from === '' ? request.url === JOIN_PATH : this.#parts.isCurrent();
    if (from === undefined || !isHeard) {
      request.socket.destroy();
      return;
    }
    const version = spokenVersion(request.headers[WIRE_HEADER]);
    if (version === undefined) {
      const fields = { connection: 'close', 'content-type': 'text/plain', [LINK_HEADER]: 'refused', [WIRE_HEADER]: WIRE_VERSION };
      response.writeHead(409, fields).end(wireRefusal(request.headers[WIRE_HEADER]));
      return;
    }
    let nHeld = 0;
    const hold = (nBytes: number): void => {
      nHeld += nBytes;
      const nOfNode = (this.#held.get(from) ?? 0) + nBytes;
      this.#held.set(from, nOfNode);
      if (nOfNode > MOST_HELD_BYTES) throw new Error(`its requests have more than ${MOST_HELD_BYTES} bytes together`);
    };
    const answer = this.#parts
      .answer({
        from,
        certificate,
        path: request.url ?? '',
        version,
        request,
        body: (most = MOST_BODY_BYTES) => bodyOf(request, from === '' ? MOST_TOKEN_BYTES : most, hold),
        response,
      })
      .catch((error: unknown) => {
        this.#parts.log.warn('a request of another node was not answered', { node: from, error: String(error) });
        response.destroy();
      })
      .finally(() => {
        this.active.delete(answer);
        const nLeft = (this.#held.get(from) ?? 0) - nHeld;
        if (nLeft > 0) this.#held.set(from, nLeft);
        else this.#held.delete(from);
      });
    this.active.add(answer);
  }
}

/** Sessions are not resumed: one that is shows no certificate. */
function secureOptions({ cert, key }: NodeCertificate, ca: readonly string[]) {
  const minVersion = 'TLSv1.3' as const;
  return { cert, key, ca: [...ca], minVersion, secureOptions: constants.SSL_OP_NO_TICKET };
}

async function bodyOf(request: IncomingMessage, mostBytes: number, hold: (nBytes: number) => void): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    hold(piece.length);
    if (sizeBytes > mostBytes) throw new Error(`the request has more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, sizeBytes);
}
