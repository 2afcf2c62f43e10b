/** Runs what can wait when the page has nothing to do, and within a moment anyway. */
const WITHIN_MS = 500;

export function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: WITHIN_MS });
  else setTimeout(run, 50);
}
