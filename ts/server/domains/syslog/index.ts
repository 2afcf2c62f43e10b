/** The syslog module: the lines of this node’s log, sent to a syslog server, and those of a tenant to the tenant's own. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import type { DestinationLimits } from './destination.ts';
import { syslogSettings } from './settings.ts';

/** Tests shorten times and bounds. */
export function defineSyslog(limits: Partial<DestinationLimits> = {}): ModuleDefinition<typeof syslogSettings, undefined> {
  return defineModule({
    name: 'syslog',
    settings: syslogSettings,
    stateFiles: [{ name: 'syslog.json', kind: 'file' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async ({ settings, node, log, metrics, tenants }) => {
      const [{ DESTINATION_LIMITS }, { Forwarding }, { syslogRoutes }, { targetOfSettings }, { AddressPolicy }] =
        await Promise.all([
          import('./destination.ts'),
          import('./forwarding.ts'),
          import('./routes.ts'),
          import('./target.ts'),
          import('../../platform/network/address-policy.ts'),
        ]);
      const files = { ca: settings['syslog.ca_cert'], cert: settings['syslog.client_cert'], key: settings['syslog.client_key'] };
      const allowed = allowedHostsOf('syslog.allowed_hosts', settings['syslog.allowed_hosts'], 'logs.lan:6514 or 10.0.0.5');
      const forwarding = new Forwarding({
        dataDir: node.dataDir,
        settings: () => targetOfSettings(settings),
        files,
        policy: new AddressPolicy({ trusted: [], allowed }),
        log,
        metrics,
        tenants,
        limits: { ...DESTINATION_LIMITS, ...limits },
      });
      return {
        api: undefined,
        routes: syslogRoutes(forwarding),
        belongings: {
          eraseTenant: async ({ tenant }) => void (await forwarding.removeRoute(tenant)),
          heldHere: async () => ({ tenants: Object.keys(forwarding.tenants), accounts: [] }),
        },
        start: () => forwarding.start(),
        stop: () => forwarding.stop(),
        health: () => forwarding.health(),
        ready: () => undefined,
      };
    },
  });
}

export const syslog = defineSyslog();
