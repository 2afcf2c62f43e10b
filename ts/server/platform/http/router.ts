/** From an exchange to an answer: find the route, ask who is calling, check, validate, handle, reply. */
import { DomainError } from '../errors/domain-error.ts';
import type { Log, LogFields } from '../log/log.ts';
import { type Authenticator, requireAllowed } from './authenticator.ts';
import type { BodyBudget, BodyOutcome } from './body-collector.ts';
import { addCorsHeaders, preflightHeaders } from './cors.ts';
import { declaredError } from './declared-error.ts';
import type { Endpoint } from './endpoint.ts';
import { errorBody, shapeOfPath } from './error-body.ts';
import { HttpError } from './errors.ts';
import { EVENT_STREAM_HEADERS, type Heartbeat } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import { type FindModule, missingRoute } from './missing-route.ts';
import { ExchangeContext } from './request-context.ts';
import type { RequestIds } from './request-id.ts';
import type { RequestObserver } from './request-observer.ts';
import type { Caller, Reply, Route, StreamReply } from './route.ts';
import type { RouteMatch, RouteTable } from './route-table.ts';

export interface RouterDeps {
  table: RouteTable;
  authenticator: Authenticator;
  findModule: FindModule;
  observer: RequestObserver;
  budget: BodyBudget;
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

interface Visit {
  exchange: Exchange;
  requestId: string;
  listener: 'internal' | 'public';
  route: Route | undefined;
}

export class Router {
  /** While true, new requests are refused with 503 and their connections closed. */
  draining = false;
  /** Exchanges that are not over, for the end of a drain. */
  readonly active = new Set<Exchange>();
  readonly #deps: RouterDeps;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  /** Takes over an exchange. Runs synchronously up to the first wait, as the socket demands. */
  accept(exchange: Exchange, socket: 'internal' | 'public'): void {
    const startedMs = performance.now();
    const requestId = this.#deps.requestIds.resolve(exchange.header('x-request-id'));
    // A proxy's mark can make a request public; nothing can make a public one internal.
    const listener = exchange.header('x-svc-public-edge') === '1' ? 'public' : socket;
    const visit: Visit = { exchange, requestId, listener, route: undefined };
    exchange.commonHeaders.push('x-request-id', requestId);
    const origin = exchange.header('origin');
    if (origin !== undefined) addCorsHeaders(origin, exchange.commonHeaders);
    this.active.add(exchange);
    this.#deps.observer.started();
    exchange.onEnd = (end) => {
      this.active.delete(exchange);
      this.#deps.observer.ended(exchange, { requestId, route: visit.route, listener, startedMs }, end);
    };
    this.#serve(visit).catch((error: unknown) => this.#fail(visit, error));
  }

  async #serve(visit: Visit): Promise<void> {
    const { exchange } = visit;
    if (exchange.framingFault !== undefined) return this.#refuseFraming(visit, exchange.framingFault);
    if (this.draining) throw this.#drainRefusal(exchange);
    if (exchange.method === 'OPTIONS') return this.#preflight(exchange);
    if (visit.listener === 'public' && exchange.header('transfer-encoding') !== undefined) throw this.#chunkedRefusal(exchange);
    const match = this.#deps.table.find(exchange.method, exchange.path);
    visit.route = match?.endpoint.route;
    const collected = match === undefined ? undefined : this.#startBody(exchange, match.endpoint);
    const caller = await this.#admit(visit, match);
    if (match === undefined) {
      throw missingRoute(exchange.method, exchange.path, this.#deps.table.methodsOf(exchange.path), this.#deps.findModule);
    }
    const bytes = collected === undefined ? undefined : this.#bodyOf(exchange, await collected);
    this.#send(visit, await this.#handle(visit, match, caller, bytes));
  }

  async #admit(visit: Visit, match: RouteMatch | undefined): Promise<Caller> {
    const { exchange, listener } = visit;
    const { authenticator } = this.#deps;
    const source = { headers: exchange.headers, path: exchange.path, remoteAddress: exchange.remoteAddress, listener };
    const answer = authenticator.authenticate(source);
    const caller = answer instanceof Promise ? await answer : answer;
    if (match !== undefined) requireAllowed(match.endpoint.route.auth, caller, listener, authenticator.state());
    // On the native API a 401 must not tell whether the path exists.
    else if (exchange.path.startsWith('/api/v1/')) requireAllowed('user', caller, listener, authenticator.state());
    return caller;
  }

