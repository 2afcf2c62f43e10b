/** The logs module: a node that collects the log lines of a network with rsyslog, in two copies, finds them, and says what is wrong in them. */
import { defineModule } from '../../platform/module/module.ts';
import { baselineMigration } from './detection/baselines.ts';
import { logsMigrations } from './detection/tables.ts';
import { flowMigration } from './flows/flow-store.ts';
import { logsSettings } from './settings.ts';

export * as logsEvents from './detection/events.ts';
export { logsErrors } from './errors.ts';
export type { Evidence } from './index/evidence.ts';
export type { EvidenceBounds, LogsApi } from './log-evidence.ts';

export const logs = defineModule({
  name: 'logs',
  settings: logsSettings,
  migrations: [...logsMigrations, flowMigration, baselineMigration],
  stateFiles: [{ name: 'logs.json', kind: 'file' }],
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./logs-module.ts')).createLogs(context),
});
