/** Dreams: jobs that put the memories of one owner in order, step by step, and what is undone of them. */
import Type, { type Static } from 'typebox';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import { hasEnded, type Job, type JobContext, JobError, type JobQueue, type Jobs } from '../../platform/jobs/index.ts';
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import {
  afterUnits,
  DREAM_STEPS,
  type DreamStep,
  type PlannedSummary,
  type PlannedUnit,
  planStep,
  skippedWithoutModel,
} from './dream-plan.ts';
import {
  type Dream,
  type DreamChange,
  type DreamReport,
  type DreamRequest,
  type DreamStore,
  dreamOrigin,
} from './dream-store.ts';
import { memoryError } from './errors.ts';
import { type MemoryCollection, ownerOf, readerOf, TENANT } from './memory.ts';
import type { NewMemory } from './memory-rows.ts';
import type { MemoryService } from './service.ts';
import type { Slots } from './slots.ts';
import type { MemoryStore } from './store.ts';

type DreamWanted = Partial<DreamRequest> & { readonly isOfTenant?: boolean };

const DEFAULTS: DreamRequest = { steps: DREAM_STEPS, isDry: false, maxSeconds: 600, similarity: 0.8, halfLifeDays: 90 };

const DreamInput = Type.Object({ dream: Type.String(), owner: Type.String() });
/** Steps that are done, and what they did. */
const DreamCheckpoint = Type.Object({ done: Type.Integer(), changed: Type.Record(Type.String(), Type.Integer()) });
type DreamJob = JobContext<Static<typeof DreamInput>, Static<typeof DreamCheckpoint>>;

interface DreamsOptions {
  readonly jobs: Jobs;
  readonly dreams: DreamStore;
  readonly memories: Pick<MemoryStore, 'collections'>;
  readonly service: Pick<MemoryService, 'requireTenantWriter' | 'words' | 'follow'>;
  readonly slots: Pick<Slots, 'learn'>;
  readonly metrics: MetricsRegistry;
  readonly undoDays: number;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
/** A dream without a job after so long was never enqueued: the process ended before. */
const ENQUEUED_WITHIN_MS = 60_000;
/** A dry run names so many changes. */
const MOST_PLANNED = 1_000;

export class Dreams {
  readonly #options: DreamsOptions;
  readonly #queue: JobQueue<Static<typeof DreamInput>>;
  readonly #made;
  readonly #undone;

  constructor(options: DreamsOptions) {
    this.#options = options;
    const { metrics, jobs } = options;
    this.#made = metrics.counter('svc_memory_dream_changes_total', 'Changes that dreams made of memories.', ['step']);
    this.#undone = metrics.counter('svc_memory_dream_undone_total', 'Changes of dreams that were undone.').with();
    this.#queue = jobs.define({
      name: 'memory.dream',
      input: DreamInput,
      step: DreamCheckpoint,
      concurrency: 1,
      countsAttemptsFromStep: true,
      run: (context) => this.#run(context),
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** Throws `dream_running`, and `tenant_memory_denied`. */
  async begin(caller: Principal, wanted: DreamWanted): Promise<{ dream: Dream; job: Job }> {
    if (wanted.isOfTenant === true) this.#options.service.requireTenantWriter(caller);
    const owner = wanted.isOfTenant === true ? TENANT : ownerOf(caller);
    const begun = await this.beginFor(scopeOf(caller), owner, wanted, caller.subject);
    if (begun === undefined) throw memoryError('dream_running', 'A dream about these memories has not ended.');
    return begun;
  }

  /** Undefined: one is running. */
  async beginFor(scope: TenantScope, owner: string, wanted: Partial<DreamRequest> = {}, asker?: string) {
    const { dreams, now } = this.#options;
    const given = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => name in DEFAULTS && value !== undefined));
    const dream = await dreams.add(scope, owner, { ...DEFAULTS, ...given }, now());
    const input = { dream: dream.id, owner };
    const job = await this.#queue.enqueue(scope, input, { key: owner, ...(asker !== undefined && { owner: asker }) });
    if ((job.input as Static<typeof DreamInput>).dream === dream.id) {
      await dreams.setJob(scope, dream.id, job.id);
      return { dream, job };
    }
    await dreams.remove(scope, dream.id);
    return undefined;
  }

