/** The iot module: devices as profiles of variables, read truthfully, and written only within what an administrator allowed. */
import { defineModule } from '../../platform/module/module.ts';
import { iotSettings } from './settings.ts';
import { iotMigrations } from './tables.ts';

export { iotErrors } from './errors.ts';
export * as iotEvents from './events.ts';
export { WriteAsked, WriteVariable, Written } from './schemas.ts';

export const iot = defineModule({
  name: 'iot',
  settings: iotSettings,
  migrations: iotMigrations,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./iot-module.ts')).createIot(context),
});
