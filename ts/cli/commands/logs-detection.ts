/** `svc logs incidents|incident|rules|rule|blocklists|blocklist`: what rules find in the lines that a running node collects. */
import { readFileSync } from 'node:fs';
import { CliError, usageError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

const STATES = ['open', 'acknowledged', 'closed'] as const;
const VERDICTS = ['true_positive', 'false_positive', 'benign'] as const;
const ruleId = { name: 'ID', help: 'of the rule, as `svc logs rules` shows it' } as const;

export const logsIncidents = listCommand({
  words: ['logs', 'incidents'],
  summary: 'List what rules found in collected lines, newest first',
  options: {
    state: { kind: 'choice', choices: STATES, help: 'only those (default: all)' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 1_000, help: 'the newest, so many (default 50)' },
  },
  examples: ['svc logs incidents --state open'],
  route: 'GET /api/v1/logs/incidents',
  given: ({ options: { state, limit = 50 } }) => ({ query: { state, limit } }),
  empty: 'no incidents',
  columns: {
    ID: ({ id }) => id,
    SEVERITY: ({ severity }) => severity,
    STATE: ({ state, verdict }) => (verdict === null ? state : `${state}: ${verdict}`),
    'LAST ALERT': ({ last_alert_at: at }) => at,
    ALERTS: ({ alerts }) => alerts,
    RULE: ({ rule }) => rule,
    ABOUT: ({ entity, marks }) => printable(marks.length === 0 ? entity : `${entity} (${marks.join(', ')})`),
  },
});

export const logsIncident = requestCommand({
  words: ['logs', 'incident'],
  summary: 'Acknowledge an incident, close it with a verdict, or open it again',
  positionals: [
    { name: 'ID', help: 'as `svc logs incidents` shows it' },
    { name: 'STATE', help: STATES.join(', ') },
  ],
  options: { verdict: { kind: 'choice', choices: VERDICTS, help: 'needed to close it' } },
  examples: [
    'svc logs incident inc_0199a3b2-0000-7000-8000-000000000000 acknowledged',
    'svc logs incident inc_0199a3b2-0000-7000-8000-000000000000 closed --verdict false_positive',
  ],
  route: 'PATCH /api/v1/logs/incidents/{id}',
  given: ({ positionals: [id = '', given = ''], options: { verdict } }) => {
    const state = STATES.find((one) => one === given);
    if (state === undefined) throw usageError(`"${given}" is no state`, `write ${STATES.join(', ')}`);
    return { params: { id }, body: { state, verdict } };
  },
  text: ({ id, state, uuids }) => `${id} is ${state}\nits lines: svc logs search uuid:${uuids.at(-1) ?? ''} --from -30d`,
});

export const logsRules = listCommand({
  words: ['logs', 'rules'],
  summary: 'List the rules that are applied to collected lines, and why one is not',
  examples: ['svc logs rules'],
  route: 'GET /api/v1/logs/rules',
  columns: {
    ID: ({ id }) => id,
    LEVEL: ({ level }) => level,
    STATE: ({ enabled, unsupported }) => (!enabled ? 'off' : unsupported === null ? 'on' : 'not applied'),
    ALERTS: ({ matches }) => matches,
    AUTHOR: ({ author }) => printable(author),
    TITLE: ({ title, unsupported }) => printable(unsupported === null ? title : `${title}: not supported is ${unsupported}`),
  },
});

export const logsRulePut = serverCommand({
  words: ['logs', 'rule', 'put'],
  summary: 'Install a Sigma rule from a file, or replace it',
  positionals: [
    { name: 'ID', help: 'small letters, digits, - and _' },
    { name: 'FILE', help: 'YAML: a rule, or rules and correlations of them' },
  ],
  examples: ['svc logs rule put suspicious-cron rules/suspicious-cron.yml'],
  async run({ positionals: [id = '', file = ''], client, terminal }) {
    const body = readRuleFile(file);
    const rule = await client.call('PUT /api/v1/logs/rules/{id}', { params: { id }, body });
    const { title, unsupported } = rule;
    terminal.result(
      rule,
      unsupported === null
        ? `${id} is applied: ${printable(title)}`
        : `${id} is kept, and not applied: not supported is ${unsupported}`,
    );
    return unsupported === null ? 'ok' : 'failed';
  },
});

const switched = (word: 'enable' | 'disable') =>
  requestCommand({
    words: ['logs', 'rule', word],
    summary: word === 'enable' ? 'Apply a rule again' : 'Apply a rule no more',
    positionals: [ruleId],
    examples: [`svc logs rule ${word} sudo-shell`],
    route: 'PATCH /api/v1/logs/rules/{id}',
    given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: word === 'enable' } }),
    text: ({ id, enabled }) => `${id} is ${enabled ? 'on' : 'off'}`,
  });

