/** Probes, health, metrics and the version. */
import Type from 'typebox';
import { type BytesReply, json, type Route, route } from '../../platform/http/route.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { RecentLines } from '../../platform/log/recent-lines.ts';
import { METRICS_CONTENT_TYPE, type MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { Node } from '../../platform/node/node.ts';
import { Health, readHealth } from './health.ts';
import type { Incident } from './incident-log.ts';
import { incidentRoute } from './incident-route.ts';
import { jobRoutes } from './job-routes.ts';
import { logRoutes } from './log-routes.ts';
import { roleRoutes } from './role-routes.ts';
import { settingsRoutes } from './settings-route.ts';

export interface SystemRouteDeps {
  node: Node;
  metrics: MetricsRegistry;
  jobs: Jobs;
  incidents(): Promise<Incident[]>;
  recent: RecentLines | undefined;
}

const tag = 'System';
const State = Type.Object({ status: Type.String() });
const Version = Type.Object({ version: Type.String(), api: Type.String({ description: 'Prefix of the native API.' }) });
const ALIVE: BytesReply = json(200, { status: 'alive' });
const READY: BytesReply = json(200, { status: 'ready' });

export function systemRoutes({ node, metrics, jobs, incidents, recent }: SystemRouteDeps): Route[] {
  return [
    ...probes(node),
    ...roleRoutes(node),
    ...jobRoutes(jobs),
    ...settingsRoutes(node),
    ...logRoutes(recent),
    incidentRoute(incidents),
    route({
      method: 'GET',
      path: '/health',
      auth: 'local',
      maxBody: 0,
      tag,
      summary: 'State of the node: version, authentication, module map, and what is missing and why',
      responses: { 200: Health },
      handle: async () => json(200, await readHealth(node)),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      auth: 'local',
      maxBody: 0,
      tag,
      summary: 'Metrics in the Prometheus text format',
      responses: { 200: Type.String({ description: METRICS_CONTENT_TYPE }) },
      handle: () => ({ kind: 'bytes', status: 200, headers: { 'content-type': METRICS_CONTENT_TYPE }, body: metrics.expose() }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/system/version',
      auth: 'local',
      maxBody: 0,
      tag,
      summary: 'Version of the server',
      responses: { 200: Version },
      handle: () => json(200, { version: node.version, api: '/api/v1' }),
    }),
  ];
}

function probes(node: Node): Route[] {
  return [
    route({
      method: 'GET',
      path: '/livez',
      auth: 'open',
      maxBody: 0,
      probe: true,
      tag,
      summary: 'Whether the process answers at all',
      responses: { 200: State },
      handle: () => ALIVE,
    }),
    route({
      method: 'GET',
      path: '/readyz',
      auth: 'open',
      maxBody: 0,
      probe: true,
      tag,
      summary:
        'Whether the node takes work: 503 while the node starts, while the default model loads, and while the server drains',
      responses: { 200: State },
      errors: [
        { status: 503, code: 'storage_unavailable', meaning: 'The database does not take writes; the sentence says why.' },
        { status: 503, code: 'starting', meaning: 'The node starts; requests wait until its modules run.' },
        { status: 503, code: 'model_loading', meaning: 'The default model is being loaded; ask again in a moment.' },
        { status: 503, code: 'draining', meaning: 'The server is shutting down; send work elsewhere.' },
      ],
      handle: () => {
        const waiting = node.notReady();
        if (waiting === undefined) return READY;
        return json(503, { error: waiting.code, detail: waiting.detail, path: '/readyz' }, { 'retry-after': '1' });
      },
    }),
  ];
}
