/** `svc logs`: the collection of logs on a running node. */
import { readFileSync } from 'node:fs';
import type { Answer, Body } from '../../client/client.ts';
import { CliError } from '../cli-error.ts';
import { formatBytes, formatTable, printable } from '../format.ts';
import { requestCommand, serverCommand } from '../server-command.ts';

type Collection = Body<'PUT /api/v1/logs/rsyslog/config'>;

export const logsConfig = serverCommand({
  words: ['logs', 'config'],
  summary: 'Show how the node collects logs, or say it by a file; `svc logs apply` puts it into force',
  positionals: [{ name: 'FILE', help: 'JSON: listen, allowed_networks, sources, classes, copies, retention', optional: true }],
  examples: ['svc logs config > collection.json', 'svc logs config collection.json'],
  async run({ positionals: [path], client, terminal }) {
    const shown =
      path === undefined
        ? await client.call('GET /api/v1/logs/rsyslog/config')
        : await client.call('PUT /api/v1/logs/rsyslog/config', { body: readCollection(path) });
    const { applied, ...config } = shown;
    const text = path === undefined ? JSON.stringify(config, undefined, 2) : 'it is saved, and waits for `svc logs apply`';
    terminal.result(shown, text);
    return 'ok';
  },
});

export const logsApply = requestCommand({
  words: ['logs', 'apply'],
  summary: 'Put the configuration of the collection into force; fails with what rsyslog says, and the one before goes on',
  examples: ['svc logs apply'],
  route: 'POST /api/v1/logs/rsyslog/apply',
  text: ({ listeners, restart_ms: ms }) => `lines arrive through ${listeners} listeners, after ${ms} ms`,
});

export const logsStatus = requestCommand({
  words: ['logs', 'status'],
  summary: 'Show whether logs are collected, and whether both copies are in step; fails when not',
  examples: ['svc logs status'],
  route: 'GET /api/v1/logs/status',
  text: ({ rsyslog, applied_at: at, in_step: isInStep, copies, index, store }) => {
    const rows = copies.map(({ path, bytes, free_bytes: free, missing_lines: missing, last_write_at: last, error }) => [
      path,
      formatBytes(bytes),
      free === null ? '-' : formatBytes(free),
      String(missing),
      last ?? '-',
      error ?? '-',
    ]);
    const head = `rsyslog ${rsyslog.version ?? ''} ${rsyslog.state}, ${at === null ? 'nothing applied' : `applied ${at}`}`;
    if (copies.length === 0) return head;
    const table = formatTable(['COPY', 'SIZE', 'FREE', 'MISSING', 'LAST WRITE', 'ERROR'], rows);
    const indexed = `${index.lines} lines in the index, ${index.lag_seconds === 0 ? 'up to date' : `${index.lag_seconds} s behind`}`;
    const bad = index.quarantined === 0 ? '' : `, ${index.quarantined} cannot be read`;
    const sent = store === null ? '' : `\n${storeText(store)}`;
    return `${head}\n${isInStep ? 'both copies are in step' : 'the copies differ'}\n${indexed}${bad}${sent}\n${table}`;
  },
  exit: ({ in_step: isInStep, applied_at: at, rsyslog }) =>
    at === null || (isInStep && rsyslog.state === 'running') ? 'ok' : 'failed',
});

export const logsRepair = requestCommand({
  words: ['logs', 'repair'],
  summary: 'Close hours that are over, and put back what one copy lacks or has damaged',
  examples: ['svc logs repair'],
  route: 'POST /api/v1/logs/repair',
  text: ({ files, lines }) => `${files} files and ${lines} lines were put back`,
});

export const logsMigrate = requestCommand({
  words: ['logs', 'migrate'],
  summary: 'Send all hours to the database of `logs.store.url`, also those from before it was set',
  examples: ['svc logs migrate'],
  route: 'POST /api/v1/logs/migrate',
  text: () => 'hours are sent; `svc logs status` says how much waits',
});

type Store = NonNullable<Answer<'GET /api/v1/logs/status'>['store']>;

function storeText({ kind, error, waiting_bytes: waiting, hours_left: left, hours_missed: missed }: Store): string {
  const state =
    error === null ? `${waiting === 0 ? 'has all' : `${formatBytes(waiting)} wait`}` : `takes no lines: ${printable(error)}`;
  const before = left === 0 ? '' : `, ${left} hours from before it was set: svc logs migrate`;
  return `${kind} ${state}${before}${missed === 0 ? '' : `, ${missed} hours were removed before it had them`}`;
}

/** The server says what the members are. Throws CliError for a file that is not there, or no JSON. */
function readCollection(path: string): Collection {
  try {
    const { applied: _, ...collection } = JSON.parse(readFileSync(path, 'utf8')) as Collection & { applied?: boolean };
    return collection;
  } catch (error) {
    const remedy = 'name a file that holds the collection as JSON';
    throw new CliError('failed', 'collection_unreadable', `${path} cannot be read: ${(error as Error).message}`, remedy, error);
  }
}