export const logsRuleEnable = switched('enable');
export const logsRuleDisable = switched('disable');

export const logsRuleRm = requestCommand({
  words: ['logs', 'rule', 'rm'],
  summary: 'Remove an installed rule; those of the program are switched off instead',
  positionals: [ruleId],
  examples: ['svc logs rule rm suspicious-cron'],
  route: 'DELETE /api/v1/logs/rules/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is removed`,
  record: (_, { positionals: [id] }) => ({ id, removed: true }),
});

export const logsBlocklists = listCommand({
  words: ['logs', 'blocklists'],
  summary: 'List the lists of addresses that lines and incidents are marked by',
  examples: ['svc logs blocklists'],
  route: 'GET /api/v1/logs/blocklists',
  empty: 'no block lists',
  columns: {
    NAME: ({ name }) => name,
    FROM: ({ url, path }) => printable(url ?? path ?? ''),
    ENTRIES: ({ entries }) => entries,
    DROPPED: ({ dropped }) => dropped,
    READ: ({ fetched_at: at }) => at ?? 'never',
    ERROR: ({ error }) => (error === null ? '-' : printable(error)),
  },
});

export const logsBlocklistAdd = requestCommand({
  words: ['logs', 'blocklist', 'add'],
  summary: 'Read a list of addresses again and again',
  positionals: [
    { name: 'NAME', help: 'small letters, digits, - and _' },
    { name: 'PLACE', help: 'https address, or path of a file of the node' },
  ],
  options: { minutes: { kind: 'integer', value: 'N', min: 5, max: 44_640, help: 'between two readings (default 720)' } },
  examples: [
    'svc logs blocklist add drop https://www.spamhaus.org/drop/drop.txt',
    'svc logs blocklist add own /etc/svc/own.netset',
  ],
  route: 'POST /api/v1/logs/blocklists',
  given: ({ positionals: [name = '', place = ''], options: { minutes = 720 } }) => ({
    body: { name, ...(place.startsWith('/') ? { path: place } : { url: place }), refresh_minutes: minutes },
  }),
  text: ({ data }, { positionals: [name] }) => {
    const list = data.find((one) => one.name === name);
    return list?.error
      ? `${name} is kept, and could not be read yet: ${printable(list.error)}`
      : `${name} has ${list?.entries ?? 0} entries`;
  },
});

export const logsBlocklistRm = requestCommand({
  words: ['logs', 'blocklist', 'rm'],
  summary: 'Remove a list of addresses',
  positionals: [{ name: 'NAME', help: 'as `svc logs blocklists` shows it' }],
  examples: ['svc logs blocklist rm drop'],
  route: 'DELETE /api/v1/logs/blocklists',
  given: ({ positionals: [name = ''] }) => ({ query: { name } }),
  text: (_, { positionals: [name] }) => `${name} is removed`,
  record: (_, { positionals: [name] }) => ({ name, removed: true }),
});

function readRuleFile(path: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw new CliError(
      'failed',
      'rule_unreadable',
      `${path} cannot be read: ${(error as Error).message}`,
      'name a file of YAML',
      error,
    );
  }
}
