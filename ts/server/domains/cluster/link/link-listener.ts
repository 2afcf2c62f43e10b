/**
 * The listener where other nodes of the cluster ask this one: TLS 1.3, and nobody is heard who shows no registered certificate. It is Node's own server, since
 * uWebSockets.js lets in clients without a certificate and takes TLS 1.2. It knows nothing of callers, routes and accounts.
 */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ListenAddress } from '../../../platform/http/listen/listening-app.ts';
import type { Log } from '../../../platform/log/log.ts';
import { WIRE_VERSION } from './frames.ts';
import type { KnownCertificate, NodeCertificate } from './node-certificate.ts';

/** One request of another node. The body is read by whoever answers, within `MOST_BODY_BYTES`. */
export interface LinkRequest {
  /** Id of the node that asks. */
  readonly from: string;
  readonly path: string;
  body(): Promise<string>;
  readonly response: ServerResponse;
}

interface ListenerParts {
  readonly log: Log;
  answer(request: LinkRequest): Promise<void>;
}

const MOST_CONNECTIONS = 1_024;
const MOST_BODY_BYTES = 192 * 1024 * 1024;
const HANDSHAKE_MS = 5_000;
const HEAD_MS = 5_000;
/** A body comes within this, however slowly. */
const REQUEST_MS = 60_000;

export class LinkListener {
  readonly #parts: ListenerParts;
  #server: Server | undefined;
  /** Ids of nodes by the fingerprints of their certificates. */
  #known = new Map<string, string>();
  readonly #open = new Map<TLSSocket, string>();
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
        rejectUnauthorized: true,
        handshakeTimeout: HANDSHAKE_MS,
        headersTimeout: HEAD_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: 60_000,
        connectionsCheckingInterval: 1_000,
        maxHeaderSize: 8_192,
      },
      (request, response) => this.#accept(request, response),
    );
    server.maxConnections = MOST_CONNECTIONS;
    server.on('tlsClientError', (error) =>
      this.#parts.log.debug('a connection of no node of the cluster was refused', { error }),
    );
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
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #admit(socket: TLSSocket): void {
    const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
    if (fingerprint === undefined || !this.#known.has(fingerprint)) {
      socket.destroy();
      return;
    }
    this.#open.set(socket, fingerprint);
    socket.once('close', () => this.#open.delete(socket));
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const from = this.#known.get(this.#open.get(request.socket as TLSSocket) ?? '');
    if (from === undefined) {
      request.socket.destroy();
      return;
    }
    if (request.headers['x-svc-wire'] !== WIRE_VERSION) {
      response.writeHead(409, { connection: 'close' }).end();
      return;
    }
    const answer = this.#parts
      .answer({ from, path: request.url ?? '', body: () => bodyOf(request), response })
      .catch((error: unknown) => {
        this.#parts.log.warn('a request of another node was not answered', { node: from, error: String(error) });
        response.destroy();
      })
      .finally(() => this.active.delete(answer));
    this.active.add(answer);
  }
}

/** Sessions are not resumed: one that is shows no certificate. */
function secureOptions({ cert, key }: NodeCertificate, ca: readonly string[]) {
  const minVersion = 'TLSv1.3' as const;
  return { cert, key, ca: [...ca], minVersion, secureOptions: constants.SSL_OP_NO_TICKET };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    if (sizeBytes > MOST_BODY_BYTES) throw new Error(`the request has more than ${MOST_BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, sizeBytes).toString();
}
