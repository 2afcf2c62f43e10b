/** `svc usage`: what was used by whom. */
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface UsageRecord {
  tenant: string;
  id: string;
  requests: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  seconds: number;
}

interface UsageAnswer {
  from: string;
  to: string;
  data: UsageRecord[];
}

export const usage = command({
  words: ['usage'],
  summary: 'Show requests, tokens and seconds by key, user, model or tenant',
  options: {
    ...clientOptions,
    by: { kind: 'choice', choices: ['key', 'user', 'model', 'tenant'], help: 'what a line is of (default: model)' },
    from: { kind: 'text', value: 'TIME', help: 'first hour, for example 2026-11-01 (default: 30 days ago)' },
    to: { kind: 'text', value: 'TIME', help: 'hour to end before (default: now)' },
    tenant: { kind: 'text', value: 'ID', help: 'only this tenant' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 1000)' },
  },
  examples: ['svc usage --by key --from 2026-11-01'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const { by = 'model', from, to, tenant, limit = 1000 } = options;
    const query = new URLSearchParams({ by, limit: String(limit) });
    for (const [name, value] of Object.entries({ from, to, tenant })) if (value !== undefined) query.set(name, value);
    const path = `/api/v1/metering/usage?${query}`;
    const answer = (await ServerClient.from(invocation).send('GET', path, undefined, signal)) as UsageAnswer;
    const rows = answer.data.map((line) => [
      ...[line.tenant, printable(line.id) || '-', String(line.requests), String(line.prompt_tokens), String(line.cached_tokens)],
      ...[String(line.completion_tokens), String(line.total_tokens), line.seconds.toFixed(1)],
    ]);
    const heads = ['TENANT', by.toUpperCase(), 'REQUESTS', 'PROMPT', 'CACHED', 'COMPLETION', 'TOKENS', 'SECONDS'];
    terminal.result(answer, `${answer.from} to ${answer.to}\n${formatTable(heads, rows)}`);
    return 'ok';
  },
});
