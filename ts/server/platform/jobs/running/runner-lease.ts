/** The proof that this process lives, by which other nodes leave its jobs alone. */
import type { Log } from '../../log/log.ts';
import { newTimeOrderedId } from '../../time-ordered-id.ts';
import type { RunnerStore } from '../store/runner-store.ts';

export interface RunnerLeaseParts {
  readonly runners: RunnerStore;
  readonly log: Log;
  readonly leaseMs: number;
  nodeId(): string;
  now(): number;
  /** Other nodes may have taken the jobs over, or surely have. */
  onLost(surely: boolean): void;
}

export class RunnerLease {
  readonly #parts: RunnerLeaseParts;
  #runner = '';
  #renewedAt = 0;

  constructor(parts: RunnerLeaseParts) {
    this.#parts = parts;
  }

  /** The id under which jobs are claimed. */
  get runner(): string {
    return this.#runner;
  }

  /** Whether no other node can hold this one dead yet. */
  get isFresh(): boolean {
    return performance.now() - this.#renewedAt < this.#parts.leaseMs;
  }

  /** Throws what storage throws. */
  async begin(): Promise<void> {
    const { runners, log, leaseMs, nodeId, now } = this.#parts;
    this.#runner = newTimeOrderedId();
    this.#renewedAt = performance.now();
    const nRecovered = await runners.register(this.#runner, nodeId(), leaseMs, now());
    if (nRecovered > 0) log.info('jobs that this node ran before go on', { jobs: nRecovered });
  }

  /** Renews the lease, and looks for nodes that did not renew theirs. */
  async renew(): Promise<void> {
    const { runners, log, leaseMs, now, onLost } = this.#parts;
    const askedAt = performance.now();
    try {
      if (await runners.renew(this.#runner, leaseMs)) this.#renewedAt = askedAt;
      else await this.#beginAgain();
    } catch (error) {
      if (!this.isFresh) onLost(false);
      throw error;
    }
    const nRecovered = await runners.recoverExpired(this.#runner, now());
    if (nRecovered > 0) log.warn('jobs of a node that gave no sign of life go on elsewhere', { jobs: nRecovered });
  }

  /** What cannot be written now is found at the next start. */
  async end(): Promise<void> {
    const { runners, log, now } = this.#parts;
    await runners.remove(this.#runner, now()).catch((error: unknown) => {
      log.warn('the end of this node’s jobs was not recorded', { error: String(error) });
    });
  }

  async #beginAgain(): Promise<void> {
    this.#parts.log.warn('this node gave no sign of life for too long, and others have taken over its jobs');
    this.#parts.onLost(true);
    await this.begin();
  }
}
