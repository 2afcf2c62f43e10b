/** Every route of the module. */
import type { Route } from '../../platform/http/route.ts';
import { type ModelRouteDeps, modelRoutes } from './api/model-routes.ts';
import { type PullRouteDeps, pullRoutes } from './api/pull-routes.ts';

export function inferenceRoutes(deps: ModelRouteDeps & PullRouteDeps): Route[] {
  return [...modelRoutes(deps), ...pullRoutes(deps)];
}