  #handle(visit: Visit, match: RouteMatch, caller: Caller, bytes: Uint8Array | undefined): Reply | Promise<Reply> {
    const { exchange, requestId, listener } = visit;
    const { endpoint } = match;
    const params = endpoint.readParams(match.segments);
    const query = endpoint.readQuery(exchange.query);
    const body = endpoint.readBody(bytes, exchange.header('content-type'));
    return endpoint.route.handle(new ExchangeContext(exchange, { params, query, body, caller, requestId, listener }));
  }

  #startBody(exchange: Exchange, endpoint: Endpoint): Promise<BodyOutcome> | undefined {
    if (!exchange.hasBody) return undefined;
    const declared = Number(exchange.header('content-length') ?? 0);
    const limit = endpoint.route.maxBody === 0 ? IGNORED_BODY_BYTES : Math.min(endpoint.route.maxBody, this.#deps.maxBodyBytes);
    if (declared > limit) {
      exchange.closeAfter = declared > READ_PAST_BYTES;
      throw tooLarge(limit);
    }
    return exchange.collectBody(limit, this.#deps.budget);
  }

  #bodyOf(exchange: Exchange, outcome: BodyOutcome): Uint8Array {
    if (outcome.kind === 'complete') return outcome.bytes;
    exchange.closeAfter ||= outcome.mustClose;
    if (outcome.kind === 'too_large') throw tooLarge(outcome.limitBytes);
    throw new HttpError(503, 'server_busy', 'Too many large request bodies are arriving at once; retry shortly.', {
      headers: { 'retry-after': '1' },
    });
  }

  #send(visit: Visit, reply: Reply): void {
    const { exchange } = visit;
    if (this.draining) exchange.closeAfter = true;
    if (reply.kind === 'bytes') exchange.reply(reply.status, reply.headers, reply.body);
    else this.#openStream(visit, reply);
  }

  #openStream({ exchange, requestId }: Visit, reply: StreamReply): void {
    const headers = { ...EVENT_STREAM_HEADERS, ...reply.headers };
    if (exchange.method === 'HEAD') {
      exchange.reply(200, headers, '');
      return;
    }
    const stream = exchange.openStream(200, headers, this.#deps.heartbeat);
    try {
      reply.start(stream);
    } catch (error) {
      this.#deps.log.error('a stream could not start', { id: requestId, error });
      exchange.cut();
    }
  }

  #preflight(exchange: Exchange): void {
    const methods = this.#deps.table.methodsOf(exchange.path);
    exchange.reply(204, preflightHeaders(methods, exchange.header('access-control-request-headers')), '');
  }

  /**
   * Answered on a later turn and closed: when another request hides in the same segment, the library drops the connection instead of
   * serving it, because this one is still pending.
   */
  #refuseFraming(visit: Visit, fault: NonNullable<Exchange['framingFault']>): void {
    visit.exchange.closeAfter = true;
    const error = new HttpError(fault.status, fault.code, fault.detail, { extra: { status: fault.status } });
    setImmediate(() => this.#fail(visit, error));
  }

  #drainRefusal(exchange: Exchange): HttpError {
    exchange.closeAfter = true;
    return new HttpError(503, 'draining', 'The server is shutting down; retry on another node or in a moment.', {
      headers: { 'retry-after': '5' },
    });
  }

  /**
   * The library does not check the bytes after a chunk's data, so behind a proxy that passes chunks on, trailers could become a second
   * request. Clients of the API send a Content-Length; proxies that buffer requests do too.
   */
  #chunkedRefusal(exchange: Exchange): HttpError {
    exchange.closeAfter = true;
    const detail = 'The public edge takes no chunked request bodies; send a Content-Length.';
    return new HttpError(411, 'length_required', detail, { extra: { status: 411 } });
  }

  #fail(visit: Visit, thrown: unknown): void {
    const { exchange, route } = visit;
    exchange.dropBody();
    // A service that stops because its client went away says so; nobody reads it.
    if (exchange.done && thrown instanceof DomainError) return;
    const error = this.#answerOf(visit, thrown);
    const shape = route === undefined ? shapeOfPath(exchange.path) : (route.errorShape ?? 'flat');
    const headers: Record<string, string> = { 'content-type': 'application/json', ...error.headers };
    if (error.status === 401) headers['www-authenticate'] ??= 'Bearer';
    exchange.reply(error.status, headers, JSON.stringify(errorBody(error, shape, exchange.path)));
  }

  #answerOf(visit: Visit, thrown: unknown): HttpError {
    if (thrown instanceof HttpError) return thrown;
    if (!(thrown instanceof DomainError)) return this.#internal(visit, { error: thrown });
    const declared = declaredError(thrown, visit.route?.errors);
    if (declared === undefined) return this.#internal(visit, { undeclared_code: thrown.code, error: thrown });
    if (declared.status === 500) this.#logFault(visit, { error: thrown.cause ?? thrown });
    return declared;
  }

  #internal(visit: Visit, fields: LogFields): HttpError {
    this.#logFault(visit, fields);
    return new HttpError(
      500,
      'internal',
      `Something went wrong on the server. The log has it under request id ${visit.requestId}.`,
    );
  }

  #logFault({ requestId, route }: Visit, fields: LogFields): void {
    this.#deps.log.error('a request failed unexpectedly', { id: requestId, route: route?.path, ...fields });
  }
}

function tooLarge(limitBytes: number): HttpError {
  const detail = `The request body is over the limit of ${limitBytes} bytes. Send less, or use the chunked upload.`;
  return new HttpError(413, 'payload_too_large', detail, { extra: { status: 413 } });
}
