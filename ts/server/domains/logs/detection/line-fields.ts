/** Parsers as data: what lines of known programs say, as fields that rules name. What no parser knows is read as JSON or as `key=value`. */
import type { LogLine } from '../index/log-line.ts';

/** The values of a line by their names: its own ten fields, and what its text says. */
export type LineFields = ReadonlyMap<string, string>;

export type ParserName = 'sshd' | 'sudo' | 'su' | 'accounts' | 'cron' | 'firewall' | 'web' | 'json' | 'pairs';

interface Shape {
  /** Named groups are fields. */
  pattern: RegExp;
  /** Fields that the shape itself says. */
  says?: Readonly<Record<string, string>>;
}

interface Parser {
  name: ParserName;
  apps: readonly string[];
  shapes: readonly Shape[];
}

/** A hostile name may hold `from 1.2.3.4`: what the program itself writes comes last, so names are taken as long as they can be. */
const PARSERS: readonly Parser[] = [
  {
    name: 'sshd',
    apps: ['sshd', 'sshd-session', 'sshd-auth'],
    shapes: [
      {
        pattern: /^Failed (?<method>\S+) for (?:invalid user )?(?<user>.*) from (?<src_ip>\S+) port (?<src_port>\d+)/,
        says: { action: 'failed' },
      },
      {
        pattern: /^Accepted (?<method>\S+) for (?<user>.*) from (?<src_ip>\S+) port (?<src_port>\d+)/,
        says: { action: 'accepted' },
      },
      { pattern: /^Invalid user (?<user>.*) from (?<src_ip>\S+) port (?<src_port>\d+)/, says: { action: 'invalid_user' } },
      {
        pattern:
          /^(?:Connection (?:closed|reset)|Disconnected) (?:by|from) (?:authenticating|invalid) user (?<user>.*) (?<src_ip>\S+) port (?<src_port>\d+)/,
        says: { action: 'closed' },
      },
      { pattern: /session (?<action>opened|closed) for user (?<user>[^\s(]+)/ },
    ],
  },
  {
    name: 'sudo',
    apps: ['sudo'],
    shapes: [
      {
        pattern:
          /^\s*(?<user>\S+) : (?<attempts>\d+) incorrect password attempts? ; TTY=(?<tty>\S+) ; PWD=(?<pwd>.*) ; USER=(?<target_user>\S+) ; COMMAND=(?<command>.*)$/,
        says: { action: 'failed' },
      },
      {
        pattern:
          /^\s*(?<user>\S+) : user NOT in sudoers ; TTY=(?<tty>\S+) ; PWD=(?<pwd>.*) ; USER=(?<target_user>\S+) ; COMMAND=(?<command>.*)$/,
        says: { action: 'denied' },
      },
      {
        pattern: /^\s*(?<user>\S+) : TTY=(?<tty>\S+) ; PWD=(?<pwd>.*) ; USER=(?<target_user>\S+) ; COMMAND=(?<command>.*)$/,
        says: { action: 'command' },
      },
    ],
  },
  {
    name: 'su',
    apps: ['su'],
    shapes: [
      { pattern: /^FAILED SU \(to (?<target_user>[^)]+)\) (?<user>\S+) on (?<tty>\S+)/, says: { action: 'failed' } },
      { pattern: /^\(to (?<target_user>[^)]+)\) (?<user>\S+) on (?<tty>\S+)/, says: { action: 'accepted' } },
    ],
  },
  {
    name: 'accounts',
    apps: ['useradd', 'usermod', 'userdel', 'groupadd', 'gpasswd', 'passwd', 'chpasswd'],
    shapes: [
      { pattern: /^new user: name=(?<user>[^,\s]+), UID=(?<uid>\d+)/, says: { action: 'user_added' } },
      { pattern: /^add '(?<user>[^']+)' to (?:shadow )?group '(?<group>[^']+)'/, says: { action: 'group_joined' } },
      { pattern: /^user (?<user>\S+) added by \S+ to group (?<group>\S+)/, says: { action: 'group_joined' } },
      { pattern: /^delete user '(?<user>[^']+)'/, says: { action: 'user_deleted' } },
      { pattern: /password changed for (?<user>\S+)/, says: { action: 'password_changed' } },
    ],
  },
  {
    name: 'cron',
    apps: ['cron', 'crond', 'anacron', 'atd'],
    shapes: [{ pattern: /^\((?<user>[^)]+)\) CMD \((?<command>.*)\)$/, says: { action: 'command' } }],
  },
  {
    name: 'web',
    apps: ['nginx', 'apache', 'apache2', 'httpd', 'caddy', 'haproxy'],
    shapes: [
      {
        pattern:
          /^(?:\S+ )?(?<src_ip>[0-9a-fA-F.:]+) \S+ (?<user>\S+) \[[^\]]*\] "(?<method>[A-Z]+) (?<uri>[^\s"]+)(?: [^"]*)?" (?<status>\d{3}) (?<bytes>\d+|-)(?: "(?<referer>[^"]*)" "(?<user_agent>[^"]*)")?/,
        says: { action: 'request' },
      },
      {
        pattern:
          /^[^[]{0,40}\[(?<level>error|crit|alert|emerg)\] .*, client: (?<src_ip>[^,\s]+), server: [^,]*, request: "(?<method>[A-Z]+) (?<uri>\S+)/,
        says: { action: 'error' },
      },
    ],
  },
];

