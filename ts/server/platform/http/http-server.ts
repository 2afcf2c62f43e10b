/** The HTTP side of a node: an internal and an optional public listener over one set of routes, and an orderly end. */
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import { BrowserGuard } from './access/browser-guard.ts';
import { ClientAddress, type ClientAddressOptions } from './access/client-address.ts';
import { Cors, type CorsHeaderNames } from './access/cors.ts';
import { type AccessRecorder, NO_RECORDS } from './access-recorder.ts';
import type { Authenticator } from './authenticator.ts';
import { BodyBudget } from './body/body-collector.ts';
import type { ErrorBodyPrefix } from './error-body.ts';
import type { Forwarding } from './forwarding.ts';
import type { InheritedSocket } from './listen/inherited-socket.ts';
import { Listener, type TlsOptions } from './listen/listener.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { ListenAddress } from './listen/listening-app.ts';
import type { Principal } from './principal.ts';
import { Heartbeat } from './reply/event-stream.ts';
import { DEFAULT_UNSENT_LIMITS, UnsentBytes, type UnsentLimits } from './reply/unsent-bytes.ts';
import { RequestIds, RequestObserver } from './request-observer.ts';
import type { Route } from './route.ts';
import { Router } from './router.ts';
import type { FindModule } from './routing/missing-route.ts';
import { RouteTable } from './routing/route-table.ts';

export interface HttpServerOptions {
  routes: readonly Route[];
  authenticator: Authenticator;
  /** Keeps what happens for an audit; nothing by default. */
  recorder?: AccessRecorder;
  findModule: FindModule;
  /** Where requests go that another node answers; by default this one answers all. */
  forwarding?: Forwarding;
  /** Shapes of refusals where no route claims the path; flat where none applies. */
  errorBodies?: readonly ErrorBodyPrefix[];
  log: Log;
  metrics: MetricsRegistry;
  /** Names by which the server is called while authentication is off, beside loopback and the machine's own; see HostCheck. */
  allowedHosts?: readonly string[];
  /** Origins whose pages may use the API, beside loopback ones; once authentication is on, empty means any, without cookies. */
  allowedOrigins?: readonly string[];
  /** Headers of the modules' APIs, beside those of every route, that pages of other origins may send and read. */
  corsHeaders?: readonly CorsHeaderNames[];
  /** Paths that no route serves and that ask for a credential all the same. */
  guardedPaths?: readonly string[];
  /** Proxies whose word on the client's address counts; none by default. */
  proxies?: ClientAddressOptions;
  /** Listening sockets that the service manager opened, in place of addresses of our own. */
  inherited?: Partial<Record<ListenerName, InheritedSocket>>;
  /** The certificate of the public listener; undefined: plain HTTP. */
  publicTls?: TlsOptions | undefined;
  /** Reads large bodies of routes that name a task for them. Whoever made it closes it, after the server. */
  pool: WorkerPool;
  /** Caps the limits that routes declare. */
  maxBodyBytes?: number;
  /** Request bodies held in memory at once, all together. */
  maxBufferedBodyBytes?: number;
  /** Limits what answers may hold because their clients do not read. */
  unsentLimits?: UnsentLimits;
  /** The most connections of each listener. Two listeners at this size stay below a hard limit of 20,000 file handles. */
  maxConnections?: number;
  /** Silence on an event stream before a comment is sent. */
  pingAfterMs?: number;
}

export interface ListenAddresses {
  internal: ListenAddress;
  public: ListenAddress | undefined;
}

/** A request that was sent before its sender could know of the drain is here by then. */
const QUIET_MS = 1000;

export class HttpServer {
  readonly table: RouteTable;
  readonly #router: Router;
  readonly #heartbeat: Heartbeat;
  readonly #internal: Listener;
  readonly #hasInherited: boolean;
  readonly #public: Listener;
  readonly #requestIds = new RequestIds();

