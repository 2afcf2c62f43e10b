/** What one write of the journal holds: requests that began or went on, those that ended, and how much of each kind of use that adds. */
import type { OpenRequestRow, UsageKey, UsageRow } from '../tables.ts';

/** A request that is over, with what it used. */
export interface EndedRequest extends UsageKey {
  id: string;
  /** Whether a row for it was written, or is being written. */
  wasOpened: boolean;
  startedAt: number;
  endedAt: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

export interface Extension {
  id: string;
  promptTokens: number;
  completionTokens: number;
  touchedAt: number;
}

export interface UsageBatch {
  opened: OpenRequestRow[];
  extended: Extension[];
  ended: EndedRequest[];
}

const HOUR_MS = 60 * 60 * 1000;

/** Requests of the same hour, caller and model come to one row; those that did nothing, to none. */
export function usageRows(node: string, ended: readonly EndedRequest[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const request of ended) {
    if (request.promptTokens + request.completionTokens === 0) continue;
    const row = rowOf(node, request);
    const key = JSON.stringify([row.tenant, row.hour, row.user_id, row.key_id, row.model, row.operation]);
    const known = rows.get(key);
    if (known === undefined) rows.set(key, row);
    else addTo(known, row);
  }
  return [...rows.values()];
}

function rowOf(node: string, request: EndedRequest): UsageRow {
  const { tenant, user_id, key_id, model, operation, startedAt, endedAt } = request;
  return {
    tenant,
    user_id,
    key_id,
    model,
    operation,
    node,
    hour: endedAt - (endedAt % HOUR_MS),
    requests: 1,
    prompt_tokens: request.promptTokens,
    cached_tokens: request.cachedTokens,
    completion_tokens: request.completionTokens,
    milliseconds: Math.max(0, Math.round(endedAt - startedAt)),
  };
}

function addTo(sum: UsageRow, row: UsageRow): void {
  sum.requests += row.requests;
  sum.prompt_tokens += row.prompt_tokens;
  sum.cached_tokens += row.cached_tokens;
  sum.completion_tokens += row.completion_tokens;
  sum.milliseconds += row.milliseconds;
}
