/**
 * For tests: a node of the identity module in a process of its own, over a PostgreSQL database. Arguments: database URL, data folder. It prints its address,
 * then, for each line on its input, what a key resolves to without the database: `{"known": true}` when it needs no look-up.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import { HttpServer } from '../../../platform/http/http-server.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { scriptedContext, scriptedNode, silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import { endRefusedRequests } from '../changes/open-requests.ts';
import { createIdentity } from '../identity-module.ts';
import { identityMigrations } from '../migrations.ts';
import { identitySettings } from '../settings.ts';
import { streamingRoutes } from './open-stream.ts';

export interface NodeLine {
  url?: string;
  known?: boolean;
}

const [databaseUrl = '', folder = ''] = process.argv.slice(2);
const dataDir = join(folder, 'data');
mkdirSync(dataDir, { recursive: true });
const metrics = new MetricsRegistry();
const storage = createStorage({
  url: databaseUrl,
  modules: [eventsMigrations, { module: 'identity', migrations: identityMigrations }],
});
await storage.open();
const events = new Events({ storage, log: silentLog, metrics, nodeId: () => 'node' });
const node = { ...scriptedNode, dataDir };
const module = createIdentity(scriptedContext({ spec: identitySettings, node, storage, events }), {});
await module.start();
const { authenticator, recorder } = module.api;
const pool = new WorkerPool({ nThreads: 1, maxMemoryMb: 64, maxQueue: 1 });
const http = new HttpServer({
  routes: [...module.routes, ...streamingRoutes()],
  authenticator,
  recorder,
  pool,
  log: silentLog,
  metrics,
  findModule: () => undefined,
});
endRefusedRequests(events, http);
const { internal } = await http.open({ host: '127.0.0.1', port: 0 });
// Until then it looks up each second what it knows.
while ((await module.health()).reasons.length > 0) await wait(10);
const print = (line: NodeLine): unknown => process.stdout.write(`${JSON.stringify(line)}\n`);
print({ url: `http://127.0.0.1:${internal.port}` });

for await (const key of createInterface({ input: process.stdin })) {
  const source = { headers: new Map([['x-api-key', key]]), path: '/', remoteAddress: '192.0.2.1', listener: 'internal' as const };
  const found = authenticator.authenticate(source);
  print({ known: !(found instanceof Promise) });
  await Promise.resolve(found).catch(() => undefined);
}
http.close();
await pool.close(0);
await module.stop();
await storage.close();
