/** The cluster module: the nodes of one database, which of them leads, and what is asked of them from any other. */
import { defineModule } from '../../platform/module/module.ts';
import { clusterSettings } from './settings.ts';
import { clusterMigrations } from './tables.ts';

export type { ClusterApi, ClusterHealth } from './cluster-module.ts';
export { examineCluster } from './examine.ts';

export const cluster = defineModule({
  name: 'cluster',
  settings: clusterSettings,
  migrations: clusterMigrations,
  create: async (context) => (await import('./cluster-module.ts')).createCluster(context),
});
