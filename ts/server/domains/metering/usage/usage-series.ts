/** Usage over time as columns of numbers, one of each step, with nothing where nothing was used. */
import type { UsagePoint } from './usage-store.ts';

interface UsageColumns {
  tokens: number[];
  requests: number[];
}

export interface UsageSeries {
  /** Begins of the steps, Unix milliseconds. */
  times: number[];
  total: UsageColumns;
  /** Those that used the most come first. */
  groups: (UsageColumns & { tenant: string; id: string })[];
}

type Group = UsageSeries['groups'][number];

export function usageSeries(points: readonly UsagePoint[], from: number, to: number, stepMs: number): UsageSeries {
  const times = Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, i) => from + i * stepMs);
  const columns = (): UsageColumns => ({ tokens: times.map(() => 0), requests: times.map(() => 0) });
  const total = columns();
  const groups = new Map<string, Group>();
  for (const { at, tenant, id, requests, tokens } of points) {
    const index = (Number(at) - from) / stepMs;
    const key = JSON.stringify([tenant, id]);
    if (tenant !== null && id !== null && !groups.has(key)) groups.set(key, { tenant, id, ...columns() });
    const { tokens: tokenColumn, requests: requestColumn } = groups.get(key) ?? total;
    tokenColumn[index] = Number(tokens);
    requestColumn[index] = Number(requests);
  }
  const sum = ({ tokens }: UsageColumns): number => tokens.reduce((all, each) => all + each, 0);
  return { times, total, groups: [...groups.values()].sort((a, b) => sum(b) - sum(a)) };
}
