/** `svc tenant`: tenants of a running node. */
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface TenantRecord {
  id: string;
  name: string;
  tokens_per_minute: number | null;
  priority: boolean;
  model_access: string;
  namespace_access: string;
  created_at: string;
}

const path = '/api/v1/identity/tenants';

export const tenantList = command({
  words: ['tenant', 'list'],
  summary: 'List the tenants',
  options: clientOptions,
  examples: ['svc tenant list'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const { data } = (await ServerClient.from(invocation).send('GET', path, undefined, signal)) as { data: TenantRecord[] };
    terminal.result(data, tableOf(data));
    return 'ok';
  },
});

export const tenantCreate = command({
  words: ['tenant', 'create'],
  summary: 'Make a tenant',
  positionals: [{ name: 'ID', help: 'letters, digits and _.:@-' }],
  options: {
    ...clientOptions,
    name: { kind: 'text', value: 'NAME', help: 'name for people (default: the id)' },
    'tokens-per-minute': { kind: 'integer', value: 'N', min: 1, help: 'prompt and completion tokens in any minute' },
    priority: { kind: 'flag', help: 'its requests may go before those of others' },
  },
  examples: ['svc tenant create acme --tokens-per-minute 60000'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const { name, priority } = options;
    const tokens = options['tokens-per-minute'];
    const body = {
      id: positionals[0] ?? '',
      ...(name !== undefined && { name }),
      ...(tokens !== undefined && { tokens_per_minute: tokens }),
      ...(priority === true && { priority }),
    };
    const tenant = (await ServerClient.from(invocation).send('POST', path, body, signal)) as TenantRecord;
    terminal.result(tenant, tableOf([tenant]));
    return 'ok';
  },
});

export const tenantAccess = command({
  words: ['tenant', 'access'],
  summary: 'Say whether everybody in a tenant may use all models and knowledge bases, or only what groups grant',
  positionals: [{ name: 'ID', help: 'id of the tenant' }],
  options: {
    ...clientOptions,
    models: { kind: 'choice', choices: ['open', 'granted'], help: 'open: all models; granted: those of one’s groups' },
    knowledge: { kind: 'choice', choices: ['open', 'granted'], help: 'the same for knowledge bases' },
  },
  examples: ['svc tenant access acme --models granted'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const { models, knowledge } = options;
    const body = {
      ...(models !== undefined && { model_access: models }),
      ...(knowledge !== undefined && { namespace_access: knowledge }),
    };
    const to = `${path}/${encodeURIComponent(positionals[0] ?? '')}`;
    const tenant = (await ServerClient.from(invocation).send('PATCH', to, body, signal)) as TenantRecord;
    terminal.result(tenant, tableOf([tenant]));
    return 'ok';
  },
});

function tableOf(tenants: readonly TenantRecord[]): string {
  const rows = tenants.map(({ id, name, tokens_per_minute: tokens, priority, model_access, namespace_access }) => [
    ...[id, printable(name), tokens === null ? '-' : String(tokens), priority ? 'yes' : 'no'],
    ...[model_access, namespace_access],
  ]);
  return formatTable(['ID', 'NAME', 'TOKENS/MIN', 'PRIORITY', 'MODELS', 'KNOWLEDGE'], rows);
}