  async list(caller: Principal, page: { after: string; limit: number }): Promise<Dream[]> {
    const dreams = await this.#options.dreams.list(scopeOf(caller), readerOf(caller).owners, page);
    return await Promise.all(dreams.map((dream) => this.#asItEnded(scopeOf(caller), dream)));
  }

  /** Throws `dream_not_found`. */
  async get(caller: Principal, id: string): Promise<{ dream: Dream; changes: DreamChange[] }> {
    const { dreams } = this.#options;
    const dream = await dreams.find(scopeOf(caller), readerOf(caller).owners, id);
    if (dream === undefined) throw memoryError('dream_not_found', `There is no dream ${id}.`);
    return { dream: await this.#asItEnded(scopeOf(caller), dream), changes: await dreams.changes(scopeOf(caller), id) };
  }

  /** All changes, or those that are named. Throws `dream_not_found`, `dream_undo_expired` and `dream_running`. */
  async undo(
    caller: Principal,
    id: string,
    named: readonly string[] | undefined,
  ): Promise<{ undone: string[]; skipped: string[] }> {
    const { dreams, memories, service, undoDays, now } = this.#options;
    const { dream, changes } = await this.get(caller, id);
    if (dream.owner === TENANT) service.requireTenantWriter(caller);
    if (dream.endedAt === undefined) throw memoryError('dream_running', `The dream ${id} has not ended.`);
    if (now() - dream.endedAt > undoDays * DAY_MS)
      throw memoryError('dream_undo_expired', `The dream ended more than ${undoDays} days ago.`);
    const [collection] = await memories.collections({ ...scopeOf(caller), owners: [dream.owner] });
    const unknown = named?.find((change) => !changes.some((each) => each.id === change));
    if (unknown !== undefined) throw memoryError('invalid_request', `The dream has no change ${unknown}.`, { param: 'changes' });
    const wanted = changes.filter(({ id: change, isUndone }) => !isUndone && (named === undefined || named.includes(change)));
    const undone: string[] = [];
    const skipped: string[] = [];
    for (const change of wanted.toReversed()) {
      const isUndone = collection !== undefined && (await dreams.undo(scopeOf(caller), collection, change, now()));
      (isUndone ? undone : skipped).push(change.id);
    }
    this.#undone.add(undone.length);
    if (collection !== undefined) service.follow(scopeOf(caller), collection);
    return { undone, skipped };
  }

  async #run(job: DreamJob): Promise<object> {
    const { dreams, memories, now } = this.#options;
    const { scope, input } = job;
    const dream = await dreams.find(scope, [input.owner], input.dream);
    const [collection] = await memories.collections({ ...scope, owners: [input.owner] });
    // It was erased, with all that it was about.
    if (dream === undefined) return {};
    await dreams.begin(scope, dream.id, job.id);
    const report = collection === undefined ? { changed: {}, skipped: [] } : await this.#dream(job, dream, collection);
    await dreams.end(scope, dream.id, 'done', now(), report);
    return report;
  }

  /** A job that was cancelled, failed for good, or is there no more never says so to its dream. */
  async #asItEnded(scope: TenantScope, dream: Dream): Promise<Dream> {
    const { dreams, now } = this.#options;
    if (dream.endedAt !== undefined) return dream;
    const job = await this.#jobOf(scope, dream);
    if (job === 'open') return dream;
    await dreams.end(scope, dream.id, job?.state === 'cancelled' ? 'cancelled' : 'failed', job?.endedAt ?? now());
    return (await dreams.find(scope, [dream.owner], dream.id)) ?? dream;
  }

  /** Undefined: there is none. */
  async #jobOf(scope: TenantScope, { jobId, beganAt }: Dream): Promise<Job | 'open' | undefined> {
    const { jobs, now } = this.#options;
    if (jobId === undefined) return now() - beganAt < ENQUEUED_WITHIN_MS ? 'open' : undefined;
    try {
      const job = await jobs.get(scope, jobId);
      return hasEnded(job) ? job : 'open';
    } catch (error) {
      if (error instanceof JobError && error.code === 'job_not_found') return undefined;
      throw error;
    }
  }

  async #dream(job: DreamJob, dream: Dream, collection: MemoryCollection): Promise<DreamReport> {
    const { dreams, service, now } = this.#options;
    const { id, request } = dream;
    const endsAt = performance.now() + request.maxSeconds * 1000;
    const changed: Partial<Record<DreamStep, number>> = { ...job.checkpoint?.changed };
    const skipped: { step: DreamStep; reason: string }[] = [];
    const planned: PlannedUnit[] = [];
    let slots: number | undefined;
    let dreamt = await dreams.load(job.scope, collection);
    for (const [i, step] of request.steps.entries()) {
      if (i < (job.checkpoint?.done ?? 0)) continue;
      const units = planStep(step, dreamt, request, now());
      const reason = skippedWithoutModel(step);
      if (reason !== undefined) skipped.push({ step, reason });
      let n = changed[step] ?? 0;
      for (const unit of units) {
        job.signal.throwIfAborted();
        if (performance.now() > endsAt) {
          skipped.push({ step, reason: 'The time of the dream was over.' });
          break;
        }
        n += request.isDry ? unit.changes.length : await this.#apply(job, id, collection, unit);
      }
      if (step !== 'slots') changed[step] = n;
      else if (!request.isDry && performance.now() < endsAt) {
        slots = await this.#options.slots.learn(job.scope, dream.owner, job.signal);
        if (slots === 0) skipped.push({ step, reason: 'There are too few memories for slots.' });
      }
      if (request.isDry) {
        planned.push(...units);
        dreamt = afterUnits(dreamt, units);
      } else {
        this.#made.with({ step }).add(n);
        service.follow(job.scope, collection);
        dreamt = await dreams.load(job.scope, collection);
      }
      await job.saveStep({ done: i + 1, changed: changed as Record<string, number> });
      job.progress({ done: i + 1, total: request.steps.length, unit: 'steps' });
    }
    const learned = slots === undefined ? {} : { slots };
    return { changed, skipped, ...learned, ...(request.isDry && { planned: plannedOf(planned) }) };
  }

  async #apply({ scope, signal }: DreamJob, id: string, collection: MemoryCollection, unit: PlannedUnit): Promise<number> {
    const { dreams, now } = this.#options;
    const summary = unit.summary && (await this.#summaryOf(scope, collection, unit.summary, signal));
    return await dreams.apply(scope, collection, id, unit, summary, now());
  }

  async #summaryOf(
    scope: TenantScope,
    collection: MemoryCollection,
    { text, kind, validFrom, of }: PlannedSummary,
    signal: AbortSignal,
  ): Promise<NewMemory> {
    const { service, now } = this.#options;
    const at = now();
    const words = await service.words(scope.tenant, collection, text, of[0]?.memory.subject, signal);
    return { ...words, kind, origin: dreamOrigin(at), trust: 'derived', validFrom, recordedAt: at };
  }
}

function plannedOf(units: readonly PlannedUnit[]): NonNullable<DreamReport['planned']> {
  const changes = units.flatMap((unit) => unit.changes);
  return changes
    .slice(0, MOST_PLANNED)
    .map(({ memory, action, reason, score }) => ({ memory: memory.id, action, reason, score }));
}
