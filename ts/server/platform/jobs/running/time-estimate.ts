import type { EstimatedProgress, JobProgress } from '../job.ts';

/** Before so much time has passed, a rate says little. */
const LEAST_MS = 500;

/** When a job will be done, from what it did since its first report in this process. */
export class TimeEstimate {
  #firstDone: number | undefined;
  #firstAt = 0;

  /** `now` is in milliseconds since 1970. */
  add(progress: JobProgress, now: number): EstimatedProgress {
    const { done, total } = progress;
    if (this.#firstDone === undefined || done < this.#firstDone) {
      this.#firstDone = done;
      this.#firstAt = now;
    }
    const elapsedMs = now - this.#firstAt;
    const advanced = done - this.#firstDone;
    if (total === undefined || advanced <= 0 || elapsedMs < LEAST_MS) return progress;
    return { ...progress, endsAt: Math.round(now + (Math.max(0, total - done) * elapsedMs) / advanced) };
  }
}
