/** The node's syslog server, and those of tenants. */
import Type, { type Static } from 'typebox';
import { hasRole, type Principal } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import { syslogError, syslogErrors } from './errors.ts';
import type { Forwarding } from './forwarding.ts';
import { DEFAULT_FACILITY, DEFAULT_PORT, PROTOCOLS, type Protocol } from './target.ts';

const PATH = '/api/v1/system/syslog';
const MAX_BODY = 256 * 1024;

const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const Target = {
  host: Type.String(),
  port: Type.Integer(),
  protocol: Type.Enum([...PROTOCOLS]),
};
const RouteShape = named('SyslogRoute', Type.Object(Target));
/** Members may be of any type, so that each wrong member is refused with its own code. */
const GivenTarget = {
  host: Type.Optional(Type.Unsafe<string>({ description: 'A name or an address, without a port.' })),
  port: Type.Optional(Type.Unsafe<number>({ description: `1 to 65535; ${DEFAULT_PORT} by default.` })),
  protocol: Type.Optional(Type.Unsafe<Protocol>({ description: '`udp` (the default), `tcp` or `tls`.' })),
};
const GivenRoute = named('SyslogRouteChange', Type.Object(GivenTarget, { additionalProperties: false }));
const Change = named(
  'SyslogChange',
  Type.Object(
    {
      ...GivenTarget,
      enabled: Type.Optional(Type.Boolean({ description: 'False: nothing is sent, along tenants’ routes neither.' })),
      facility: Type.Optional(
        Type.Unsafe<number | string>({ description: `0 to 23, or a name such as \`local0\`; ${DEFAULT_FACILITY} by default.` }),
      ),
      tenants: Type.Optional(
        Type.Record(Type.String(), Type.Unsafe<Static<typeof GivenRoute>>({}), {
          description: 'Routes by tenant, in place of all that there are.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
const Setting = named(
  'SyslogSetting',
  Type.Object({
    host: Nullable(Target.host),
    port: Target.port,
    protocol: Target.protocol,
    enabled: Type.Boolean({ description: 'Whether the node sends its lines to a server.' }),
    facility: Type.Integer({ description: '0 to 23.' }),
    source: Type.Enum(['saved', 'environment'], {
      description: '`environment`: SVC_SYSLOG_* or svc.toml, which hold while nothing is saved.',
    }),
    tenants: Type.Record(Type.String(), RouteShape),
  }),
);
const figures = {
  queued: Type.Integer({ description: 'Lines that wait.' }),
  sent_total: Type.Integer(),
  dropped_total: Type.Integer({ description: 'Lines that were not sent, since too many waited or a datagram failed.' }),
  send_errors_total: Type.Integer({
    description: 'Connections and datagrams that failed; lines of a connection are sent again.',
  }),
  last_error: Nullable(Type.String()),
  last_sent_at: Nullable(Type.String({ description: 'ISO 8601, UTC.' })),
};
const Figures = named('SyslogFigures', Type.Object(figures));
const Stats = named('SyslogStats', Type.Object({ ...figures, tenants: Type.Record(Type.String(), Figures) }));
const RouteState = named('SyslogRouteState', Type.Object({ ...Target, stats: Figures }));
const TestResult = named(
  'SyslogTest',
  Type.Object({ destination: Type.String(), sent: Type.Boolean(), error: Type.Optional(Type.String()) }),
);
const TenantName = Type.Object({ tenant: Type.String({ minLength: 1, maxLength: 128 }) });

const { get, put, post, del } = routes({ tag: 'Syslog', auth: 'superadmin', errors: syslogErrors, maxBody: MAX_BODY });

export function syslogRoutes(forwarding: Forwarding): Route[] {
  return [...nodeRoutes(forwarding), ...tenantRoutes(forwarding), testRoute(forwarding)];
}

function nodeRoutes(forwarding: Forwarding): Route[] {
  const shown = () => settingBody(forwarding);
  return [
    get(`${PATH}/config`, { summary: 'Where this node sends its log lines', answer: Setting, handle: shown }),
    put(`${PATH}/config`, {
      summary: 'Send this node’s log lines to a syslog server (RFC 5424)',
      description:
        'Holds at once and is saved; other nodes keep theirs. `host` names the whole destination; without it, what is not named stays as it is. ' +
        'UDP lines have 1,180 bytes at most, TCP and TLS count octets.',
      body: Change,
      answer: Setting,
      errors: [
        'invalid_request',
        'invalid_port',
        'invalid_protocol',
        'invalid_facility',
        'invalid_tenant_route',
        'syslog_config_not_saved',
      ],
      handle: async ({ body: { tenants, ...given } }) => {
        await forwarding.change(given, tenants);
        return shown();
      },
    }),
    del(`${PATH}/config`, {
      summary: 'Forget what was saved; the environment holds at once',
      description: 'Tenants keep their routes.',
      answer: Setting,
      errors: ['syslog_config_not_saved'],
      handle: async () => {
        await forwarding.forget();
        return shown();
      },
    }),
    get(`${PATH}/stats`, {
      summary: 'Log lines that were queued, sent and dropped since the start',
      answer: Stats,
      handle: () => forwarding.stats,
    }),
  ];
}

function tenantRoutes(forwarding: Forwarding): Route[] {
  const path = `${PATH}/config/tenant/{tenant}`;
  const shown = (tenant: string) => {
    const route = forwarding.routeOf(tenant);
    if (route === undefined) throw noRoute(tenant);
    return { ...route.target, stats: route.stats };
  };
  return [
    get(path, {
      auth: 'admin',
      summary: 'Where log lines of a tenant go beside the node’s server',
      params: TenantName,
      answer: RouteState,
      errors: ['forbidden', 'syslog_route_not_found'],
      handle: ({ caller, params: { tenant } }) => {
        requireOwn(caller, tenant);
        return shown(tenant);
      },
    }),
    put(path, {
      auth: 'admin',
      summary: 'Send the log lines of a tenant to a server of its own as well',
      description: 'Those of its requests and jobs, and no others. TLS uses the node’s certificates.',
      params: TenantName,
      body: GivenRoute,
      answer: RouteState,
      errors: ['forbidden', 'invalid_tenant_route', 'syslog_config_not_saved'],
      handle: async ({ caller, params: { tenant }, body }) => {
        requireOwn(caller, tenant);
        await forwarding.setRoute(tenant, body);
        return shown(tenant);
      },
    }),
    del(path, {
      auth: 'admin',
      summary: 'Remove the route of a tenant',
      params: TenantName,
      errors: ['forbidden', 'syslog_route_not_found', 'syslog_config_not_saved'],
      handle: async ({ caller, params: { tenant } }) => {
        requireOwn(caller, tenant);
        if (!(await forwarding.removeRoute(tenant))) throw noRoute(tenant);
      },
    }),
  ];
}

function testRoute(forwarding: Forwarding): Route {
  return post(`${PATH}/test`, {
    auth: 'admin',
    summary: 'Send a test line, and say whether it went out',
    description:
      'It holds the words `syslog test`. A superadmin tests the node’s server, an administrator the route of the own tenant.',
    query: Type.Object({ tenant: Type.Optional(TenantName.properties.tenant) }),
    answer: TestResult,
    errors: ['forbidden', 'syslog_not_configured'],
    handle: async ({ caller, query: { tenant } }) => {
      const of = tenant ?? (seesNode(caller) ? undefined : caller.tenant);
      if (of !== undefined) requireOwn(caller, of);
      return await forwarding.test(of);
    },
  });
}

function settingBody({ node: { target, isOn, facility, source }, tenants }: Forwarding): Static<typeof Setting> {
  const { host = null, port = DEFAULT_PORT, protocol = 'udp' as const } = target ?? {};
  return { host, port, protocol, enabled: isOn && target !== undefined, facility, source, tenants: { ...tenants } };
}

/** A caller that no credential was asked of, on a node without accounts, is the operator at the machine. */
function seesNode(caller: Principal): boolean {
  return caller.kind === 'anonymous' || hasRole(caller, 'superadmin');
}

/** An administrator learns nothing of other tenants, and not whether there are any. */
function requireOwn(caller: Principal, tenant: string): void {
  if (seesNode(caller) || caller.tenant === tenant) return;
  throw syslogError('forbidden', 'Only superadmins see and change the routes of other tenants.', {
    extra: { role: 'superadmin' },
  });
}

function noRoute(tenant: string): Error {
  return syslogError('syslog_route_not_found', `The tenant ${tenant} has no route of its own.`);
}
