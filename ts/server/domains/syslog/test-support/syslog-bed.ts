/** Opens the module for tests, with its routes and a log that it follows. */
import type { Test } from 'tap';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import { json } from '../../../platform/http/route.ts';
import { plainRoute } from '../../../platform/http/test-support/test-bed.ts';
import { Log, RecentLines } from '../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { openModules } from '../../../platform/module/test-support/open-modules.ts';
import type { DestinationLimits, DestinationStats } from '../destination.ts';
import { defineSyslog } from '../index.ts';

interface BedOptions {
  settings?: Readonly<Record<string, unknown>>;
  limits?: Partial<DestinationLimits>;
  dataDir?: string;
}

const quick = { backoff: { first: 10, longest: 50 }, stopWaitMs: 200 };

/** The header `x-caller: ROLE TENANT`; a key is of that role, in the tenant `default`. */
const callers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [role = '', tenant = 'default'] = (
      headers.get('x-caller') ??
      headers.get('authorization')?.slice('Bearer '.length) ??
      ''
    ).split(' ');
    return { ...ANONYMOUS, kind: 'key', subject: 'ann', roles: [role as Role], scopes: ['*'], tenant };
  },
};

export async function openSyslog(t: Test, { settings = {}, limits = {}, dataDir }: BedOptions = {}) {
  const log = new Log({ level: 'debug', format: 'json', sink: { write: () => {}, flush: () => {} }, recent: new RecentLines() });
  const metrics = new MetricsRegistry();
  const definition = defineSyslog({ ...quick, ...limits });
  const modules = await openModules(t, {
    modules: [definition],
    settings: { 'syslog.allowed_hosts': '127.0.0.1', ...settings },
    ...(dataDir !== undefined && { dataDir }),
    services: { log, metrics },
    routes: [plainRoute('GET', '/work', () => json(200, {}))],
    http: () => ({ authenticator: callers, log }),
  });
  const ask = (method: string, path: string, body?: unknown, as = 'superadmin default') => {
    const url = path.startsWith('/') ? path : `/api/v1/system/syslog/${path}`;
    return modules.send(method, url, { headers: { 'x-caller': as }, body });
  };
  const stats = async (): Promise<DestinationStats & { tenants: Record<string, DestinationStats> }> =>
    (await ask('GET', 'stats')).body;
  return {
    url: modules.url,
    log,
    metrics,
    ask,
    stats,
    module: modules.module(definition),
    dataDir: modules.dataDir,
    stop: modules.stop,
  };
}
