/** Leads an exchange to its answer: it finds the route, asks who is calling, checks, validates, handles and replies. */
import type { Log } from '../log/log.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import type { BrowserGuard } from './access/browser-guard.ts';
import { type ClientAddress, isMarkedPublic } from './access/client-address.ts';
import type { Cors } from './access/cors.ts';
import type { AccessRecorder } from './access-recorder.ts';
import type { AuthenticationState, Authenticator } from './authenticator.ts';
import type { BodyBudget, BodyOutcome, HeldBytes } from './body/body-collector.ts';
import { BodyStream, payloadTooLarge } from './body/body-stream.ts';
import { busy, LargeBody } from './body/large-body.ts';
import { type ErrorBodyPrefix, errorFrame, prefixOfPath } from './error-body.ts';
import { HttpError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import {
  type ForwardedFacts,
  type ForwardedRequest,
  type Forwarding,
  IDENTITY_HEADER,
  nextHop,
  readForwardedFacts,
} from './forwarding.ts';
import type { ListenerName } from './listen/listener-name.ts';
import { endWhenRefused } from './open-request.ts';
import { ANY_CREDENTIAL, POLICIES, requireAllowed } from './policy.ts';
import type { Principal } from './principal.ts';
import { chunkedRefusal, drainRefusal, Refusals } from './refusals.ts';
import type { Heartbeat } from './reply/event-stream.ts';
import { Replier } from './reply/replier.ts';
import type { UnsentBytes } from './reply/unsent-bytes.ts';
import type { RequestIds, RequestObserver } from './request-observer.ts';
import type { Reply, Route } from './route.ts';
import type { Endpoint, Received } from './routing/endpoint.ts';
import { type FindModule, missingRoute } from './routing/missing-route.ts';
import type { RouteMatch, RouteTable } from './routing/route-table.ts';
import { callerKey, mustRecord, tenantOf, type Visit } from './visit.ts';

export interface RouterDeps {
  table: RouteTable;
  authenticator: Authenticator;
  recorder: AccessRecorder;
  guard: BrowserGuard;
  cors: Cors;
  clientAddress: ClientAddress;
  guardedPaths: ReadonlySet<string>;
  findModule: FindModule;
  forwarding: Forwarding | undefined;
  errorBodies: readonly ErrorBodyPrefix[];
  observer: RequestObserver;
  budget: BodyBudget;
  unsent: UnsentBytes;
  /** Reads large bodies. */
  pool: WorkerPool;
  /** Caps the routes' own limits. */
  maxBodyBytes: number;
  heartbeat: Heartbeat;
  log: Log;
  requestIds: RequestIds;
}

/** A body for a route that takes none is read past up to this size, as clients send `{}` to actions. */
const IGNORED_BODY_BYTES = 64 * 1024;
/** A declared body above this is not read past: the connection closes after the refusal. */
const READ_PAST_BYTES = 1024 * 1024 * 1024;

type TakenBody = Promise<BodyOutcome> | BodyStream | HttpError | undefined;

const NO_BROWSER = { corsOrigin: undefined, refusal: undefined };

export class Router {
  #isDraining = false;
  /** While draining, requests of connections that are open already are served: another process has the next ones, and these have nowhere to go. */
  takesLateRequests = false;
  /** While set, requests wait for it: the node has still to start. */
  opening: Promise<void> | undefined;
  /** When a request last came, by performance.now(). */
  lastRequestMs = 0;
  /** Requests that are not over, for the end of a drain and of their credentials. */
  readonly active = new Set<Visit>();
  readonly #deps: RouterDeps;
  readonly #replier: Replier;
  readonly #refusals: Refusals;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
    this.#replier = new Replier(deps.heartbeat, deps.log);
    this.#refusals = new Refusals(deps.errorBodies, deps.log);
  }

  /** While true, connections are closed behind their answers, and new requests are refused with 503 unless `takesLateRequests`. */
  get draining(): boolean {
    return this.#isDraining;
  }

  /** Answers without a head yet will say that their connection closes; open ones end as they began. */
  drain(): void {
    this.#isDraining = true;
    for (const { exchange } of this.active) exchange.answer.closeAfter = true;
  }

  /** Ends what is still active: event streams with an error frame, answers without a head with 503, all others by a cut. */
  endActive(): void {
    for (const visit of [...this.active]) this.#refusals.interrupt(visit, drainRefusal());
  }

  /** Returns the function that takes over the exchanges of one listener. */
  acceptorOf(socket: ListenerName): (exchange: Exchange) => void {
    return (exchange) => this.accept(exchange, socket);
  }

  /** Takes over an exchange. Runs synchronously up to the first wait, as the socket demands. */
  accept(exchange: Exchange, socket: ListenerName): void {
    const startedMs = performance.now();
    this.lastRequestMs = startedMs;
    const requestId = this.#deps.requestIds.resolve(exchange.header('x-request-id'));
    const note = exchange.header(IDENTITY_HEADER);
    const forwarded = note === undefined ? undefined : readForwardedFacts(note);
    exchange.remoteAddress = forwarded?.address ?? this.#deps.clientAddress.of(exchange.peerAddress, exchange.headers);
    const listener = isMarkedPublic(exchange.headers) ? 'public' : (forwarded?.listener ?? socket);
    const visit: Visit = {
      exchange,
      requestId,
      listener,
      state: this.#stateFor(forwarded),
      forwarded,
      route: undefined,
      largeBody: undefined,
      caller: undefined,
    };
    exchange.answer.commonHeaders.push('x-request-id', requestId);
    exchange.answer.closeAfter = this.#isDraining;
    exchange.requestId = requestId;
    exchange.callerKey = exchange.remoteAddress;
    exchange.unsent = this.#deps.unsent;
    this.active.add(visit);
    this.#deps.observer.started();
    exchange.answer.onEnd = (end) => {
      this.active.delete(visit);
      visit.largeBody?.close();
      this.#deps.observer.ended(exchange, { requestId, route: visit.route, listener, startedMs, tenant: tenantOf(visit) }, end);
      if (mustRecord(visit, end.status)) this.#record(visit, end.status);
    };
    this.#serve(visit).catch((error: unknown) => this.#refusals.answer(visit, error));
  }

  /** See HttpServer.recheck(). */
  recheck(isConcerned: (caller: Principal, requestId: string) => boolean): void {
    for (const visit of this.active) {
      const { caller, requestId, exchange } = visit;
      if (caller?.keyId === undefined || !isConcerned(caller, requestId)) continue;
      void endWhenRefused({
        exchange,
        judge: () => this.#admit(visit, this.#deps.table.find(exchange.method, exchange.path)),
        refuse: (refusal) => {
          const fields = { id: requestId, code: refusal.code, tenant: tenantOf(visit) };
          this.#deps.log.info('an open request ends, since its credential is refused now', fields);
          this.#refusals.interrupt(visit, refusal);
        },
        onFault: (error) => this.#refusals.logFault(visit, { error }),
      });
    }
  }

  /** A node that enforces authentication does so for what it sends on. */
  #stateFor(forwarded: ForwardedFacts | undefined): AuthenticationState {
    return forwarded?.state === 'enforce' ? 'enforce' : this.#deps.authenticator.state();
  }

  async #serve(visit: Visit): Promise<void> {
    const { exchange } = visit;
    if (exchange.framingFault !== undefined) return this.#refuseFraming(visit, exchange.framingFault);
    const match = this.#deps.table.find(exchange.method, exchange.path);
    const isOutside = visit.listener === 'public' && visit.forwarded === undefined;
    const isChunkedOutside = isOutside && exchange.header('transfer-encoding') !== undefined;
    // Data that arrives before anything listens is lost, so the body is taken before the first wait.
    const onwards = () =>
      this.#deps.forwarding?.find({
        route: match?.endpoint.route,
        method: exchange.method,
        path: exchange.path,
        isPart: visit.forwarded?.isPart === true,
      });
    let onward = this.opening === undefined ? onwards() : undefined;
    const takeBody = () =>
      match === undefined || isChunkedOutside ? undefined : this.#startBody(exchange, match.endpoint, onward !== undefined);
    const held = this.opening === undefined ? undefined : { body: takeBody() };
    if (held !== undefined) {
      await this.opening;
      visit.state = this.#stateFor(visit.forwarded);
      onward = onwards();
    }
    // The node that the client asked has judged the browser that sends it.
    const { corsOrigin, refusal } =
      visit.forwarded === undefined ? this.#deps.guard.check(exchange, visit.listener, visit.state) : NO_BROWSER;
    if (corsOrigin !== undefined) this.#deps.cors.addTo(exchange.answer.commonHeaders, corsOrigin);
    if (this.#isDraining && !this.takesLateRequests) throw drainRefusal();
    if (refusal !== undefined) throw refusal;
    if (exchange.method === 'OPTIONS') return this.#preflight(exchange);
    exchange.answer.closeAfter ||= isChunkedOutside;
    visit.route = match?.endpoint.route;
    // What is wrong with it is told after the credential.
    const body = held === undefined ? takeBody() : held.body;
    if (onward !== undefined && !isChunkedOutside) return await this.#sendOn(visit, onward, body);
    const caller = await this.#admit(visit, match);
    if (match === undefined) {
      const { method, path } = exchange;
      const { instead } = prefixOfPath(this.#deps.errorBodies, path) ?? {};
      throw missingRoute({ method, path, allowed: this.#deps.table.methodsOf(path), instead }, this.#deps.findModule);
    }
    if (isChunkedOutside) throw chunkedRefusal();
    if (body instanceof HttpError) throw body;
    const received = body instanceof Promise ? this.#bodyOf(exchange, await body) : body;
    return this.#replier.send(exchange, await this.#handle(visit, match, caller, received), visit.requestId);
  }

  /** The node that answers judges the credential, and records what was done. */
  async #sendOn(visit: Visit, send: (request: ForwardedRequest) => Promise<Reply>, body: TakenBody): Promise<void> {
    const { exchange, requestId, listener, state, forwarded } = visit;
    if (body instanceof HttpError) throw body;
    const whole = body instanceof Promise ? this.#bodyOf(exchange, await body) : body;
    const gone = new AbortController();
    exchange.whenAborted(() => gone.abort());
    const { method, path, query, headers, remoteAddress } = exchange;
    const reply = await send({
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      body: whole === undefined || whole instanceof BodyStream ? whole : whole.join(),
      facts: {
        address: remoteAddress,
        listener,
        state,
        host: forwarded?.host ?? exchange.header('host') ?? '',
        isEncrypted: forwarded?.isEncrypted ?? exchange.isTls,
        requestId,
        hops: nextHop(forwarded),
      },
      signal: gone.signal,
      lastFrame: (error) => errorFrame(this.#refusals.shapeOf(visit), error, path),
    });
    return await this.#replier.send(exchange, reply, requestId);
  }

  async #admit(visit: Visit, match: RouteMatch | undefined): Promise<Principal> {
    const { exchange, listener, state } = visit;
    const { authenticator } = this.#deps;
    const source = { headers: exchange.headers, path: exchange.path, remoteAddress: exchange.remoteAddress, listener };
    const answer = authenticator.authenticate(source);
    const caller = answer instanceof Promise ? await answer : answer;
    visit.caller = caller;
    exchange.callerKey = callerKey(caller) ?? exchange.remoteAddress;
    if (match !== undefined) {
      const { auth, scope } = match.endpoint.route;
      requireAllowed(POLICIES[auth], scope, caller, source, state);
    } else if (this.#isGuarded(exchange.path, listener)) {
      requireAllowed(ANY_CREDENTIAL, undefined, caller, source, state);
    }
    return caller;
  }

  /**
   * Whether a path that serves no such method asks for a credential first: on the native API always, since a 401 must not tell whether the path
   * exists, and elsewhere where its other methods do.
   */
  #isGuarded(path: string, listener: ListenerName): boolean {
    if (isNative(path) || this.#deps.guardedPaths.has(path)) return true;
    const routes = this.#deps.table.routesOf(path);
    const isOpen = ({ auth }: Route): boolean => (POLICIES[auth].anonymousOn as readonly ListenerName[]).includes(listener);
    return routes.length > 0 && !routes.some(isOpen);
  }

  #handle(visit: Visit, match: RouteMatch, caller: Principal, received: Received): Reply | Promise<Reply> {
    const { exchange, requestId, listener } = visit;
    return match.endpoint.handle(exchange, {
      parameters: match.parameters,
      received,
      caller,
      requestId,
      listener,
      recheck: async () => void (await this.#admit(visit, match)),
      largeBody: () => this.#largeBody(visit),
    });
  }

  #startBody(exchange: Exchange, endpoint: Endpoint, isSentOn: boolean): TakenBody {
    if (!exchange.hasBody && (isSentOn || !endpoint.isBodyStreamed)) return undefined;
    const declared = Number(exchange.header('content-length') ?? 0);
    const limit = endpoint.route.maxBody === 0 ? IGNORED_BODY_BYTES : Math.min(endpoint.route.maxBody, this.#deps.maxBodyBytes);
    if (declared > limit) {
      exchange.answer.closeAfter ||= declared > READ_PAST_BYTES;
      return payloadTooLarge(limit);
    }
    return isSentOn || endpoint.isBodyStreamed ? exchange.streamBody(limit) : exchange.collectBody(limit, this.#deps.budget);
  }

  #bodyOf(exchange: Exchange, outcome: BodyOutcome): HeldBytes {
    if (outcome.kind === 'complete') return outcome.body;
    exchange.answer.closeAfter ||= outcome.mustClose;
    if (outcome.kind === 'too_large') throw payloadTooLarge(outcome.limitBytes);
    throw busy();
  }

  #largeBody(visit: Visit): LargeBody {
    visit.largeBody = new LargeBody(this.#deps.pool, this.#deps.budget);
    if (visit.exchange.done) visit.largeBody.close();
    return visit.largeBody;
  }

  #preflight(exchange: Exchange): void {
    // On the native API the answer to a stranger must not tell whether the path exists.
    const methods = isNative(exchange.path) ? [] : this.#deps.table.methodsOf(exchange.path);
    const headers = this.#deps.cors.preflight(methods, exchange.header('access-control-request-headers'));
    exchange.answer.reply(204, { ...headers, ...this.#deps.table.optionsHeadersOf(exchange.path) }, '');
  }

  /**
   * Answered in a later turn of the event loop and closed: when another request hides in the same segment, the library drops the connection instead of
   * serving it, because this one is still pending.
   */
  #refuseFraming(visit: Visit, fault: NonNullable<Exchange['framingFault']>): void {
    visit.exchange.answer.closeAfter = true;
    const error = new HttpError(fault.status, fault.code, fault.detail, { extra: { status: fault.status } });
    setImmediate(() => this.#refusals.answer(visit, error));
  }

  #record({ exchange, requestId, caller }: Visit, status: number): void {
    if (caller === undefined) return;
    const { method, path, remoteAddress } = exchange;
    this.#deps.recorder.record({ caller, method, path, status, remoteAddress, requestId });
  }
}

function isNative(path: string): boolean {
  return path.startsWith('/api/v1/');
}
