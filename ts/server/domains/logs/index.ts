/** The logs module: a node that collects the log lines of a network with rsyslog, in two copies. */
import { defineModule } from '../../platform/module/module.ts';
import { identity } from '../identity/index.ts';
import { logsSettings } from './settings.ts';

export const logs = defineModule({
  name: 'logs',
  settings: logsSettings,
  stateFiles: [{ name: 'logs.json', kind: 'file' }],
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => {
    const [{ Collection }, { logRoutes }] = await Promise.all([import('./collection/collection.ts'), import('./routes.ts')]);
    const { settings, node, log, metrics, tenants } = context;
    const { sealingKey } = context.use(identity);
    const runner = settings['logs.runner'];
    const collection = new Collection({ dataDir: node.dataDir, runner, log, metrics, sealingKey, now: Date.now });
    return {
      api: undefined,
      routes: logRoutes(collection, tenants),
      start: () => collection.start(),
      stop: () => collection.stop(),
      health: () => ({ state: {}, reasons: collection.health() }),
      ready: () => undefined,
    };
  },
});
