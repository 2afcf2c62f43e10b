/** `svc quota`: limits of tenants, users and keys of a running node. */
import type { Answer } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { type Columns, tableOf } from '../format.ts';
import { listCommand, requestCommand } from '../server-command.ts';
import { findUser } from './accounts.ts';

type Quota = Answer<'PUT /api/v1/metering/quotas'>;

const LIMITS = [
  'requests-per-minute',
  'tokens-per-minute',
  'requests-per-month',
  'tokens-per-month',
  'cost-micro-per-month',
] as const;
const limit = (what: string) => ({ kind: 'text', value: 'N', help: `${what}; none removes it` }) as const;

const level = (used: number, most: number | null) => (most === null ? null : `${used} of ${most}`);
const columns: Columns<Quota> = {
  TENANT: ({ tenant }) => tenant,
  'USER OR KEY': ({ user, key }) => user ?? key,
  'REQUESTS/MIN': ({ used, requests_per_minute: most }) => level(used.minute.requests, most),
  'TOKENS/MIN': ({ used, tokens_per_minute: most }) => level(used.minute.tokens, most),
  'REQUESTS/MONTH': ({ used, requests_per_month: most }) => level(used.month.requests, most),
  'TOKENS/MONTH': ({ used, tokens_per_month: most }) => level(used.month.tokens, most),
  'COST/MONTH': ({ used, cost_micro_per_month: most }) => level(used.month.cost_micros, most),
};

export const quotaList = listCommand({
  words: ['quota', 'list'],
  summary: 'List the quotas and what is used of them',
  examples: ['svc quota list'],
  route: 'GET /api/v1/metering/quotas',
  columns,
});

export const quotaSet = requestCommand({
  words: ['quota', 'set'],
  summary: 'Set the quotas of a tenant, or of one of its users or keys',
  options: {
    tenant: { kind: 'text', value: 'ID', help: 'the tenant (default: that of the caller)' },
    user: { kind: 'text', value: 'NAME', help: 'an account, instead of the whole tenant' },
    key: { kind: 'text', value: 'ID', help: 'an API key, instead of the whole tenant' },
    'requests-per-minute': limit('requests in any minute'),
    'tokens-per-minute': limit('prompt and completion tokens in any minute'),
    'requests-per-month': limit('requests in a calendar month (UTC)'),
    'tokens-per-month': limit('tokens in a calendar month (UTC)'),
    'cost-micro-per-month': limit('what providers bill in a calendar month (UTC), in millionths of the currency of the prices'),
  },
  examples: ['svc quota set --tenant acme --tokens-per-month 5000000', 'svc quota set --user bob --requests-per-minute none'],
  route: 'PUT /api/v1/metering/quotas',
  given: async ({ options, client }) => {
    const limits = LIMITS.flatMap((name) =>
      options[name] === undefined ? [] : [[name.replaceAll('-', '_'), readLimit(name, options[name])]],
    );
    if (limits.length === 0) throw usageError('no limit is named', `give one of ${LIMITS.map((name) => `--${name}`).join(', ')}`);
    const user = options.user === undefined ? undefined : await findUser(client, options.user);
    const tenant = options.tenant ?? user?.tenant;
    return { body: { tenant, user: user?.id, key: options.key, ...Object.fromEntries(limits) } };
  },
  text: (quota) => tableOf(columns, [quota]),
});

function readLimit(name: string, text: string): number | null {
  if (text === 'none') return null;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) return value;
  throw usageError(`--${name} is "${text}"`, 'give a whole number from 1, or none');
}
