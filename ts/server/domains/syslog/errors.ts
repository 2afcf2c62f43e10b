/** Refusals of the syslog routes. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const syslogErrors = defineErrors('syslog', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  invalid_protocol: [400, 'The protocol is none that lines can be sent by.', 'Write `udp`, `tcp` or `tls`.'],
  invalid_port: [400, 'The port is none.', 'Write a whole number from 1 to 65535; 514 is the default.'],
  invalid_facility: [400, 'There is no such facility.', 'Write a number from 0 to 23 or a name, such as `local0`.'],
  invalid_tenant_route: [
    400,
    'The tenant is unknown, a member of its route is wrong, or the server lies inside the network; `detail` says which.',
    'Name a tenant of GET /api/v1/identity/tenants, with `host` and, where they are others, `port` and `protocol`; the operator names servers inside the network in syslog.allowed_hosts.',
  ],
  forbidden: [403, 'Only superadmins see and change the routes of other tenants.', 'Ask a superadmin.'],
  syslog_route_not_found: [404, 'The tenant has no route of its own.', 'Make one: `svc syslog route TENANT HOST`.'],
  syslog_config_not_saved: [
    500,
    'The setting holds, but could not be written and is lost with the next start.',
    'Look at the free space and the rights of the data folder, and send it again.',
  ],
  syslog_not_configured: [
    503,
    'No syslog server is named, or forwarding is off.',
    'Name one: `svc syslog set HOST`, or SVC_SYSLOG_HOST.',
  ],
});

export const syslogError = syslogErrors.error;