/** Sigma's own names of what web servers say. */
const WEB_NAMES: Readonly<Record<string, string>> = {
  src_ip: 'c-ip',
  method: 'cs-method',
  uri: 'cs-uri',
  status: 'sc-status',
  user_agent: 'cs-user-agent',
  referer: 'cs-referer',
  user: 'cs-username',
};

/** More is not looked at: no program says its fields so late. */
const MOST_CHARACTERS = 8_192;
const MOST_FIELDS = 100;
const MOST_DEPTH = 4;
const PAIR = /(?<![\w.-])([A-Za-z_][\w.-]{0,63})=(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"',;]{1,2000}))/g;

const byApp = new Map<string, Parser[]>();
for (const parser of PARSERS) for (const app of parser.apps) byApp.set(app, [...(byApp.get(app) ?? []), parser]);

/** Fields that packet filters of Linux write; they stand in the line of any program. */
const FILTER_FIELDS: ReadonlyMap<string, string> = new Map([
  ['IN', 'in_interface'],
  ['OUT', 'out_interface'],
  ['SRC', 'src_ip'],
  ['DST', 'dst_ip'],
  ['PROTO', 'proto'],
  ['SPT', 'src_port'],
  ['DPT', 'dst_port'],
]);
const UFW_ACTION = /\[UFW ([A-Z ]{1,20})\]/;

export interface ParsedLine {
  parser: ParserName | undefined;
  fields: LineFields;
}

export function fieldsOf(line: LogLine): ParsedLine {
  const fields = new Map<string, string>();
  const { host, app, msg, severity, facility, class: className, fromhost_ip: sender } = line;
  const parser = parse(app.toLowerCase(), msg.slice(0, MOST_CHARACTERS), fields);
  // What a line says of itself does not take the place of what is known of it.
  for (const [name, value] of Object.entries({ host, app, msg, class: className, fromhost_ip: sender })) fields.set(name, value);
  fields.set('severity', String(severity));
  fields.set('facility', String(facility));
  return { parser, fields };
}

function parse(app: string, text: string, fields: Map<string, string>): ParserName | undefined {
  for (const parser of byApp.get(app) ?? []) {
    for (const { pattern, says = {} } of parser.shapes) {
      const groups = pattern.exec(text)?.groups;
      if (groups === undefined) continue;
      for (const [name, value] of Object.entries({ ...groups, ...says }))
        if (value !== undefined && value !== '') fields.set(name, name === 'action' ? value.toLowerCase() : value);
      if (parser.name === 'web') addWebNames(fields);
      return parser.name;
    }
  }
  if (addPacket(text, fields)) return 'firewall';
  if (text.startsWith('{') && addJson(text, fields)) return 'json';
  return addPairs(text, fields) ? 'pairs' : undefined;
}

/** Word by word: a pattern with gaps between its parts would take long for a hostile line. */
function addPacket(text: string, fields: Map<string, string>): boolean {
  if (!text.includes('SRC=') || !text.includes('DST=') || !text.includes('PROTO=')) return false;
  const found = new Map<string, string>();
  for (const word of text.split(' ')) {
    const end = word.indexOf('=');
    const name = end < 0 ? undefined : FILTER_FIELDS.get(word.slice(0, end));
    if (name !== undefined && !found.has(name)) found.set(name, word.slice(end + 1));
  }
  if (!found.has('in_interface') || !found.has('src_ip') || !found.has('dst_ip') || !found.has('proto')) return false;
  for (const [name, value] of found) if (value !== '') fields.set(name, value);
  const action = UFW_ACTION.exec(text)?.[1];
  if (action !== undefined) fields.set('action', action.toLowerCase());
  return true;
}

function addWebNames(fields: Map<string, string>): void {
  for (const [name, other] of Object.entries(WEB_NAMES)) {
    const value = fields.get(name);
    if (value !== undefined) fields.set(other, value);
  }
  const uri = fields.get('uri') ?? '';
  const mark = uri.indexOf('?');
  fields.set('cs-uri-stem', mark < 0 ? uri : uri.slice(0, mark));
  if (mark >= 0) fields.set('cs-uri-query', uri.slice(mark + 1));
}

/** Members of objects are named with dots between. */
function addJson(text: string, fields: Map<string, string>): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  const add = (name: string, member: unknown, depth: number): void => {
    if (fields.size >= MOST_FIELDS) return;
    if (typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean') fields.set(name, String(member));
    else if (member !== null && typeof member === 'object' && depth < MOST_DEPTH)
      for (const [key, inner] of Object.entries(member)) add(name === '' ? key : `${name}.${key}`, inner, depth + 1);
  };
  add('', value, 0);
  fields.delete('');
  return fields.size > 0;
}

function addPairs(text: string, fields: Map<string, string>): boolean {
  for (const [, name = '', double, single, bare] of text.matchAll(PAIR)) {
    if (fields.size >= MOST_FIELDS) break;
    if (!fields.has(name)) fields.set(name, double ?? single ?? bare ?? '');
  }
  return fields.size > 0;
}
