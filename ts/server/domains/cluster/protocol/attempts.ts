/** One answer of one of several nodes: another may begin it again until its first content, and after that none does. */

const MOST_ATTEMPTS = 3;

interface AttemptPorts<N, F> {
  readonly tried: Set<N>;
  /** Undefined: no node that was not tried takes it. */
  choose(tried: ReadonlySet<N>): N | undefined;
  /** Undefined: the answer is over. */
  attempt(node: N): Promise<F | undefined>;
  /** The client may have something of the answer. */
  hasBegun(): boolean;
  /** Another node may take what failed so. */
  mayTryElsewhere(failure: F): boolean;
  /** Nobody waits for the answer any more. */
  isOver(): boolean;
}

/** Why there is no answer, 'nobody' where no node was asked; undefined: there is one, or nobody waits for it. */
export async function tryNodes<N, F extends object>(ports: AttemptPorts<N, F>): Promise<F | 'nobody' | undefined> {
  let failure: F | 'nobody' | undefined = 'nobody';
  while (!ports.isOver() && ports.tried.size < MOST_ATTEMPTS) {
    const node = ports.choose(ports.tried);
    if (node === undefined) break;
    ports.tried.add(node);
    failure = await ports.attempt(node);
    if (failure === undefined || ports.hasBegun() || !ports.mayTryElsewhere(failure)) break;
  }
  return ports.isOver() ? undefined : failure;
}
