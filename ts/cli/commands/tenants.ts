/** `svc tenant`: tenants of a running node. */
import type { Answer } from '../../client/client.ts';
import { type Columns, tableOf } from '../format.ts';
import { columnsByKind, memberOf, optionsByKind, valuesByKind } from '../members-by-kind.ts';
import { listCommand, requestCommand } from '../server-command.ts';

const kindName = ({ word, name }: { word?: string; name: string }): string => word ?? name;
const accessName = ({ one }: { one: string }): string => `${one}_access`;

const columns: Columns<Answer<'POST /api/v1/identity/tenants'>> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  'TOKENS/MIN': ({ tokens_per_minute: tokens }) => tokens,
  PRIORITY: ({ priority }) => (priority ? 'yes' : 'no'),
  ...columnsByKind(kindName, (row, kind) => memberOf<string>(row, accessName(kind)) ?? null),
};

export const tenantList = listCommand({
  words: ['tenant', 'list'],
  summary: 'List the tenants',
  examples: ['svc tenant list'],
  route: 'GET /api/v1/identity/tenants',
  columns,
});

export const tenantCreate = requestCommand({
  words: ['tenant', 'create'],
  summary: 'Make a tenant',
  positionals: [{ name: 'ID', help: 'letters, digits and _.:@-' }],
  options: {
    name: { kind: 'text', value: 'NAME', help: 'name for people (default: the id)' },
    'tokens-per-minute': { kind: 'integer', value: 'N', min: 1, help: 'prompt and completion tokens in any minute' },
    priority: { kind: 'flag', help: 'its requests may go before those of others' },
  },
  examples: ['svc tenant create acme --tokens-per-minute 60000'],
  route: 'POST /api/v1/identity/tenants',
  given: ({ positionals: [id = ''], options: { name, 'tokens-per-minute': tokens, priority } }) => ({
    body: { id, name, tokens_per_minute: tokens, priority },
  }),
  text: (tenant) => tableOf(columns, [tenant]),
});

export const tenantAccess = requestCommand({
  words: ['tenant', 'access'],
  summary: 'Say whether everybody in a tenant may use all models, knowledge bases and the like, or only what groups grant',
  positionals: [{ name: 'ID', help: 'id of the tenant' }],
  options: optionsByKind(kindName, ({ labels: [, many] }) => ({
    kind: 'choice',
    choices: ['open', 'granted'],
    help: `open: all ${many}; granted: those of one’s groups`,
  })),
  examples: ['svc tenant access acme --models granted'],
  route: 'PATCH /api/v1/identity/tenants/{id}',
  given: ({ positionals: [id = ''], options }) => ({ params: { id }, body: valuesByKind(kindName, accessName, options) }),
  text: (tenant) => tableOf(columns, [tenant]),
});
