/** How a node is, by its last heartbeat as the database's clock has it. */
import type { NodeEntry } from '../node-store.ts';
import type { NodeState } from '../schemas.ts';

/** How soon an order is heard, and a changed role is told. */
export const TICK_MS = 2_000;
/** Beats are late now and then. */
const LATE_BEATS = 1.5;

type Heard = Pick<NodeEntry, 'draining' | 'ended' | 'heartbeat_ms' | 'seenMsAgo'>;

export function isGone({ ended, heartbeat_ms: beatMs, seenMsAgo }: Omit<Heard, 'draining'>, entryMs: number): boolean {
  return ended === 1 || seenMsAgo > Math.max(entryMs, beatMs);
}

/** Its last heartbeat is older than it should be. */
export function isLate({ heartbeat_ms: beatMs, seenMsAgo }: Pick<Heard, 'heartbeat_ms' | 'seenMsAgo'>): boolean {
  return seenMsAgo > LATE_BEATS * beatMs + TICK_MS;
}

export function stateOf(entry: Heard, entryMs: number): NodeState {
  if (isGone(entry, entryMs)) return 'gone';
  if (entry.draining === 1) return 'draining';
  return isLate(entry) ? 'suspect' : 'ready';
}
