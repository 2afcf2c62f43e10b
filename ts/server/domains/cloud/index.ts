/** The cloud module: models of providers behind our API, with their keys, their limits, their failures and their bills. */
import { defineModule } from '../../platform/module/module.ts';
import { cloudSettings } from './settings.ts';
import { cloudMigrations } from './store.ts';

export * as cloudEvents from './events.ts';

export const cloud = defineModule({
  name: 'cloud',
  settings: cloudSettings,
  migrations: cloudMigrations,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./cloud-module.ts')).createCloud(context),
});
