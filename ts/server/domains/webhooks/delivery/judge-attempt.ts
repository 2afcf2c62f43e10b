/** What an attempt means for the delivery and for its webhook. */
import { type BackoffRange, backoffMs } from '../../../platform/backoff.ts';
import type { ClaimedDelivery, Outcome } from '../store/delivery-store.ts';
import type { PostResult } from './post.ts';

export interface RetryRules {
  backoff: BackoffRange;
  /** A delivery is tried for so long. */
  giveUpAfterMs: number;
  /** A webhook whose deliveries have all failed for so long is disabled. */
  disableAfterMs: number;
}

/** The receiver says that it is gone for good (RFC 9110 section 15.5.11). */
const GONE = 410;

export function judgeAttempt(delivery: ClaimedDelivery, result: PostResult, rules: RetryRules, now: number): Outcome {
  const { status, error } = result;
  const said = { last_status: status ?? null, last_error: error ?? null };
  if (error === undefined) {
    return {
      delivery: { ...said, state: 'delivered', next_attempt_at: now, ended_at: now },
      failingSince: null,
      disabledReason: undefined,
    };
  }
  const failingSince = delivery.failing_since ?? now;
  const next =
    now + Math.max(backoffMs(delivery.attempts + 1, rules.backoff), Math.min(result.retryAfterMs ?? 0, rules.backoff.longest));
  const isOver = status === GONE || next - delivery.tried_since > rules.giveUpAfterMs;
  return {
    delivery: { ...said, state: isOver ? 'failed' : 'pending', next_attempt_at: next, ended_at: isOver ? now : null },
    failingSince,
    disabledReason: disabledReason(status, now - failingSince, rules),
  };
}

function disabledReason(status: number | undefined, failingMs: number, { disableAfterMs }: RetryRules): string | undefined {
  if (status === GONE) return 'The receiver answered 410 Gone.';
  if (failingMs < disableAfterMs) return undefined;
  return `Every delivery has failed for ${Math.floor(failingMs / 86_400_000)} days.`;
}
