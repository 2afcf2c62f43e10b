/** The screens of the console. A new one is a file below screens/ and an entry here. */
import type { FunctionComponent } from 'preact';
import type { IconName } from '../design/icon.tsx';
import type { ConsoleTextKey, TextKey } from '../i18n/catalogue.ts';
import type { Role } from '../session/session.ts';

export interface Screen {
  /** Stands behind the `#` of the address. */
  id: string;
  title: TextKey | ConsoleTextKey;
  icon: IconName;
  group: (typeof GROUPS)[number];
  /** The least role that sees it. */
  least: Role;
  /** The module that it needs; where the node does not run it, the screen is not there. */
  module?: string;
  load(): Promise<FunctionComponent>;
}

export const GROUPS = ['node', 'people', 'control', 'own'] as const;

export const SCREENS: readonly Screen[] = [
  {
    id: 'overview',
    title: 'overview',
    icon: 'gauge',
    group: 'node',
    least: 'admin',
    load: async () => (await import('./screens/overview.tsx')).Overview,
  },
  {
    id: 'models',
    title: 'models',
    icon: 'cube',
    group: 'node',
    least: 'admin',
    module: 'inference',
    load: async () => (await import('./screens/models.tsx')).Models,
  },
  {
    id: 'playground',
    title: 'playground',
    icon: 'play',
    group: 'node',
    least: 'admin',
    module: 'inference',
    load: async () => (await import('./screens/playground.tsx')).Playground,
  },
  {
    id: 'jobs',
    title: 'jobs',
    icon: 'clock',
    group: 'node',
    least: 'admin',
    load: async () => (await import('./screens/jobs.tsx')).Jobs,
  },
  {
    id: 'roles',
    title: 'node_roles',
    icon: 'swap',
    group: 'node',
    least: 'admin',
    load: async () => (await import('./screens/roles.tsx')).Roles,
  },
  {
    id: 'backups',
    title: 'backups',
    icon: 'download',
    group: 'node',
    least: 'superadmin',
    module: 'backup',
    load: async () => (await import('./screens/backups.tsx')).Backups,
  },
  {
    id: 'settings',
    title: 'settings',
    icon: 'settings',
    group: 'node',
    least: 'superadmin',
    load: async () => (await import('./screens/settings.tsx')).Settings,
  },
  {
    id: 'log',
    title: 'server_log',
    icon: 'list',
    group: 'node',
    least: 'superadmin',
    load: async () => (await import('./screens/server-log.tsx')).ServerLog,
  },
  {
    id: 'license',
    title: 'license',
    icon: 'info',
    group: 'node',
    least: 'admin',
    module: 'license',
    load: async () => (await import('./screens/license.tsx')).License,
  },
  {
    id: 'users',
    title: 'users',
    icon: 'users',
    group: 'people',
    least: 'admin',
    load: async () => (await import('./screens/users.tsx')).Users,
  },
  {
    id: 'groups',
    title: 'groups',
    icon: 'users',
    group: 'people',
    least: 'admin',
    load: async () => (await import('./screens/groups.tsx')).Groups,
  },
  {
    id: 'invitations',
    title: 'invitations',
    icon: 'link',
    group: 'people',
    least: 'admin',
    load: async () => (await import('./screens/invitations.tsx')).Invitations,
  },
  {
    id: 'tenants',
    title: 'tenants',
    icon: 'building',
    group: 'people',
    least: 'superadmin',
    load: async () => (await import('./screens/tenants.tsx')).Tenants,
  },
  {
    id: 'usage',
    title: 'usage',
    icon: 'list',
    group: 'people',
    least: 'admin',
    module: 'metering',
    load: async () => (await import('./screens/usage.tsx')).Usage,
  },
  {
    id: 'quotas',
    title: 'quotas',
    icon: 'gauge',
    group: 'people',
    least: 'admin',
    module: 'metering',
    load: async () => (await import('./screens/quotas.tsx')).Quotas,
  },
  {
    id: 'branding',
    title: 'branding',
    icon: 'palette',
    group: 'people',
    least: 'admin',
    load: async () => (await import('./screens/branding.tsx')).BrandingScreen,
  },
  {
    id: 'enforcement',
    title: 'enforcement',
    icon: 'shield',
    group: 'control',
    least: 'admin',
    module: 'security',
    load: async () => (await import('./screens/enforcement.tsx')).Enforcement,
  },
  {
    id: 'audit',
    title: 'audit_log',
    icon: 'shield',
    group: 'control',
    least: 'admin',
    load: async () => (await import('./screens/audit.tsx')).Audit,
  },
  {
    id: 'webhooks',
    title: 'webhooks',
    icon: 'send',
    group: 'control',
    least: 'admin',
    module: 'webhooks',
    load: async () => (await import('./screens/webhooks.tsx')).Webhooks,
  },
  {
    id: 'provisioning',
    title: 'provisioning',
    icon: 'signout',
    group: 'control',
    least: 'admin',
    load: async () => (await import('./screens/provisioning.tsx')).Provisioning,
  },
  {
    id: 'keys',
    title: 'api_keys',
    icon: 'key',
    group: 'own',
    least: 'viewer',
    load: async () => (await import('./screens/keys.tsx')).Keys,
  },
  {
    id: 'sessions',
    title: 'sessions',
    icon: 'user',
    group: 'own',
    least: 'viewer',
    load: async () => (await import('./screens/sessions.tsx')).Sessions,
  },
  {
    id: 'components',
    title: 'components',
    icon: 'palette',
    group: 'own',
    least: 'admin',
    load: async () => (await import('./screens/components.tsx')).Components,
  },
];
