/** The limits that a source says beside its answers: Retry-After (RFC 9110), RateLimit (the IETF's draft), and what X- fields are in use for the same. */
import type { HttpResponse } from '../../../platform/network/http-response.ts';

interface SaidLimits {
  /** It asks to be left alone for so long; undefined: it does not. */
  readonly blockedMs: number | undefined;
  /** The distance of requests that it takes; undefined: it does not say. */
  readonly intervalMs: number | undefined;
}

/** Seconds since 1970 in place of seconds from now. */
const MOST_SECONDS_FROM_NOW = 1_000_000_000;
/** Nothing is left, and nobody says until when. */
const SPENT_MS = 60_000;

export function readLimits(answer: Pick<HttpResponse, 'header' | 'status'>, now: number): SaidLimits {
  const retryMs = delayOf(answer.header('retry-after'), now);
  const left = numberOf(first(answer, 'ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining'));
  const resetMs = delayOf(first(answer, 'ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'), now);
  const spentMs = left !== undefined && left <= 0 ? (resetMs ?? SPENT_MS) : undefined;
  const isRefused = answer.status === 429 || answer.status === 503;
  const asked = [isRefused ? retryMs : undefined, spentMs].filter((ms) => ms !== undefined);
  return {
    blockedMs: asked.length === 0 ? undefined : Math.max(...asked),
    intervalMs: intervalOf(
      numberOf(first(answer, 'x-ratelimit-limit', 'x-rate-limit-limit')),
      first(answer, 'x-rate-limit-interval', 'x-ratelimit-interval', 'x-ratelimit-period'),
    ),
  };
}

function first(answer: Pick<HttpResponse, 'header'>, ...names: readonly string[]): string | undefined {
  return names.map((name) => answer.header(name)).find((value) => value !== undefined);
}

/** `50` and `1s` of Crossref, `55000` and `3600` of Ensembl. */
function intervalOf(requests: number | undefined, text: string | undefined): number | undefined {
  const [, seconds] = /^(\d{1,6})s?$/.exec(text?.trim() ?? '') ?? [];
  if (requests === undefined || requests <= 0 || seconds === undefined || Number(seconds) === 0) return undefined;
  return (Number(seconds) * 1000) / requests;
}

/** Seconds, a point in time, or a date. */
function delayOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = numberOf(text);
  if (seconds !== undefined) return seconds > MOST_SECONDS_FROM_NOW ? Math.max(0, seconds * 1000 - now) : seconds * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,13}(?:\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined;
}
