/** What the module says of itself in /health: that backups fail, or do not come. */
import type { HealthReason, HealthReport } from '../../platform/module/module.ts';

/** After a backup was due, so that a large one has time to be made. */
const LATE_MS = 2 * 3_600_000;

export class BackupHealth {
  #failure: HealthReason | undefined;
  /** When the backup is due that is not there yet, also if the destination has not answered since. Unix milliseconds. */
  #dueAt: number | undefined;

  made(): void {
    this.#failure = undefined;
    this.#dueAt = undefined;
  }

  /** `code`: of the refusal; undefined where the job alone knows. */
  failed(code: string | undefined): void {
    const cause = code === undefined ? '' : ` (${code})`;
    this.#failure = { code: 'backup_failed', detail: `The last backup of this node failed${cause}.` };
  }

  /** What the schedule says now: when the next one is due by the age of the newest; undefined: none is made by itself. */
  scheduled(dueAt: number | undefined, now: number): void {
    if (dueAt === undefined || dueAt > now) this.#dueAt = dueAt;
    else this.#dueAt = Math.min(this.#dueAt ?? dueAt, dueAt);
  }

  report(now: number): HealthReport {
    const reasons = this.#failure === undefined ? [] : [this.#failure];
    if (this.#dueAt !== undefined && now - this.#dueAt > LATE_MS) {
      const since = new Date(this.#dueAt).toISOString();
      reasons.push({ code: 'backup_late', detail: `A backup of the schedule has been due since ${since}.` });
    }
    return { state: {}, reasons };
  }
}