  constructor(options: HttpServerOptions) {
    this.table = new RouteTable(options.routes);
    this.#heartbeat = new Heartbeat((options.pingAfterMs ?? 15_000) / 3);
    this.#router = new Router({
      table: this.table,
      authenticator: options.authenticator,
      recorder: options.recorder ?? NO_RECORDS,
      guard: new BrowserGuard({ allowedHosts: options.allowedHosts ?? [], allowedOrigins: options.allowedOrigins ?? [] }),
      cors: new Cors(options.corsHeaders ?? []),
      guardedPaths: new Set(options.guardedPaths ?? []),
      clientAddress: new ClientAddress(options.proxies ?? { trustedProxies: [], header: 'x-forwarded-for' }),
      findModule: options.findModule,
      forwarding: options.forwarding,
      errorBodies: options.errorBodies ?? [],
      observer: new RequestObserver(options.log, options.metrics),
      budget: new BodyBudget(options.maxBufferedBodyBytes ?? 512 * 1024 * 1024),
      unsent: new UnsentBytes(options.unsentLimits ?? DEFAULT_UNSENT_LIMITS, options.log, options.metrics),
      pool: options.pool,
      maxBodyBytes: options.maxBodyBytes ?? Number.POSITIVE_INFINITY,
      heartbeat: this.#heartbeat,
      log: options.log,
      requestIds: this.#requestIds,
    });
    this.#hasInherited = Object.values(options.inherited ?? {}).some((socket) => socket !== undefined);
    this.#internal = this.#listener('internal', options);
    this.#public = this.#listener('public', options);
    const connections = options.metrics.gauge('svc_http_connections', 'Open connections by listener.', ['listener']);
    options.metrics.onCollect(() => {
      connections.with({ listener: 'internal' }).set(this.#internal.connections);
      connections.with({ listener: 'public' }).set(this.#public.connections);
    });
  }

  get draining(): boolean {
    return this.#router.draining;
  }

  /** Rejects with a sentence that says why and what to do when an address cannot be had. */
  async open(internal: ListenAddress, publicAddress?: ListenAddress): Promise<ListenAddresses> {
    const addresses = { internal: await this.#internal.open(internal), public: undefined };
    return publicAddress === undefined ? addresses : { ...addresses, public: await this.#public.open(publicAddress) };
  }

  /** Until the function that it returns is called, probes alone are answered, and other requests wait. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#router.opening = promise;
    return () => {
      this.#router.opening = undefined;
      resolve();
    };
  }

  /** Judges the credentials of open requests again, of those whose caller `isConcerned` names, and ends those that are refused now. */
  recheck(isConcerned: (caller: Principal, requestId: string) => boolean): void {
    this.#router.recheck(isConcerned);
  }

  /**
   * No new work; resolves when the last answer is out, or when the limit has passed and the rest was ended. True: nothing was. Where
   * listening sockets are inherited, new connections wait for the next process, and what comes on open ones is served until none comes for
   * a moment: a request that was on its way when the drain began must not be refused.
   */
  async drain(limitMs: number): Promise<boolean> {
    const beganMs = performance.now();
    this.#router.takesLateRequests = this.#hasInherited;
    this.#router.drain();
    this.#internal.stopAccepting();
    this.#public.stopAccepting();
    const deadline = performance.now() + limitMs;
    while ((this.#router.active.size > 0 || this.#mayHearMore(beganMs)) && performance.now() < deadline) await pause(10);
    this.#router.takesLateRequests = false;
    const isClean = this.#router.active.size === 0;
    this.#router.endActive();
    return isClean;
  }

  #mayHearMore(beganMs: number): boolean {
    if (!this.#hasInherited || this.#internal.connections + this.#public.connections === 0) return false;
    return performance.now() - Math.max(beganMs, this.#router.lastRequestMs) < QUIET_MS;
  }

  /** Cuts what is left and frees the sockets. */
  close(): void {
    this.#heartbeat.stop();
    this.#internal.close();
    this.#public.close();
  }

  #listener(name: ListenerName, options: HttpServerOptions): Listener {
    return new Listener({
      accept: this.#router.acceptorOf(name),
      probes: options.routes.filter((route) => route.probe === true),
      maxConnections: options.maxConnections ?? 9_000,
      requestIds: this.#requestIds,
      isDraining: () => this.#router.draining,
      tls: name === 'public' ? options.publicTls : undefined,
      inherited: options.inherited?.[name],
      log: options.log,
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
