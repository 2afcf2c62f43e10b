import { join } from 'node:path';
import { eventsMigrations } from './platform/events/index.ts';
import { jobsMigrations } from './platform/jobs/index.ts';
import { type AnyModuleDefinition, migrationsOf } from './platform/module/module.ts';
import type { StorageOptions } from './platform/storage/index.ts';
import type { NodeConfig } from './settings.ts';

/** The node's database: the one that `database.url` names, or a SQLite file in the data folder. */
export function databaseOptions(values: NodeConfig['values'], definitions: readonly AnyModuleDefinition[]): StorageOptions {
  const url = values['database.url'];
  return {
    url: url === '' ? `sqlite:${join(values.data_dir, 'svc.db')}` : url,
    modules: [jobsMigrations, eventsMigrations, ...migrationsOf(definitions)],
    poolSize: values['database.pool_size'],
    waitMs: values['cluster.wait_seconds'] * 1000,
  };
}
