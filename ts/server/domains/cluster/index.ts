/** The cluster module: the nodes of one database, which of them leads, and what is asked of them from any other. */
import { defineModule } from '../../platform/module/module.ts';
import type { ClusterOverrides } from './cluster-module.ts';
import type * as Examine from './examine.ts';
import type * as Joining from './join/joining.ts';
import { clusterSettings } from './settings.ts';
import { clusterMigrations } from './tables.ts';

export type { ClusterApi, ClusterHealth } from './cluster-module.ts';

/** The same for `svc node promote`, with or without a process that serves; loaded when it is needed. */
export const loadStandby = () => import('./replica/standby.ts');

export function defineCluster(overrides: ClusterOverrides = {}) {
  return defineModule({
    name: 'cluster',
    settings: clusterSettings,
    migrations: clusterMigrations,
    // A standby that is promoted begins a list of its own, and each node registers its certificate with it.
    transient: ['cluster_nodes', 'cluster_orders', 'cluster_state'],
    create: async (context) => (await import('./cluster-module.ts')).createCluster(context, overrides),
  });
}

export const cluster = defineCluster();

/** See examine.ts. Loaded here, as the module is: most programs that read the settings need none of it. */
export async function examineCluster(...given: Parameters<typeof Examine.examineCluster>) {
  return await (await import('./examine.ts')).examineCluster(...given);
}

/** See join/joining.ts. */
export async function joinStopped(...given: Parameters<typeof Joining.joinStopped>) {
  return await (await import('./join/joining.ts')).joinStopped(...given);
}
