/** `svc usage`: what was used by whom. */
import type { Answer } from '../../client/client.ts';
import { type Columns, tableOf } from '../format.ts';
import { requestCommand } from '../server-command.ts';

export const usage = requestCommand({
  words: ['usage'],
  summary: 'Show requests, tokens, seconds, sound and cost by key, user, model, tenant or backend',
  options: {
    by: { kind: 'choice', choices: ['key', 'user', 'model', 'tenant', 'backend'], help: 'what a line is of (default: model)' },
    from: { kind: 'text', value: 'TIME', help: 'first hour, for example 2026-11-01 (default: 30 days ago)' },
    to: { kind: 'text', value: 'TIME', help: 'hour to end before (default: now)' },
    tenant: { kind: 'text', value: 'ID', help: 'only this tenant' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 1000)' },
  },
  examples: ['svc usage --by key --from 2026-11-01'],
  route: 'GET /api/v1/metering/usage',
  given: ({ options: { by = 'model', from, to, tenant, limit = 1000 } }) => ({ query: { by, limit, from, to, tenant } }),
  text: ({ from, to, by, data }) => `${from} to ${to}\n${tableOf(columnsBy(by), data)}`,
});

type Line = Answer<'GET /api/v1/metering/usage'>['data'][number];

function columnsBy(by: string): Columns<Line> {
  return {
    TENANT: ({ tenant }) => tenant,
    [by.toUpperCase()]: ({ id }) => id || null,
    REQUESTS: ({ requests }) => requests,
    PROMPT: (line) => line.prompt_tokens,
    CACHED: (line) => line.cached_tokens,
    COMPLETION: (line) => line.completion_tokens,
    TOKENS: (line) => line.total_tokens,
    SECONDS: ({ seconds }) => seconds.toFixed(1),
    AUDIO: (line) => line.audio_seconds.toFixed(1),
    CHARACTERS: ({ characters }) => characters,
    COST: costOf,
  };
}

/** What is not known is not shown as nothing. */
function costOf({ cost_micros: micros, currency, estimated, unpriced_requests: nUnpriced }: Line): string | null {
  if (micros === null) return nUnpriced > 0 ? '?' : null;
  return `${estimated ? '~' : ''}${(micros / 1e6).toFixed(6)} ${currency}${nUnpriced > 0 ? ' + ?' : ''}`;
}
