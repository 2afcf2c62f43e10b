/** A server for tests, over given routes on a free port, that takes `a` for a Host, and a raw socket that speaks to it byte by byte. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import Type from 'typebox';
import type { LineSink } from '../../log/line-sink.ts';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { WorkerPool } from '../../pool/worker-pool.ts';
import { NO_ACCOUNTS } from '../authenticator.ts';
import type { ErrorBody } from '../error-body.ts';
import { HttpServer, type HttpServerOptions } from '../http-server.ts';
import { type BytesReply, json, type Reply, type RequestContext, type Route, route } from '../route.ts';

export interface TestBed {
  server: HttpServer;
  metrics: MetricsRegistry;
  /** The log so far. */
  lines: string[];
  port: number;
  url: string;
  publicUrl: string;
}

/** Starts a server that the test's teardown stops. */
export async function openTestBed(
  t: Test,
  routes: readonly Route[],
  options: Partial<HttpServerOptions> = {},
  publicPort = 0,
): Promise<TestBed> {
  const lines: string[] = [];
  const sink: LineSink = { write: (line) => lines.push(line), flush: () => undefined };
  const metrics = new MetricsRegistry();
  const log = new Log({ level: 'info', format: 'json', sink });
  const pool = new WorkerPool({ nThreads: 1, maxMemoryMb: 512, maxQueue: 4 });
  t.teardown(() => pool.close(0));
  const server = new HttpServer({
    routes,
    pool,
    log,
    metrics,
    authenticator: NO_ACCOUNTS,
    findModule: () => undefined,
    allowedHosts: ['a'],
    ...options,
  });
  t.teardown(() => server.close());
  const addresses = await server.open({ host: '127.0.0.1', port: 0 }, { host: '127.0.0.1', port: publicPort });
  const { port } = addresses.internal;
  return {
    server,
    metrics,
    lines,
    port,
    url: `http://127.0.0.1:${port}`,
    publicUrl: `http://127.0.0.1:${addresses.public?.port}`,
  };
}

type Handle = (context: RequestContext) => Reply | Promise<Reply>;

/** A route with default declarations; tests name what matters to them. */
export function plainRoute(method: Route['method'], path: string, handle: Handle, more: Partial<Route> = {}): Route {
  const defaults = {
    method,
    path,
    auth: 'viewer',
    maxBody: method === 'GET' ? 0 : 1000,
    tag: 'Test',
    summary: 'A test route',
  } as const;
  return { ...route({ ...defaults, responses: { 200: Type.Object({}) }, handle: handle as Route['handle'] }), ...more };
}

/** The shape of some foreign API, for tests of how shapes are chosen. */
export function nestedErrorBody(name: string): ErrorBody {
  return {
    name,
    schema: { type: 'object' },
    write: (error) => ({ [name]: { code: error.code, param: error.param ?? null }, detail: error.message }),
  };
}

export const OK: BytesReply = json(200, { ok: true });

export class RawClient {
  readonly socket: Socket;
  received = '';
  closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
    });
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('error', () => undefined);
  }

  static async open(t: Test, port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    t.teardown(() => socket.destroy());
    return new RawClient(socket);
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Resolves with all that was received once the condition holds. */
  async until(condition: (received: string, closed: boolean) => boolean, withinMs = 10_000): Promise<string> {
    const deadline = performance.now() + withinMs;
    while (!condition(this.received, this.closed)) {
      if (performance.now() > deadline)
        throw new Error(`not seen within ${withinMs} ms; received: ${this.received.slice(0, 500)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.received;
  }

  untilClosed(): Promise<string> {
    return this.until((_received, closed) => closed);
  }
}

/** Waits for something that becomes true. */
export async function eventually(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`did not become true within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
