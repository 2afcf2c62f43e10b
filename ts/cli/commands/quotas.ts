/** `svc quota`: limits of tenants, users and keys of a running node. */
import { usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatTable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { findUser } from './accounts.ts';

interface QuotaRecord {
  tenant: string;
  user: string | null;
  key: string | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  requests_per_month: number | null;
  tokens_per_month: number | null;
  used: { minute: Amounts; month: Amounts };
}

interface Amounts {
  requests: number;
  tokens: number;
}

const path = '/api/v1/metering/quotas';
const LIMITS = ['requests-per-minute', 'tokens-per-minute', 'requests-per-month', 'tokens-per-month'] as const;
const limit = (what: string) => ({ kind: 'text', value: 'N', help: `${what}; none removes it` }) as const;

export const quotaList = command({
  words: ['quota', 'list'],
  summary: 'List the quotas and what is used of them',
  options: clientOptions,
  examples: ['svc quota list'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const { data } = (await ServerClient.from(invocation).send('GET', path, undefined, signal)) as { data: QuotaRecord[] };
    terminal.result(data, tableOf(data));
    return 'ok';
  },
});

export const quotaSet = command({
  words: ['quota', 'set'],
  summary: 'Set the quotas of a tenant, or of one of its users or keys',
  options: {
    ...clientOptions,
    tenant: { kind: 'text', value: 'ID', help: 'the tenant (default: that of the caller)' },
    user: { kind: 'text', value: 'NAME', help: 'an account, instead of the whole tenant' },
    key: { kind: 'text', value: 'ID', help: 'an API key, instead of the whole tenant' },
    'requests-per-minute': limit('requests in any minute'),
    'tokens-per-minute': limit('prompt and completion tokens in any minute'),
    'requests-per-month': limit('requests in a calendar month (UTC)'),
    'tokens-per-month': limit('tokens in a calendar month (UTC)'),
  },
  examples: ['svc quota set --tenant acme --tokens-per-month 5000000', 'svc quota set --user bob --requests-per-minute none'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const limits = LIMITS.flatMap((name) =>
      options[name] === undefined ? [] : [[name.replaceAll('-', '_'), readLimit(name, options[name])]],
    );
    if (limits.length === 0) throw usageError('no limit is named', `give one of ${LIMITS.map((name) => `--${name}`).join(', ')}`);
    const client = ServerClient.from(invocation);
    const user = options.user === undefined ? undefined : await findUser(client, options.user, signal);
    const tenant = options.tenant ?? user?.tenant;
    const body = {
      ...(tenant !== undefined && { tenant }),
      ...(user !== undefined && { user: user.id }),
      ...(options.key !== undefined && { key: options.key }),
      ...Object.fromEntries(limits),
    };
    const quota = (await client.send('PUT', path, body, signal)) as QuotaRecord;
    terminal.result(quota, tableOf([quota]));
    return 'ok';
  },
});

function readLimit(name: string, text: string): number | null {
  if (text === 'none') return null;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) return value;
  throw usageError(`--${name} is "${text}"`, 'give a whole number from 1, or none');
}

function tableOf(quotas: readonly QuotaRecord[]): string {
  const level = (used: number, most: number | null) => (most === null ? '-' : `${used} of ${most}`);
  const rows = quotas.map(({ tenant, user, key, used, ...limits }) => [
    ...[tenant, user ?? key ?? '-', level(used.minute.requests, limits.requests_per_minute)],
    ...[level(used.minute.tokens, limits.tokens_per_minute), level(used.month.requests, limits.requests_per_month)],
    level(used.month.tokens, limits.tokens_per_month),
  ]);
  return formatTable(['TENANT', 'USER OR KEY', 'REQUESTS/MIN', 'TOKENS/MIN', 'REQUESTS/MONTH', 'TOKENS/MONTH'], rows);
}
