/** The scim module: SCIM 2.0 over the accounts and groups of identity, which a directory provisions for its tenant. */
import { defineModule } from '../../platform/module/module.ts';

export const scim = defineModule({
  name: 'scim',
  settings: {},
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./scim-module.ts')).createScim(context),
});
