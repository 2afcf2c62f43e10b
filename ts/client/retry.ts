import { Refusal } from './refusal.ts';

interface RetryOptions {
  signal: AbortSignal;
  firstPauseMs?: number;
  tries?: number;
  /** Whether another try may fare better; by default, when the server was away or busy. */
  mayPass?(error: unknown): boolean;
  /** A timer unless given. */
  pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Tries a step again that may be repeated; the pause doubles each time. Throws the last failure. */
export async function retry<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  const { signal, firstPauseMs = 500, tries = 6, mayPass = isPassing, pause = pauseFor } = options;
  for (let nTries = 1; ; nTries++) {
    try {
      return await work();
    } catch (error) {
      if (nTries >= tries || signal.aborted || !mayPass(error)) throw error;
      await pause(firstPauseMs * 2 ** (nTries - 1), signal);
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof Refusal && error.mayPass;
}

/** Throws when the signal aborts meanwhile. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
