/** The system module: how the node is, for probes, people and Prometheus, and which roles it has. */
import { defineModule } from '../../platform/module/module.ts';

export const system = defineModule({
  name: 'system',
  settings: {},
  create: async ({ node, metrics, jobs, log }) => {
    const [{ systemRoutes }, { Incidents }] = await Promise.all([import('./routes.ts'), import('./incidents.ts')]);
    const incidents = new Incidents(node, log);
    return {
      api: undefined,
      routes: systemRoutes({ node, metrics, jobs, incidents: () => incidents.list(), recent: log.recent }),
      start: async () => incidents.start(),
      stop: () => incidents.stop(),
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
