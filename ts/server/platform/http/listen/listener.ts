/** One listening socket. Which listener a request came in on is decided here, by the socket, and by nothing a client sends. */
import { createServer } from 'node:net';
import {
  Exchange,
  type HttpRequest,
  type HttpResponse,
  STATUS_LINES,
  type TemplatedApp,
  type us_listen_socket,
  uws,
  writeHeaders,
} from '../exchange.ts';
import type { RequestIds } from '../request-id.ts';
import type { BytesReply, RequestContext, Route } from '../route.ts';
import { findFramingFault } from './framing.ts';

export interface ListenAddress {
  host: string;
  port: number;
}

export interface ListenerOptions {
  accept(exchange: Exchange): void;
  /** Routes answered without an exchange. */
  probes: readonly Route[];
  maxConnections: number;
  isDraining(): boolean;
  requestIds: RequestIds;
}

/** Probes must not read their context; reading this one throws. */
const NO_CONTEXT = new Proxy({} as RequestContext, {
  get(_target, name) {
    throw new Error(`a probe route read ${String(name)} of its context`);
  },
});

export class Listener {
  readonly #app: TemplatedApp;
  readonly #options: ListenerOptions;
  #socket: us_listen_socket | undefined;
  #connections = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#app = uws.App();
    this.#app.filter((res, change) => this.#count(res, Number(change)));
    for (const probe of options.probes) this.#app.get(probe.path, (res, req) => this.#probe(probe, res, req));
    this.#app.any('/*', (res, req) => options.accept(new Exchange(res, req)));
  }

  get connections(): number {
    return this.#connections;
  }

  /** Resolves to the real address; port 0 asks for any free one. */
  async open({ host, port }: ListenAddress): Promise<ListenAddress> {
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      // The library shares ports by default; a second server on the same port must fail instead. Its types lack this overload.
      const listen = this.#app.listen.bind(this.#app) as unknown as ListenExclusively;
      listen(host, port, uws.ListenOptions?.LIBUS_LISTEN_EXCLUSIVE_PORT ?? 1, resolve);
    });
    if (socket === false) throw await listenFailure(host, port);
    this.#socket = socket;
    return { host, port: uws.us_socket_local_port(socket as never) };
  }

  /** Accepts no more connections; open ones go on. */
  stopAccepting(): void {
    if (this.#socket !== undefined) uws.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }

  /** Cuts every connection. */
  close(): void {
    this.#socket = undefined;
    this.#app.close();
  }

  #count(res: HttpResponse, change: number): void {
    this.#connections += change;
    if (change > 0 && this.#connections > this.#options.maxConnections) res.close();
  }

  /** Nothing is kept of the request, so nothing is copied but the headers that framing depends on. */
  #probe(route: Route, res: HttpResponse, req: HttpRequest): void {
    probeFields.length = 0;
    req.forEach(collectProbeField);
    if (findFramingFault('GET', probeFields) !== undefined) {
      this.#options.accept(new Exchange(res, req));
      return;
    }
    const reply = route.handle(NO_CONTEXT) as BytesReply;
    res.writeStatus(STATUS_LINES.get(reply.status) ?? '200 OK');
    writeHeaders(res, reply.headers);
    res.writeHeader('x-request-id', this.#options.requestIds.resolve(probeField('x-request-id')));
    res.end(reply.body, this.#options.isDraining());
  }
}

type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  callback: (socket: us_listen_socket | false) => void,
) => void;

const probeFields: string[] = [];
const collectProbeField = (name: string, value: string): void => {
  probeFields.push(name, value);
};

function probeField(name: string): string | undefined {
  for (let i = 0; i < probeFields.length; i += 2) if (probeFields[i] === name) return probeFields[i + 1];
  return undefined;
}

/** The library does not say why; Node's own socket does. */
function listenFailure(host: string, port: number): Promise<Error> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(describeFailure(host, port, cause)));
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve(new Error(`cannot listen on ${host}:${port}; try again`))),
    );
  });
}

function describeFailure(host: string, port: number, cause: NodeJS.ErrnoException): Error {
  const why: Record<string, string> = {
    EADDRINUSE: 'another program listens there; stop it or choose another port',
    EACCES: 'ports below 1024 need a privilege; choose a higher port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'the host name cannot be resolved',
  };
  return new Error(`cannot listen on ${host}:${port}: ${why[cause.code ?? ''] ?? cause.message}`, { cause });
}
