/**
 * The header fields `x-ratelimit-*`, as OpenAI's API spells them: of each measure the quota with the least left, by the minute where there is
 * one. A time is written like `6m0s` or `12ms`.
 */
import { nextMonthStart } from './calendar-month.ts';
import type { LimitedSubject } from './limited-subject.ts';
import { limitOf, type Measure, type Period } from './quota-limits.ts';

interface Level {
  limit: number;
  left: number;
  resetMs: number;
}

const MEASURES: readonly Measure[] = ['requests', 'tokens'];
/** Names of all fields, which pages of other origins may read. */
export const RATE_LIMIT_HEADERS: readonly string[] = MEASURES.flatMap((measure) =>
  ['limit', 'remaining', 'reset'].map((field) => `x-ratelimit-${field}-${measure}`),
);

export function rateLimitFields(subjects: readonly LimitedSubject[], now: number): [name: string, value: string][] {
  return MEASURES.flatMap((measure) => {
    const level = lowest(subjects, measure, 'minute', now) ?? lowest(subjects, measure, 'month', now);
    if (level === undefined) return [];
    return [
      [`x-ratelimit-limit-${measure}`, String(level.limit)],
      [`x-ratelimit-remaining-${measure}`, String(level.left)],
      [`x-ratelimit-reset-${measure}`, durationText(level.resetMs)],
    ];
  });
}

function lowest(subjects: readonly LimitedSubject[], measure: Measure, period: Period, now: number): Level | undefined {
  let found: Level | undefined;
  for (const { limits, use } of subjects) {
    const limit = limitOf(limits, measure, period);
    if (limit === undefined) continue;
    const used = use.used(measure, period, now);
    const left = Math.max(0, limit - used - (measure === 'tokens' ? use.heldTokens : 0));
    if (found !== undefined && found.left <= left) continue;
    const resetMs = period === 'month' ? nextMonthStart(now) - now : (use.windows[measure].untilFree(used, now) ?? 0);
    found = { limit, left, resetMs };
  }
  return found;
}

/** Like Go's durations: `1h0m3s`, `6m0s`, `1.5s`, `20ms`. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours}h${minutes}m${seconds % 60}s`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
