/** Targets of lines, as requests and settings name them, checked. */
import { isIP } from 'node:net';
import type { SettingValues } from '../../platform/config/setting.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { StartError } from '../../platform/module/start-error.ts';
import { syslogError } from './errors.ts';
import type { syslogSettings } from './settings.ts';

export const PROTOCOLS = ['udp', 'tcp', 'tls'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Target {
  /** A name, or an address without brackets. */
  host: string;
  port: number;
  protocol: Protocol;
}

/** The node's own destination. */
export interface NodeTarget {
  /** Undefined: none was named. */
  target: Target | undefined;
  /** False: nothing is sent, to tenants' routes neither. */
  isOn: boolean;
  /** A number from 0 to 23 (RFC 5424 section 6.2.1). */
  facility: number;
}

/** Members as they were sent, of any type. */
export type GivenTarget = Partial<Readonly<Record<keyof Target, unknown>>>;

export interface GivenSetting extends GivenTarget {
  enabled?: boolean | undefined;
  facility?: unknown;
}

export const DEFAULT_PORT = 514;
export const DEFAULT_FACILITY = 16;

/** Facilities stand at their numbers, under the names of syslog.conf. */
const FACILITIES: readonly (readonly string[])[] = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp', 'ntp'].map((name) =>
    name === 'auth' ? [name, 'security'] : [name],
  ),
  ['audit', 'logaudit'],
  ['alert', 'logalert'],
  ['clock'],
  ...Array.from({ length: 8 }, (_, n) => [`local${n}`]),
];

/** A host names the whole target, whose other members have defaults; without one, what holds stays but for the members that are there. Throws DomainError. */
export function changedTarget(given: GivenSetting, before: NodeTarget): NodeTarget {
  const { host, port, protocol, enabled, facility } = given;
  const isNamed = host !== undefined || before.target !== undefined;
  if ([host, port, protocol, enabled, facility].every((member) => member === undefined)) throw invalid('host', 'is missing');
  if (!isNamed && (enabled !== false || port !== undefined || protocol !== undefined))
    throw invalid('host', 'is missing: no server is named yet');
  const base = host === undefined ? before.target : {};
  return {
    target: isNamed ? readTarget({ ...base, ...definedOf({ host, port, protocol }) }) : undefined,
    isOn: enabled ?? (host !== undefined || before.isOn),
    facility: facility === undefined ? before.facility : readFacility(facility),
  };
}

/** Throws DomainError: `invalid_port`, `invalid_protocol`, and `invalid_request` for the host. */
export function readTarget({ host, port = DEFAULT_PORT, protocol = 'udp' }: GivenTarget): Target {
  if (typeof host !== 'string' || !isHost(host)) throw invalid('host', 'must be a name or an address, without a port');
  if (!isPort(port)) throw syslogError('invalid_port', '`port` must be a whole number from 1 to 65535.', { param: 'port' });
  if (!isProtocol(protocol))
    throw syslogError('invalid_protocol', `\`protocol\` must be one of ${PROTOCOLS.join(', ')}.`, { param: 'protocol' });
  return { host: bare(host), port, protocol };
}

function readFacility(given: unknown): number {
  const named = typeof given === 'string' ? FACILITIES.findIndex((names) => names.includes(given.toLowerCase())) : given;
  if (typeof named === 'number' && Number.isInteger(named) && named >= 0 && named < FACILITIES.length) return named;
  const names = FACILITIES.map(([name]) => name).join(', ');
  throw syslogError('invalid_facility', `\`facility\` must be a number from 0 to 23, or one of ${names}.`, { param: 'facility' });
}

/** Reads the settings of the machine. Throws StartError. */
export function targetOfSettings(settings: SettingValues<typeof syslogSettings>): NodeTarget {
  const { 'syslog.host': host, 'syslog.server': server, 'syslog.port': port, 'syslog.protocol': protocol } = settings;
  if ((settings['syslog.client_cert'] === '') !== (settings['syslog.client_key'] === ''))
    throw new StartError(
      'incomplete_tls',
      'a certificate for the syslog server needs its key, and one of them is not named',
      'set both syslog.client_cert and syslog.client_key, or neither',
    );
  const named = host === '' ? hostAndPort(server) : { host, port };
  if (named === undefined) return { target: undefined, isOn: true, facility: DEFAULT_FACILITY };
  if (!isHost(named.host) || !isPort(named.port))
    throw new StartError(
      'invalid_setting',
      host === '' ? `syslog.server: "${server}" is no HOST:PORT` : `syslog.host: "${host}" is no name and no address`,
      'write for example syslog.host = "logs.example", with the port in syslog.port',
    );
  return { target: { ...named, host: bare(named.host), protocol }, isOn: true, facility: DEFAULT_FACILITY };
}

/** `name`, `name:port`, `[address]:port`, or an IPv6 address alone. */
function hostAndPort(server: string): Omit<Target, 'protocol'> | undefined {
  if (server === '') return undefined;
  const [, host = server, port = DEFAULT_PORT] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(server) ?? [];
  return { host, port: Number(port) };
}

function isHost(text: string): boolean {
  if (isIP(bare(text)) > 0) return true;
  return text.length <= 253 && /^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*\.?$/i.test(text);
}

/** Takes the brackets of an IPv6 address away. */
function bare(host: string): string {
  return /^\[[^\]]*\]$/.test(host) && host.includes(':') ? host.slice(1, -1) : host;
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

function isProtocol(value: unknown): value is Protocol {
  return PROTOCOLS.some((protocol) => protocol === value);
}

function invalid(param: string, fault: string): DomainError {
  return syslogError('invalid_request', `\`${param}\` ${fault}.`, { param });
}

function definedOf(given: GivenTarget): GivenTarget {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Writes a target as people read it: `tls://logs.example:6514`. */
export function addressOf({ host, port, protocol }: Target): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
