import { setTimeout as wait } from 'node:timers/promises';
import { StorageError } from '../storage-error.ts';

const LONGEST_DELAY_MS = 100;

/** Repeats a transaction that PostgreSQL refused because of concurrent ones, until `limitMs` have passed since the first attempt. */
export async function retryConflicts<T>(limitMs: number, onRetry: () => void, attempt: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (let delayMs = 1; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const isConflict = error instanceof StorageError && error.code === 'write_conflict';
      if (!isConflict || performance.now() - startedAt > limitMs) throw error;
    }
    onRetry();
    // A random delay keeps those that collided from colliding again.
    await wait(Math.random() * delayMs);
  }
}
