/** `svc logs flows`: volumes of network flows that a running node was told of. */
import { formatBytes, formatTable } from '../format.ts';
import { requestCommand } from '../server-command.ts';

const VIEWS = ['src', 'dst', 'pair', 'port', 'proto', 'exporter', 'time'] as const;
const PROTOCOLS: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  47: 'gre',
  50: 'esp',
  58: 'icmp6',
  132: 'sctp',
};

export const logsFlows = requestCommand({
  words: ['logs', 'flows'],
  summary: 'Show who sends how much to whom, as exporters of NetFlow and IPFIX report it',
  options: {
    from: { kind: 'text', value: 'TIME', help: 'ISO 8601, or -15m (default -1h)' },
    to: { kind: 'text', value: 'TIME', help: 'as --from (default now)' },
    by: { kind: 'choice', choices: VIEWS, help: 'what is added up (default src)' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 1_000, help: 'the largest, so many (default 20)' },
  },
  examples: ['svc logs flows --by pair --from -6h', 'svc logs flows --by time --from -1d'],
  route: 'GET /api/v1/logs/flows',
  given: ({ options: { from, to, by, limit } }) => ({ query: { from, to, by, limit } }),
  text: ({ data, total, grain, from, to }) => {
    const rows = data.map(({ src, dst, proto, port, exporter, at, bytes, packets, flows, sampling }) => [
      [at, exporter, src, dst, proto === undefined ? undefined : (PROTOCOLS[proto] ?? String(proto)), port]
        .filter((part) => part !== undefined)
        .join(' '),
      formatBytes(bytes),
      String(packets),
      String(flows),
      sampling > 1 ? `1:${sampling}` : '-',
    ]);
    const head = `${formatBytes(total.bytes)} in ${total.flows} flows from ${from} to ${to}, by ${grain}`;
    return `${head}\n${formatTable(['OF', 'BYTES', 'PACKETS', 'FLOWS', 'SAMPLED'], rows)}`;
  },
});
