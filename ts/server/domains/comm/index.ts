/** The comm module: messages that go out once, over accounts that an administrator made. */
import { defineModule } from '../../platform/module/module.ts';
import { commSettings } from './settings.ts';
import { commMigrations } from './tables.ts';

export { commErrors } from './errors.ts';
export * as commEvents from './events.ts';
export { CallAccepted, MessageAccepted, SendMessage, StartCall } from './schemas.ts';

export const comm = defineModule({
  name: 'comm',
  settings: commSettings,
  migrations: commMigrations,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./comm-module.ts')).createComm(context),
});
