/** A server of `/mcp` with the product's own routes and handler, over the fixture, for programs that test the protocol. */

import { McpEndpoint } from '../../ts/server/domains/edge/mcp-server/mcp-endpoint.ts';
import { mcpRoutes } from '../../ts/server/domains/edge/mcp-server/mcp-routes.ts';
import { NO_ACCOUNTS } from '../../ts/server/platform/http/authenticator.ts';
import { HttpServer } from '../../ts/server/platform/http/http-server.ts';
import { Log } from '../../ts/server/platform/log/log.ts';
import { MetricsRegistry } from '../../ts/server/platform/metrics/registry.ts';
import { WorkerPool } from '../../ts/server/platform/pool/worker-pool.ts';
import { fixtureServer } from './fixture-server.ts';

interface ServedFixture {
  readonly url: string;
  stop(): Promise<void>;
}

export async function serveFixture(): Promise<ServedFixture> {
  const endpoint = new McpEndpoint({
    newServer: fixtureServer,
    now: Date.now,
    onError: () => undefined,
  });
  const pool = new WorkerPool({ nThreads: 1, maxMemoryMb: 512, maxQueue: 4 });
  const server = new HttpServer({
    routes: mcpRoutes(endpoint, undefined),
    pool,
    log: new Log({
      level: 'error',
      format: 'text',
      sink: { write: (line) => process.stderr.write(`${line}\n`), flush: () => {} },
    }),
    metrics: new MetricsRegistry(),
    authenticator: NO_ACCOUNTS,
    findModule: () => undefined,
    allowedHosts: [],
  });
  const { internal } = await server.open({ host: '127.0.0.1', port: 0 });
  const stop = async () => {
    await endpoint.close();
    await server.close();
    await pool.close(0);
  };
  return { url: `http://127.0.0.1:${internal.port}/mcp`, stop };
}
