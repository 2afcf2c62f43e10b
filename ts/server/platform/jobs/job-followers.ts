/** Who wants to hear of a job's changes. */
import { hasEnded, type Job } from './job.ts';

export type JobListener = (job: Job) => void;

interface Followed {
  readonly listeners: Set<JobListener>;
  /** The job as it was last published, as JSON: what has not changed is not published again. */
  last?: string;
}

export class JobFollowers {
  readonly #followed = new Map<string, Followed>();

  /** Ids of the jobs that somebody follows. */
  get ids(): string[] {
    return [...this.#followed.keys()];
  }

  /** Returns the way to stop listening, which is idempotent. After a job's end nothing more comes. */
  add(id: string, listener: JobListener): () => void {
    const followed = this.#followed.get(id) ?? { listeners: new Set() };
    this.#followed.set(id, followed);
    followed.listeners.add(listener);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size === 0 && this.#followed.get(id) === followed) this.#followed.delete(id);
    };
  }

  has(id: string): boolean {
    return this.#followed.has(id);
  }

  publish(job: Job): void {
    const followed = this.#followed.get(job.id);
    const text = JSON.stringify(job);
    if (followed === undefined || followed.last === text) return;
    followed.last = text;
    if (hasEnded(job)) this.#followed.delete(job.id);
    for (const listener of [...followed.listeners]) listener(job);
  }
}
