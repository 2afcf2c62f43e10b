/** One log line and the HTTP metrics of each request, by route pattern: raw paths and methods never become labels. */

import { randomBytes } from 'node:crypto';
import type { Log } from '../log/log.ts';
import type { Counter, Family, Gauge, Histogram } from '../metrics/metrics.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Exchange } from './exchange.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { ExchangeEnd } from './reply/answer.ts';
import type { Route } from './route.ts';

/** Status of the log line and the metrics when the client left before an answer (nginx's convention). */
const CLIENT_LEFT = 499;
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface ObservedRequest {
  requestId: string;
  route: Route | undefined;
  listener: ListenerName;
  /** The caller's; undefined: nobody knows whose request it is. */
  tenant: string | undefined;
  /** The start of the request, by performance.now(). */
  startedMs: number;
}

export class RequestObserver {
  readonly #log: Log;
  readonly #requests: Family<Counter>;
  readonly #durations: Family<Histogram>;
  readonly #sentBytes: Counter;
  readonly #inFlight: Gauge;

  constructor(log: Log, metrics: MetricsRegistry) {
    this.#log = log;
    this.#requests = metrics.counter('svc_http_requests_total', 'Requests by route pattern, method and status.', [
      'route',
      'method',
      'status',
    ]);
    this.#durations = metrics.histogram(
      'svc_http_request_duration_seconds',
      'Time from the request head to the end of the answer.',
      ['route'],
    );
    this.#sentBytes = metrics.counter('svc_http_response_body_bytes_total', 'Bytes of response bodies.').with();
    this.#inFlight = metrics.gauge('svc_http_requests_in_flight', 'Requests that are being answered, streams included.').with();
  }

  started(): void {
    this.#inFlight.add(1);
  }

  ended(exchange: Exchange, request: ObservedRequest, end: ExchangeEnd): void {
    const seconds = (performance.now() - request.startedMs) / 1000;
    const status = end.aborted && end.status === 0 ? CLIENT_LEFT : end.status;
    const route = request.route?.path ?? 'none';
    const method = KNOWN_METHODS.has(exchange.method) ? exchange.method : 'other';
    this.#requests.with({ route, method, status: String(status) }).add();
    this.#durations.with({ route }).observe(seconds);
    this.#sentBytes.add(end.sentBytes);
    this.#inFlight.add(-1);
    this.#log.info('request', {
      id: request.requestId,
      method,
      path: exchange.path.slice(0, 300),
      status,
      ms: Math.round(seconds * 1e6) / 1e3,
      bytes: end.sentBytes,
      ...(end.aborted ? { aborted: true } : {}),
      listener: request.listener,
      remote: exchange.remoteAddress,
      tenant: request.tenant,
    });
  }
}

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export class RequestIds {
  readonly #prefix = randomBytes(6).toString('hex');
  #count = 0;

  /** The client's id when it is sane, else a new one: unique in this process by count, across processes by a random prefix. */
  resolve(given: string | undefined): string {
    if (given !== undefined && SANE.test(given)) return given;
    this.#count += 1;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }
}
