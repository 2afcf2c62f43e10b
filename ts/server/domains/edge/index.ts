/** The edge module: the one executor of tools, what a tenant's policy allows, and the approvals of calls that ask. */
import { defineModule } from '../../platform/module/module.ts';
import { edgeSettings, PLACED_FILE, PLUGINS_FOLDER } from './settings.ts';
import { edgeMigrations } from './tables.ts';

export type { EdgeApi } from './edge-module.ts';
export * as edgeEvents from './events.ts';
export { goalEnded, schedulePaused } from './events.ts';
export type { RunBudget } from './runs/run-budget.ts';
export type { ToolRuns, UsableMcpServer } from './runs/tool-runs.ts';

/** The pieces that a program needs which places plugins on a node. */
export const loadPluginFolders = async () => ({ ...(await import('./plugins/plugin-folder.ts')), PLUGINS_FOLDER });

/** The pieces that a program needs which places MCP servers on a node. */
export const loadPlacedServers = async () => ({ ...(await import('./mcp-servers/placed-servers.ts')), PLACED_FILE });

export const edge = defineModule({
  name: 'edge',
  settings: edgeSettings,
  migrations: edgeMigrations,
  // Whoever restores a backup has the plugins that its tenants enabled, and the programs that the operator placed.
  stateFiles: [
    { name: PLUGINS_FOLDER, kind: 'folder' },
    { name: PLACED_FILE, kind: 'file' },
  ],
  useKinds: [{ name: 'tools', one: 'tool', labels: ['tool', 'tools'], example: 'knowledge.search, conversations.*' }],
  create: async (context) => (await import('./edge-module.ts')).createEdge(context),
});
