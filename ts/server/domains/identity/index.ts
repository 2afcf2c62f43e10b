/**
 * The identity module: tenants, accounts, sessions, API keys and capability tokens, who is calling with which rights, and the audit log of what was done with
 * them. It is the one module that makes scopes of tenants.
 */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { IdentityApi, IdentityOverrides } from './identity-module.ts';
import { identityMigrations } from './migrations.ts';
import { identitySettings } from './settings.ts';

export { nameKey } from './accounts/account-name.ts';
export { type AuditEntry, type AuditSource, actorOf, auditEntry, auditSource } from './audit/audit-entry.ts';
export { endExpiredRequests, endRefusedRequests } from './changes/open-requests.ts';
export { LOCAL_TOKEN_FILE } from './credentials/local-token-file.ts';
export type { Delegation } from './delegations.ts';
export { type IdentityErrorCode, identityErrors } from './errors.ts';
export * as identityEvents from './events.ts';
export type { IdentityApi } from './identity-module.ts';
export type { ProtectedResource } from './oidc/access-tokens.ts';
export type { DirectoryRows, IndexedValue } from './provisioning/directory-reader.ts';
export type { GroupDraft, ProvisionedGroups } from './provisioning/provisioned-groups.ts';
export type { ProvisionedUsers, UserDraft, UserUpdate } from './provisioning/provisioned-users.ts';
export type { GroupRow, UserRow } from './tables.ts';

/** Tests put other limits in place of the real ones. */
function defineIdentity(overrides: IdentityOverrides = {}): ModuleDefinition<typeof identitySettings, IdentityApi> {
  return defineModule({
    name: 'identity',
    settings: identitySettings,
    migrations: identityMigrations,
    // What an audit entry tells of is counted where it changed something, and the facts go along with such a change.
    transient: ['identity_api_keys.used_at', 'identity_sessions.seen_at', 'identity_audit', 'identity_facts.value'],
    stateFiles: [{ name: 'sealing.key', kind: 'file' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./identity-module.ts')).createIdentity(context, overrides),
  });
}

export const identity = defineIdentity();
