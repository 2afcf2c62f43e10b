/** The screens of the console, in the order of its navigation. A new one is a file below screens/ and a line here. */
import type { FunctionComponent } from 'preact';
import type { IconName } from '../design/icon.tsx';
import type { ConsoleTextKey, TextKey } from '../i18n/catalogue.ts';
import type { Role } from '../session/session.ts';

export interface ScreenEntry {
  title: TextKey | ConsoleTextKey;
  /** The word behind the `#` of the address, where it is not the title's name. */
  id?: string;
  icon: IconName;
  /** The least role that sees it. */
  least: Role;
  /** The module that it needs; where the node does not run it, the screen is not there. */
  module?: string;
  load(): Promise<{ Screen: FunctionComponent }>;
}

type Group = 'node' | 'people' | 'control' | 'own';

export const SCREENS: Readonly<Record<Group, readonly ScreenEntry[]>> = {
  node: [
    { title: 'overview', icon: 'gauge', least: 'admin', load: () => import('./screens/overview.tsx') },
    { title: 'models', icon: 'cube', least: 'admin', module: 'inference', load: () => import('./screens/models.tsx') },
    { title: 'backends', icon: 'link', least: 'admin', module: 'cloud', load: () => import('./screens/backends.tsx') },
    { title: 'prices', icon: 'list', least: 'admin', module: 'cloud', load: () => import('./screens/prices.tsx') },
    { title: 'playground', icon: 'play', least: 'admin', module: 'inference', load: () => import('./screens/playground.tsx') },
    { title: 'jobs', icon: 'clock', least: 'admin', load: () => import('./screens/jobs.tsx') },
    { title: 'node_roles', id: 'roles', icon: 'swap', least: 'admin', load: () => import('./screens/roles.tsx') },
    { title: 'cluster', icon: 'link', least: 'admin', module: 'cluster', load: () => import('./screens/cluster.tsx') },
    { title: 'backups', icon: 'download', least: 'superadmin', module: 'backup', load: () => import('./screens/backups.tsx') },
    { title: 'settings', icon: 'settings', least: 'superadmin', load: () => import('./screens/settings.tsx') },
    { title: 'server_log', id: 'log', icon: 'list', least: 'superadmin', load: () => import('./screens/server-log.tsx') },
    { title: 'forwarding', icon: 'send', least: 'admin', module: 'syslog', load: () => import('./screens/forwarding.tsx') },
    { title: 'logs', icon: 'search', least: 'admin', module: 'logs', load: () => import('./screens/logs.tsx') },
    { title: 'incidents', icon: 'alert', least: 'superadmin', module: 'logs', load: () => import('./screens/incidents.tsx') },
    { title: 'flows', icon: 'swap', least: 'superadmin', module: 'logs', load: () => import('./screens/flows.tsx') },
    {
      title: 'collection',
      icon: 'download',
      least: 'superadmin',
      module: 'logs',
      load: () => import('./screens/collection.tsx'),
    },
    { title: 'science', icon: 'book', least: 'admin', module: 'science', load: () => import('./screens/sources.tsx') },
    { title: 'devices', icon: 'gauge', least: 'admin', module: 'iot', load: () => import('./screens/devices.tsx') },
    { title: 'media', icon: 'microphone', least: 'admin', module: 'media', load: () => import('./screens/media.tsx') },
    { title: 'memories', icon: 'moon', least: 'admin', module: 'memory', load: () => import('./screens/memories.tsx') },
    { title: 'messages', icon: 'send', least: 'admin', module: 'comm', load: () => import('./screens/messages.tsx') },
    { title: 'license', icon: 'info', least: 'admin', module: 'license', load: () => import('./screens/license.tsx') },
  ],
  people: [
    { title: 'users', icon: 'users', least: 'admin', load: () => import('./screens/users.tsx') },
    { title: 'groups', icon: 'users', least: 'admin', load: () => import('./screens/groups.tsx') },
    { title: 'invitations', icon: 'link', least: 'admin', load: () => import('./screens/invitations.tsx') },
    { title: 'tenants', icon: 'building', least: 'superadmin', load: () => import('./screens/tenants.tsx') },
    { title: 'usage', icon: 'list', least: 'admin', module: 'metering', load: () => import('./screens/usage.tsx') },
    { title: 'quotas', icon: 'gauge', least: 'admin', module: 'metering', load: () => import('./screens/quotas.tsx') },
    { title: 'branding', icon: 'palette', least: 'admin', load: () => import('./screens/branding.tsx') },
  ],
  control: [
    { title: 'enforcement', icon: 'shield', least: 'admin', module: 'security', load: () => import('./screens/enforcement.tsx') },
    { title: 'audit_log', id: 'audit', icon: 'shield', least: 'admin', load: () => import('./screens/audit.tsx') },
    { title: 'tools', icon: 'tool', least: 'admin', module: 'edge', load: () => import('./screens/tools.tsx') },
    {
      title: 'mcp_servers',
      id: 'mcp',
      icon: 'link',
      least: 'admin',
      module: 'edge',
      load: () => import('./screens/mcp-servers.tsx'),
    },
    { title: 'plugins', icon: 'cube', least: 'admin', module: 'edge', load: () => import('./screens/plugins.tsx') },
    { title: 'approvals', icon: 'shield', least: 'viewer', module: 'edge', load: () => import('./screens/approvals.tsx') },
    { title: 'webhooks', icon: 'send', least: 'admin', module: 'webhooks', load: () => import('./screens/webhooks.tsx') },
    { title: 'provisioning', icon: 'signout', least: 'admin', load: () => import('./screens/provisioning.tsx') },
  ],
  own: [
    { title: 'api_keys', id: 'keys', icon: 'key', least: 'viewer', load: () => import('./screens/keys.tsx') },
    { title: 'goals', icon: 'check', least: 'viewer', module: 'swarm', load: () => import('./screens/goals.tsx') },
    { title: 'schedules', icon: 'clock', least: 'viewer', module: 'swarm', load: () => import('./screens/schedules.tsx') },
    { title: 'sessions', icon: 'user', least: 'viewer', load: () => import('./screens/sessions.tsx') },
    { title: 'components', icon: 'palette', least: 'admin', load: () => import('./screens/components.tsx') },
  ],
};
