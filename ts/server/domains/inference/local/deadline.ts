/** Waits for shared work without owning it: victims early does not stop the work. */
export function waitFor<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // Timers hold at most 2^31 - 1 ms; longer ones would fire at once.
    const timer = timeoutMs < 2 ** 31 ? setTimeout(() => settle(() => reject(late())), timeoutMs) : undefined;
    const leave = () => settle(() => reject(signal.reason as Error));
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      finish();
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(
      (value) => settle(() => resolve(value)),
      (error: Error) => settle(() => reject(error)),
    );
  });
}
