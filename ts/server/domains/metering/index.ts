/**
 * The metering module: what each key, user, tenant and model used, exact also when the process is killed, and the quotas that limit it. Modules
 * that run models meter each request with `begin()`.
 */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { MeteringApi, MeteringOverrides } from './metering-module.ts';
import { meteringMigrations } from './migrations.ts';
import { meteringSettings } from './settings.ts';

export { quotaErrors } from './errors.ts';
export * as meteringEvents from './events.ts';
export type { MeteringApi } from './metering-module.ts';
export type { MeteredWork } from './metering-service.ts';
export type { RequestMeter } from './usage/request-meter.ts';

/** Tests put a clock of their own in place of the real one. */
function defineMetering(overrides: MeteringOverrides = {}): ModuleDefinition<typeof meteringSettings, MeteringApi> {
  return defineModule({
    name: 'metering',
    settings: meteringSettings,
    migrations: meteringMigrations,
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./metering-module.ts')).createMetering(context, overrides),
  });
}

export const metering = defineMetering();
