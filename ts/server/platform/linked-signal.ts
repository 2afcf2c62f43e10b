/** A signal that any of several ends, for work beside a signal that lives much longer than the work. */

interface LinkedSignal {
  readonly signal: AbortSignal;
  /** The work is over: the sources know nothing of it any more. */
  unlink(): void;
}

/**
 * Aborts with the reason of the first source that does. AbortSignal.any keeps some memory of each call for as long as its longest-lived source, which may be
 * the process (nodejs/node#55351, #64476); this one keeps nothing once it is unlinked.
 */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const unlink = (): void => {
    for (const source of sources) source.removeEventListener('abort', end);
  };
  const end = (): void => {
    unlink();
    controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  };
  for (const source of sources) source.addEventListener('abort', end, { once: true });
  if (sources.some(({ aborted }) => aborted)) end();
  return { signal: controller.signal, unlink };
}
