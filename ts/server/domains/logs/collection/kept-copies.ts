/** The two copies while rsyslog writes them: compared, kept within their bounds, and closed hour by hour. */
import { statfs } from 'node:fs/promises';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { closeHour, repairPacked } from './closed-hour.ts';
import type { CollectionConfig } from './collection-config.ts';
import { endOfHour, freeBytesOf, listHourFiles, retain } from './copy-files.ts';
import { FollowedCopies } from './followed-copies.ts';

interface KeptCopiesDeps {
  log: Log;
  metrics: MetricsRegistry;
  now(): number;
  /** Runs it when no apply and no repair runs. */
  serialise(work: () => Promise<void>): Promise<void>;
  /** Both copies are full, or are not any more: rsyslog is stopped meanwhile, so that senders keep their lines. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

type Kept = Pick<CollectionConfig, 'copies' | 'retention'>;

const LOOK_MS = 1_000;
const TEND_MS = 30_000;
/** Lines of an hour may still be on their way through the queue of datagrams. */
const CLOSES_AFTER_MS = 60_000;
const RESERVE_BYTES = 1_000_000_000;
const RESERVE_SHARE = 0.05;

export class KeptCopies {
  readonly #deps: KeptCopiesDeps;
  readonly #looks: Repeater;
  readonly #tends: Repeater;
  #kept: Kept | undefined;
  #followed: FollowedCopies | undefined;
  #isFull = false;
  #fullCopies: string[] = [];

  constructor(deps: KeptCopiesDeps) {
    this.#deps = deps;
    const { log, metrics } = deps;
    const onError = (error: unknown): void => log.warn('the copies of collected logs could not be looked at', { error });
    this.#looks = new Repeater({ intervalMs: LOOK_MS, run: async () => this.#followed?.look(), onError });
    this.#tends = new Repeater({ intervalMs: TEND_MS, run: () => deps.serialise(() => this.#tend()), onError });
    const missing = metrics.gauge('svc_logs_missing_lines', 'Collected lines that one copy has and the other one lacks.', [
      'copy',
    ]);
    metrics.onCollect(() => {
      for (const [i, { missingLines }] of (this.#followed?.states ?? []).entries())
        missing.with({ copy: String(i) }).set(missingLines);
    });
  }

  /** Begins with these copies, or goes on with others. */
  follow(kept: Kept): void {
    this.#kept = kept;
    this.#followed = new FollowedCopies(kept.copies);
    this.#isFull = false;
    this.#looks.start();
    this.#looks.wake();
    this.#tends.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#looks.stop(), this.#tends.stop()]);
  }

  /** The copy that readers use; null: none can be read. */
  get reading(): string | null {
    return this.#followed?.reading ?? null;
  }

  get isInStep(): boolean {
    return this.#followed?.isInStep ?? true;
  }

  async shown() {
    const shown = (this.#followed?.states ?? []).map(async ({ path, error, sizeBytes, lastWriteMs, missingLines }) => ({
      path,
      bytes: sizeBytes,
      free_bytes: await freeBytesOf(path).catch(() => null),
      last_write_at: lastWriteMs === 0 ? null : new Date(lastWriteMs).toISOString(),
      error,
      missing_lines: missingLines,
    }));
    return await Promise.all(shown);
  }

  health(isRunning: boolean): HealthReason[] {
    const reasons: HealthReason[] = [];
    if (this.#isFull)
      reasons.push({
        code: 'logs_full',
        detail: 'Both copies of collected logs are full; rsyslog is stopped, so that senders keep their lines.',
      });
    else if (this.#fullCopies.length > 0)
      reasons.push({ code: 'logs_copy_full', detail: 'The disk of a copy of collected logs is full.' });
    if (!this.#isFull && !isRunning)
      reasons.push({ code: 'rsyslog_stopped', detail: 'rsyslog does not run, so no logs are collected.' });
    if (!this.isInStep)
      reasons.push({
        code: 'logs_copy_behind',
        detail: 'A copy of collected logs cannot be read, or lacks lines that the other one has.',
      });
    return reasons;
  }

  /** Repairs packed hours, and closes those that are over. Returns how many files and lines were put back. */
  async repair(): Promise<{ files: number; lines: number }> {
    const copies = this.#kept?.copies ?? [];
    const lines = await this.#closeHours(copies);
    let files = 0;
    const listed = await Promise.all(copies.map((copy) => listHourFiles(copy)));
    for (const id of new Set(listed.flat().flatMap((file) => (file.isPacked ? [file.id] : []))))
      if ((await repairPacked(copies, id)) !== undefined) files++;
    return { files, lines };
  }

  async #tend(): Promise<void> {
    if (this.#kept === undefined) return;
    await this.#keepWithin(this.#kept);
    await this.#closeHours(this.#kept.copies);
  }

  async #keepWithin({ copies, retention }: Kept): Promise<void> {
    const full: string[] = [];
    for (const copy of copies) {
      const reserveBytes = await reserveOf(copy).catch(() => undefined);
      if (reserveBytes === undefined) continue;
      if (!(await retain(copy, { ...retention, reserveBytes }, this.#deps.now()))) full.push(copy);
    }
    this.#fullCopies = full;
    const isFull = full.length === copies.length;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    await (isFull ? this.#deps.pause() : this.#deps.resume());
  }

  /** Returns how many lines were put into a copy that lacked them. */
  async #closeHours(copies: readonly string[]): Promise<number> {
    const listed = await Promise.all(copies.map((copy) => listHourFiles(copy).catch(() => [])));
    const over = listed.flat().filter(({ hour, isPacked }) => !isPacked && endOfHour(hour) + CLOSES_AFTER_MS <= this.#deps.now());
    let nRepaired = 0;
    for (const id of new Set(over.map((file) => file.id))) {
      try {
        const { repaired } = await closeHour(copies, id, [this.#followed?.sumOf(0, id), this.#followed?.sumOf(1, id)]);
        this.#followed?.forget(id);
        nRepaired += repaired[0] + repaired[1];
        if (repaired[0] + repaired[1] > 0)
          this.#deps.log.warn('lines that a copy of collected logs lacked were put back', { hour: id, repaired });
      } catch (error) {
        this.#deps.log.warn('an hour of collected logs could not be closed, and is tried again', { hour: id, error });
      }
    }
    return nRepaired;
  }
}

async function reserveOf(copy: string): Promise<number> {
  const { blocks, bsize } = await statfs(copy);
  return Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
}
