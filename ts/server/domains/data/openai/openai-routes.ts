/** OpenAI's routes of files and vector stores. */
import type { Route } from '../../../platform/http/route.ts';
import { batchRoutes } from './batch-routes.ts';
import { type FileRouteDeps, fileRoutes } from './file-routes.ts';
import { storeFileRoutes } from './store-file-routes.ts';
import { storeRoutes } from './store-routes.ts';
import { type StoreSearchDeps, storeSearchRoute } from './store-search-route.ts';

export function openaiRoutes(deps: FileRouteDeps & Pick<StoreSearchDeps, 'stores' | 'access'>): Route[] {
  const { stores } = deps;
  return [...fileRoutes(deps), ...storeRoutes(stores), ...storeFileRoutes(deps), ...batchRoutes(stores), storeSearchRoute(deps)];
}
