/** The public interface of the system module: how the node is, for probes, people and Prometheus. */
import type { Route } from '../../platform/http/route.ts';
import { type SystemRouteDeps, systemRoutes } from './routes.ts';

export type { HealthReason, HealthReport, HealthSource, NodeState } from './health.ts';
export type { SystemRouteDeps } from './routes.ts';

export interface System {
  routes: Route[];
}

export function create(deps: SystemRouteDeps): System {
  return { routes: systemRoutes(deps) };
}
