/** The security module: whether roles are enforced where tools are called. Every call site asks the one check of this module. */
import { defineModule } from '../../platform/module/module.ts';
import { securityMigrations } from './migrations.ts';

export { toolCallDenied, toolCallErrors } from './errors.ts';
export type { SecurityApi } from './security-module.ts';

export const security = defineModule({
  name: 'security',
  settings: {},
  migrations: securityMigrations,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./security-module.ts')).createSecurity(context),
});
