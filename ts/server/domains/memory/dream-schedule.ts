/** Begins a dream for each owner once a day, at the time that the operator set, on one node of the database. */
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import type { DreamStore } from './dream-store.ts';
import type { Dreams } from './dreams.ts';

interface DreamScheduleOptions {
  readonly dreams: Pick<Dreams, 'beginFor'>;
  readonly store: Pick<DreamStore, 'listDue'>;
  readonly log: Log;
  /** Minutes after midnight, UTC; undefined: none is begun. */
  readonly minute: number | undefined;
  readonly now: () => number;
}

const LOOK_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export class DreamSchedule {
  readonly #options: DreamScheduleOptions;
  readonly #repeater: Repeater;

  constructor(options: DreamScheduleOptions) {
    this.#options = options;
    this.#repeater = new Repeater({
      intervalMs: LOOK_MS,
      run: () => this.look(),
      onError: (error) => options.log.warn('dreams were not begun by schedule', { error: String(error) }),
    });
  }

  start(): void {
    if (this.#options.minute !== undefined) this.#repeater.start();
  }

  async stop(): Promise<void> {
    await this.#repeater.stop();
  }

  /** Within the hour that follows the time of the schedule, whoever has not dreamt since does. */
  async look(): Promise<void> {
    const { dreams, store, minute = 0, now } = this.#options;
    const dueAt = lastTime(now(), minute);
    if (now() - dueAt > HOUR_MS) return;
    for (const { tenant, owner, dreamtAt } of await store.listDue(systemScope()))
      if (dreamtAt < dueAt) await dreams.beginFor(tenantScope(tenant), owner);
  }
}

/** The last time of day `minute` at or before `at`. */
function lastTime(at: number, minute: number): number {
  const today = at - (at % DAY_MS) + minute * 60_000;
  return today <= at ? today : today - DAY_MS;
}

/** Undefined for an empty text. */
export function minuteOf(time: string): number | undefined {
  const [hours, minutes] = time.split(':').map(Number);
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes;
}
