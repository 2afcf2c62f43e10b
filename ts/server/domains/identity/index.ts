/**
 * The identity module: tenants, accounts, sessions, API keys and capability tokens, who is calling with which rights, and the audit log of what was done with
 * them. It is the one module that makes scopes of tenants.
 */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { IdentityApi, IdentityOverrides } from './identity-module.ts';
import { identityMigrations } from './migrations.ts';
import { identitySettings } from './settings.ts';

export type { AuditEntry } from './audit/audit-entry.ts';
export { endExpiredRequests, endRefusedRequests } from './changes/open-requests.ts';
export { LOCAL_TOKEN_FILE } from './credentials/local-token-file.ts';
export * as identityEvents from './events.ts';
export type { IdentityApi } from './identity-module.ts';

/** Tests put other limits in place of the real ones. */
function defineIdentity(overrides: IdentityOverrides = {}): ModuleDefinition<typeof identitySettings, IdentityApi> {
  return defineModule({
    name: 'identity',
    settings: identitySettings,
    migrations: identityMigrations,
    stateFiles: [{ name: 'sealing.key', kind: 'file' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./identity-module.ts')).createIdentity(context, overrides),
  });
}

export const identity = defineIdentity();
