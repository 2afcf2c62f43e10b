/** Every route of the module. */
import type { Route } from '../../platform/http/route.ts';
import { type ModelRouteDeps, modelRoutes } from './api/model-routes.ts';
import { type ProbeRouteDeps, probeRoute } from './api/probe-route.ts';
import { type PullRouteDeps, pullRoutes } from './api/pull-routes.ts';

export function inferenceRoutes(deps: ModelRouteDeps & PullRouteDeps & ProbeRouteDeps): Route[] {
  return [...modelRoutes(deps), ...pullRoutes(deps), probeRoute(deps)];
}
