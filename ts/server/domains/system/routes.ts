/** Probes, health, metrics and the version. */
import Type from 'typebox';
import { type BytesReply, json, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { RecentLines } from '../../platform/log/log.ts';
import { METRICS_CONTENT_TYPE, type MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { Node } from '../../platform/node/node.ts';
import { named } from '../../platform/schema/named.ts';
import { systemErrors } from './errors.ts';
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

const State = named('NodeState', Type.Object({ status: Type.String() }));
const Version = named(
  'ServerVersion',
  Type.Object({ version: Type.String(), api: Type.String({ description: 'Prefix of the native API.' }) }),
);
const ALIVE: BytesReply = json(200, { status: 'alive' });
const READY: BytesReply = json(200, { status: 'ready' });

const { get } = routes({ tag: 'System', auth: 'local', errors: systemErrors });

export function systemRoutes({ node, metrics, jobs, incidents, recent }: SystemRouteDeps): Route[] {
  return [
    ...probes(node),
    ...roleRoutes(node),
    ...jobRoutes(jobs),
    ...settingsRoutes(node),
    ...logRoutes(recent),
    incidentRoute(incidents),
    get('/health', {
      summary: 'State of the node: version, authentication, module map, and what is missing and why',
      answer: Health,
      handle: () => readHealth(node),
    }),
    get('/metrics', {
      summary: 'Metrics in the Prometheus text format',
      responses: { 200: Type.String({ description: METRICS_CONTENT_TYPE }) },
      handle: () => ({ kind: 'bytes', status: 200, headers: { 'content-type': METRICS_CONTENT_TYPE }, body: metrics.expose() }),
    }),
    get('/api/v1/system/version', {
      summary: 'Version of the server',
      answer: Version,
      handle: () => ({ version: node.version, api: '/api/v1' }),
    }),
  ];
}

function probes(node: Node): Route[] {
  return [
    get('/livez', {
      auth: 'open',
      probe: true,
      summary: 'Whether the process answers at all',
      responses: { 200: State },
      handle: () => ALIVE,
    }),
    get('/readyz', {
      auth: 'open',
      probe: true,
      summary:
        'Whether the node takes work: 503 while the node starts, while the default model loads, and while the server drains',
      responses: { 200: State },
      errors: ['starting', 'model_loading'],
      handle: () => {
        const waiting = node.notReady();
        if (waiting === undefined) return READY;
        return json(503, { error: waiting.code, detail: waiting.detail, path: '/readyz' }, { 'retry-after': '1' });
      },
    }),
  ];
}
