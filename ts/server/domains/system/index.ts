/** The system module: how the node is, for probes, people and Prometheus, and which roles it has. */
import { defineModule } from '../../platform/module/module.ts';

export const system = defineModule({
  name: 'system',
  settings: {},
  create: async ({ node, metrics, jobs }) => {
    const { systemRoutes } = await import('./routes.ts');
    return {
      api: undefined,
      routes: systemRoutes({ node, metrics, jobs }),
      start: async () => {},
      stop: async () => {},
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
