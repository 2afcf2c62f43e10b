/** `svc syslog`: where a running node sends its log lines. */
import type { Answer, Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { formatTable } from '../format.ts';
import { requestCommand, serverCommand } from '../server-command.ts';

type Setting = Answer<'GET /api/v1/system/syslog/config'>;
type Target = Answer<'GET /api/v1/system/syslog/config/tenant/{tenant}'>;

const PROTOCOLS = ['udp', 'tcp', 'tls'] as const;
const targetOptions = {
  port: { kind: 'integer', value: 'N', min: 1, max: 65_535, help: 'port of the syslog server (default 514)' },
  protocol: { kind: 'choice', choices: PROTOCOLS, help: 'how lines are sent (default udp)' },
} as const;

export const syslogShow = requestCommand({
  words: ['syslog', 'show'],
  summary: 'Show where the node sends its log lines, and tenants theirs',
  examples: ['svc syslog show'],
  route: 'GET /api/v1/system/syslog/config',
  text: settingText,
});

export const syslogSet = requestCommand({
  words: ['syslog', 'set'],
  summary: 'Send the log lines of the node to a server, at once and after a restart; or switch that off',
  positionals: [
    { name: 'HOST', help: 'name or address of the syslog server; without it the one that is set stays', optional: true },
  ],
  options: {
    ...targetOptions,
    facility: { kind: 'text', value: 'FACILITY', help: '0 to 23, or a name (default local0)' },
    off: { kind: 'flag', help: 'send nothing, along tenants’ routes neither' },
    on: { kind: 'flag', help: 'send again' },
  },
  examples: ['svc syslog set logs.example --protocol tls --port 6514', 'svc syslog set --off'],
  route: 'PUT /api/v1/system/syslog/config',
  given: ({ positionals: [host], options: { port, protocol, facility, off = false, on = false } }) => {
    if (off && on) throw usageError('--off and --on exclude each other', 'give one of them');
    return { body: { host, port, protocol, facility: facilityOf(facility), ...((off || on) && { enabled: on }) } };
  },
  text: settingText,
});

export const syslogClear = requestCommand({
  words: ['syslog', 'clear'],
  summary: 'Forget what was saved, so that the environment of the node holds; tenants keep their routes',
  examples: ['svc syslog clear'],
  route: 'DELETE /api/v1/system/syslog/config',
  text: settingText,
});

export const syslogTest = requestCommand({
  words: ['syslog', 'test'],
  summary: 'Send a test line, and say whether it went out; fails when it did not',
  options: { tenant: { kind: 'text', value: 'ID', help: 'along the route of this tenant' } },
  examples: ['svc syslog test'],
  route: 'POST /api/v1/system/syslog/test',
  given: ({ options: { tenant } }) => ({ query: { tenant } }),
  text: ({ destination, sent, error }) => (sent ? `a test line was sent to ${destination}` : `${destination}: ${error}`),
  exit: ({ sent }) => (sent ? 'ok' : 'failed'),
});

export const syslogStats = serverCommand({
  words: ['syslog', 'stats'],
  summary: 'Show how many log lines wait, were sent and were dropped since the start',
  examples: ['svc syslog stats'],
  async run({ client, terminal }) {
    const stats = await client.call('GET /api/v1/system/syslog/stats');
    const rows = [['(node)', stats] as const, ...Object.entries(stats.tenants)].map(([name, row]) => [
      name,
      ...[row.queued, row.sent_total, row.dropped_total, row.send_errors_total].map(String),
      row.last_sent_at ?? '-',
      row.last_error ?? '-',
    ]);
    terminal.result(stats, formatTable(['TENANT', 'QUEUED', 'SENT', 'DROPPED', 'ERRORS', 'LAST SENT', 'LAST ERROR'], rows));
    return 'ok';
  },
});

export const syslogRoute = serverCommand({
  words: ['syslog', 'route'],
  summary: 'Show, set or remove the server that the log lines of a tenant go to as well',
  positionals: [
    { name: 'TENANT', help: 'id of the tenant' },
    { name: 'HOST', help: 'name or address of its syslog server', optional: true },
  ],
  options: { ...targetOptions, remove: { kind: 'flag', help: 'send its lines to the node’s server alone' } },
  examples: ['svc syslog route acme logs.acme.example --protocol tls --port 6514', 'svc syslog route acme --remove'],
  async run({ positionals: [tenant = '', host], options: { port, protocol, remove = false }, client, terminal }) {
    const params = { tenant };
    if (remove) {
      await client.call('DELETE /api/v1/system/syslog/config/tenant/{tenant}', { params });
      terminal.result({ tenant, deleted: true }, `${tenant} has no route any more`);
      return 'ok';
    }
    const route =
      host === undefined
        ? await client.call('GET /api/v1/system/syslog/config/tenant/{tenant}', { params })
        : await client.call('PUT /api/v1/system/syslog/config/tenant/{tenant}', { params, body: { host, port, protocol } });
    terminal.result(route, addressOf(route));
    return 'ok';
  },
});

function settingText({ host, port, protocol, enabled, facility, source, tenants }: Setting): string {
  const node = host === null ? 'no server' : addressOf({ host, port, protocol });
  const rows = Object.entries(tenants).map(([tenant, route]) => [tenant, addressOf(route)]);
  const head = `${node}${enabled || host === null ? '' : ' (off)'}, facility ${facility}, from ${source}`;
  return rows.length === 0 ? head : `${head}\n${formatTable(['TENANT', 'SERVER'], rows)}`;
}

function addressOf({ host, port, protocol }: Pick<Target, 'host' | 'port' | 'protocol'>): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function facilityOf(text: string | undefined): Body<'PUT /api/v1/system/syslog/config'>['facility'] {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}
