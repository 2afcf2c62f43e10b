/** `svc logs search|tail|rebuild`: collected lines of a running node. */
import type { Answer, CallOptions } from '../../client/client.ts';
import { readEvents } from '../../client/events.ts';
import { usageError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { requestCommand, serverCommand } from '../server-command.ts';

type Line = Answer<'GET /api/v1/logs/search'>['lines'][number];
type Filters = NonNullable<CallOptions<'GET /api/v1/logs/tail'>['query']>;

const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;
const AGAIN_MS = 1_000;
const MAX_LINES = 1_000_000;

const query = {
  name: 'QUERY',
  help: 'words, "phrases", -without, prefix*, field:value (app, class, facility, host, ip, msg, severity, uuid)',
  optional: true,
} as const;
const filters = {
  class: { kind: 'text', value: 'NAMES', help: 'one class, or more with commas' },
  severity: { kind: 'choice', choices: SEVERITIES, help: 'this one, and worse' },
  host: { kind: 'text', value: 'HOST', help: 'lines of this host' },
  app: { kind: 'text', value: 'APP', help: 'lines of this program' },
} as const;

interface GivenFilters {
  class?: string | undefined;
  severity?: (typeof SEVERITIES)[number] | undefined;
  host?: string | undefined;
  app?: string | undefined;
}

function filtersOf(q: string | undefined, { class: name, severity, host, app }: GivenFilters): Filters {
  const given = { q, class: name, severity: severity === undefined ? undefined : SEVERITIES.indexOf(severity), host, app };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const logsSearch = serverCommand({
  words: ['logs', 'search'],
  summary: 'Find collected lines, the newest at the end',
  positionals: [query],
  options: {
    ...filters,
    from: { kind: 'text', value: 'TIME', help: 'ISO 8601, or -15m (default -1h)' },
    to: { kind: 'text', value: 'TIME', help: 'as --from (default now)' },
    limit: { kind: 'integer', value: 'N', min: 1, max: MAX_LINES, help: 'the newest lines, so many (default 100)' },
  },
  examples: ['svc logs search \'"failed password" -root\' --class auth --from -24h', 'svc logs search 10.1.2.3 --severity err'],
  async run({ positionals: [q], options: { from, to, limit = 100, ...given }, client, terminal }) {
    const lines: Line[] = [];
    let cursor: string | undefined;
    let isPartial = false;
    do {
      const page = await client.call('GET /api/v1/logs/search', {
        query: {
          ...filtersOf(q, given),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(cursor !== undefined && { cursor }),
          limit: Math.min(1_000, limit - lines.length),
        },
      });
      lines.push(...page.lines);
      cursor = page.next_cursor ?? undefined;
      isPartial = page.partial && cursor === undefined;
      if (page.archived === true) terminal.note('lines of the class firewall_allowed are in the files of the copies alone');
    } while (cursor !== undefined && lines.length < limit);
    lines.reverse();
    terminal.result(lines, lines.map(lineText).join('\n'));
    if (isPartial)
      terminal.note('not all could be read in time: ask for a shorter time, or wait until the index is made (svc logs status)');
    return 'ok';
  },
});

export const logsTail = serverCommand({
  words: ['logs', 'tail'],
  summary: 'Show collected lines as they come',
  positionals: [query],
  options: filters,
  examples: ['svc logs tail --severity err', 'svc logs tail sshd --class auth'],
  async run({ positionals: [q], options, client, terminal, signal }) {
    let last: string | undefined;
    while (!signal.aborted) {
      const { body } = await client.request('GET /api/v1/logs/tail', {
        query: filtersOf(q, options),
        ...(last !== undefined && { headers: { 'last-event-id': last } }),
      });
      if (body === null) throw usageError('the server sends no lines', 'check that the address is that of an svc server');
      for await (const events of readEvents(body))
        for (const { id, data } of events) {
          last = id ?? last;
          const said = JSON.parse(data) as Line | { lines: number | null };
          if (terminal.json) terminal.write(`${data}\n`);
          else if ('lines' in said)
            terminal.note(said.lines === null ? 'some lines were left out' : `${said.lines} lines were left out`);
          else terminal.write(`${lineText(said)}\n`);
        }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    return 'ok';
  },
});

export const logsRebuild = requestCommand({
  words: ['logs', 'rebuild'],
  summary: 'Make the index of collected lines again; searches go on meanwhile, and take longer',
  examples: ['svc logs rebuild'],
  route: 'POST /api/v1/logs/rebuild',
  text: () => 'the index is made again; `svc logs status` says how far it is',
});

/** Control characters are shown, and drive no terminal. */
function lineText({ ts, rcvd, time_source: source, host, app, severity, msg }: Line): string {
  const text = `${source === 'ts' ? ts : rcvd} ${host} ${app} ${SEVERITIES[severity] ?? severity}: ${msg}`;
  return printable(text.replace(/[\r\n\t]/g, ' '));
}
