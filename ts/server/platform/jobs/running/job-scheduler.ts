/** Claims jobs for this process as long as there is room, fairly between tenants, and keeps the runs. */
import type { Log } from '../../log/log.ts';
import type { Job } from '../job.ts';
import type { AnyJobKind } from '../job-kind.ts';
import type { JobMetrics } from '../job-metrics.ts';
import type { ClaimStore, QueueHead } from '../store/claim-store.ts';
import type { JobRow } from '../store/job-tables.ts';
import { JobRun } from './job-run.ts';

export interface JobSchedulerParts {
  readonly claims: ClaimStore;
  readonly log: Log;
  readonly metrics: JobMetrics;
  readonly maxRunning: number;
  nodeId(): string;
  now(): number;
  /** False once other nodes may hold this one dead. */
  isAlive(): boolean;
  onChange(job: Job): void;
  /** A run is over, and its row says what became of the job. */
  onEnd(id: string): void;
}

export class JobScheduler {
  readonly #parts: JobSchedulerParts;
  readonly #kinds = new Map<string, AnyJobKind>();
  readonly #runs = new Map<string, JobRun>();
  readonly #settled = new Map<JobRun, Promise<void>>();
  /** By tenant: the number of its last start, counted over all tenants. */
  readonly #lastStarts = new Map<string, number>();
  #starts = 0;
  /** A claim failed in a way that leaves open whether the database has it. */
  #hasStrays = false;

  constructor(parts: JobSchedulerParts) {
    this.#parts = parts;
  }

  get running(): number {
    return this.#runs.size;
  }

  find(id: string): JobRun | undefined {
    return this.#runs.get(id);
  }

  accept(kind: AnyJobKind): void {
    this.#kinds.set(kind.name, kind);
  }

  refuse(kind: AnyJobKind): void {
    this.#kinds.delete(kind.name);
  }

  /** Claims until there is no room or nothing due. */
  async fill(runner: string): Promise<void> {
    if (this.#hasStrays) await this.#releaseStrays(runner);
    for (;;) {
      const kinds = this.#kindsWithCapacity();
      if (kinds.length === 0) return;
      const heads = await this.#parts.claims.listHeads(kinds, this.#parts.nodeId(), this.#parts.now());
      let nClaimed = 0;
      for (const { id, kind } of inFairOrder(heads, this.#lastStarts)) {
        if (this.#runs.has(id) || !this.#kindsWithCapacity().includes(kind)) continue;
        const row = await this.#claim(id, runner);
        if (row === undefined) continue;
        nClaimed += 1;
        this.#start(row);
      }
      if (nClaimed === 0) return;
    }
  }

  /** Interrupts the runs that fit, waits `limitMs` for their ends, and gives up those that go on. */
  async interrupt(fits: (run: JobRun) => boolean, limitMs: number): Promise<void> {
    const runs = [...this.#settled.keys()].filter(fits);
    for (const run of runs) run.interrupt('stopping');
    await this.#wait(runs, limitMs);
    await Promise.all(runs.filter((run) => this.#settled.has(run)).map((run) => this.#giveUp(run)));
  }

  /** For all runs: other nodes may have taken the jobs over, or surely have. */
  lose(surely: boolean): void {
    for (const run of this.#runs.values()) {
      if (surely) run.abandon();
      else run.interrupt('lost');
    }
  }

  async #claim(id: string, runner: string): Promise<JobRow | undefined> {
    try {
      return await this.#parts.claims.claim(id, { runner, node: this.#parts.nodeId() }, this.#parts.now());
    } catch (error) {
      this.#hasStrays = true;
      throw error;
    }
  }

  /** What was claimed without being started here is queued again. */
  async #releaseStrays(runner: string): Promise<void> {
    const held = await this.#parts.claims.listHeld(runner);
    for (const claim of held) if (!this.#runs.has(claim.id)) await this.#parts.claims.release(claim, this.#parts.now());
    this.#hasStrays = false;
  }

  #kindsWithCapacity(): string[] {
    if (this.#runs.size >= this.#parts.maxRunning) return [];
    const running = Map.groupBy(this.#runs.values(), ({ kind }) => kind.name);
    const hasCapacity = ({ name, concurrency = Number.POSITIVE_INFINITY }: AnyJobKind) =>
      (running.get(name)?.length ?? 0) < concurrency;
    return [...this.#kinds.values()].filter(hasCapacity).map(({ name }) => name);
  }

  /** The kind may have been refused while the claim was under way. */
  #start(row: JobRow): void {
    const kind = this.#kinds.get(row.kind);
    if (kind === undefined) {
      this.#hasStrays = true;
      return;
    }
    const { claims, log, now, isAlive, onChange } = this.#parts;
    const run = new JobRun({ row, kind, claims, log, now, isAlive, onChange });
    this.#starts += 1;
    this.#lastStarts.set(row.tenant, this.#starts);
    this.#runs.set(row.id, run);
    this.#settled.set(run, this.#follow(run));
  }

  async #follow(run: JobRun): Promise<void> {
    const startedAt = performance.now();
    const { metrics, onChange, onEnd } = this.#parts;
    metrics.started(run.kind.name);
    onChange(run.job);
    const outcome = await run.run();
    metrics.stopped(run.kind.name, outcome, performance.now() - startedAt);
    this.#runs.delete(run.id);
    this.#settled.delete(run);
    onEnd(run.id);
  }

  async #wait(runs: readonly JobRun[], limitMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, limitMs);
    await Promise.race([Promise.all(runs.map((run) => this.#settled.get(run))), over.promise]);
    clearTimeout(timer);
  }

  async #giveUp(run: JobRun): Promise<void> {
    const { id, kind } = run;
    this.#parts.log.warn('a job did not stop in time and was given back to the queue', { job: id, kind: kind.name });
    await run.giveUp().catch((error: unknown) => {
      this.#parts.log.warn('a job was not given back; it goes on after the next start', { job: id, error: String(error) });
    });
  }
}

/**
 * The tenants' next jobs in the order in which they may start: of the tenant that runs least, and among equals of the tenant whose last start
 * is longest ago, however many jobs it has queued.
 */
export function inFairOrder(heads: readonly QueueHead[], lastStarts: ReadonlyMap<string, number>): QueueHead[] {
  const lastStart = ({ tenant }: QueueHead) => lastStarts.get(tenant) ?? 0;
  return [...heads].sort((a, b) => a.running - b.running || lastStart(a) - lastStart(b) || a.runAfter - b.runAfter);
}
