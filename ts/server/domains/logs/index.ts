/** The logs module: a node that collects the log lines of a network with rsyslog, in two copies, and finds them. */
import { defineModule } from '../../platform/module/module.ts';
import { identity } from '../identity/index.ts';
import { logsSettings } from './settings.ts';

export const logs = defineModule({
  name: 'logs',
  settings: logsSettings,
  stateFiles: [{ name: 'logs.json', kind: 'file' }],
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => {
    const [{ Collection }, { LogIndex }, { logRoutes }, { searchRoutes }] = await Promise.all([
      import('./collection/collection.ts'),
      import('./index/log-index.ts'),
      import('./routes.ts'),
      import('./search-routes.ts'),
    ]);
    const { settings, node, log, metrics, tenants } = context;
    const { sealingKey, recordAct } = context.use(identity);
    const runner = settings['logs.runner'];
    const { dataDir } = node;
    const now = Date.now;
    const collection = new Collection({ dataDir, runner, log, metrics, sealingKey, now });
    const index = new LogIndex({ dataDir, log, metrics, now, reading: () => collection.reading });
    return {
      api: undefined,
      routes: [...logRoutes(collection, index, tenants), ...searchRoutes({ collection, index, recordAct, now })],
      start: async () => {
        await collection.start();
        index.start();
      },
      stop: async () => {
        await index.stop();
        await collection.stop();
      },
      health: () => ({ state: {}, reasons: collection.health() }),
      ready: () => undefined,
    };
  },
});
