/** Forecasts of series: models are trained as jobs and put into memory files, and foresee on demand, all in a thread. */
import Type, { type Static } from 'typebox';
import type { WorldModelTask } from '../../../../workers/world-model.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { type Job, type JobContext, JobFailedError, type JobQueue, type Jobs } from '../../../platform/jobs/index.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { PoolError, TaskError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { SeriesPoint, SeriesRegistry } from '../../../platform/series/series-registry.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { memoryError } from '../errors.ts';
import type { MemoryFiles } from '../files/memory-files.ts';
import { readerOf } from '../memory.ts';
import type { Slots } from '../slots.ts';
import type { SlotMember } from './codebook.ts';
import type { SeriesModel } from './model-section.ts';
import type { ForeseenSlot } from './slot-model.ts';
import type { Foreseen } from './world-model.ts';

const task = defineTask<typeof import('../../../../workers/world-model.ts').run>(
  'world-model',
  new URL('../../../../workers/world-model.ts', import.meta.url),
);

interface ForecastsOptions {
  readonly jobs: Jobs;
  readonly series: SeriesRegistry;
  readonly files: Pick<MemoryFiles, 'find' | 'place' | 'alone' | 'requireUnpinned' | 'putSlots'>;
  readonly slots: Pick<Slots, 'find' | 'learn'>;
  readonly metrics: MetricsRegistry;
  readonly now: () => number;
}

interface Rollout {
  /** Undefined: no stored model, rules alone. */
  readonly file: string | undefined;
  /** A name, or the values themselves. */
  readonly series: string | readonly SeriesPoint[];
  readonly horizon: number;
  readonly seed: number;
}

const Input = Type.Object({
  series: Type.Array(Type.String()),
  file: Type.String(),
  seed: Type.Integer(),
  /** The owner of the slots that the file gets. */
  slots: Type.Optional(Type.String()),
});
type ForecastJob = JobContext<Static<typeof Input>, unknown>;

const HOUR_MS = 3_600_000;
/** Longer ago nothing is learned from. */
const READ_MS = 400 * 24 * HOUR_MS;
const TRAIN_SECONDS = 60;
const MAX_MEMORY_MB = 768;
const LIMIT_MS = { train: 2 * TRAIN_SECONDS * 1000, write: 60_000, foresee: 30_000 };
const MOST_WAITING = 32;
/** Steps ahead of which the error is counted. */
const HORIZONS = [1, 6, 24];
const ERROR_BOUNDS = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.5, 2];

export class Forecasts {
  readonly #options: ForecastsOptions;
  readonly #queue: JobQueue<Static<typeof Input>>;
  readonly #errors;
  #pool: WorkerPool | undefined;

  constructor(options: ForecastsOptions) {
    this.#options = options;
    this.#errors = options.metrics.histogram(
      'svc_memory_forecast_error_ratio',
      'Error of a forecast so many steps ahead on the last fifth of its series, over that of the last value; of each model that is made.',
      ['horizon'],
      ERROR_BOUNDS,
    );
    this.#queue = options.jobs.define({
      name: 'memory.forecast',
      input: Input,
      concurrency: 1,
      // The file lies on this node alone.
      isOfNode: true,
      run: (context) => this.#train(context),
    });
  }

  start(): void {
    this.#queue.start();
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
    await this.#pool?.close(0);
    this.#pool = undefined;
  }

  async listSeries(caller: Principal) {
    return await this.#options.series.list(scopeOf(caller));
  }

  /** Throws `series_not_found`, `invalid_request`, `memory_file_pinned` and `memory_files_full`. */
  async begin(
    caller: Principal,
    { series, file, seed = 1, slots }: { series: readonly string[]; file: string; seed?: number; slots?: string },
  ): Promise<Job> {
    await this.#options.files.place(scopeOf(caller), file);
    await this.#options.files.requireUnpinned(scopeOf(caller), file);
    for (const name of series) await this.#points(scopeOf(caller), name);
    const owner = caller.subject;
    return await this.#queue.enqueue(
      scopeOf(caller),
      { series: [...series], file, seed, ...(slots !== undefined && { slots }) },
      owner === undefined ? {} : { owner },
    );
  }

  /** Throws `series_not_found`, `series_not_regular`, `no_world_model` and `forecast_model_load_failed`. */
  async rollout(caller: Principal, { file, series, horizon, seed }: Rollout, signal: AbortSignal): Promise<Foreseen> {
    const scope = scopeOf(caller);
    const path = file === undefined ? undefined : await this.#pathOf(scope, file);
    if (path !== undefined && typeof series !== 'string')
      throw memoryError('invalid_request', 'A stored model foresees the series that it was made of: name it.', {
        param: 'series',
      });
    const points = typeof series === 'string' ? await this.#points(scope, series) : series;
    const stored = path === undefined || typeof series !== 'string' ? undefined : { path, series };
    const reply = await this.#run({ kind: 'foresee', points, stored, horizon, seed }, LIMIT_MS.foresee, signal);
    if (reply.kind === 'foreseen') return reply.foreseen;
    if (reply.kind !== 'fault') throw new Error('the thread answered something else');
    if (reply.fault === 'irregular') throw memoryError('series_not_regular', `${capital(reply.detail)}.`);
    if (reply.fault === 'no_model') throw memoryError('no_world_model', `${capital(reply.detail)}.`);
    throw loadFailed(reply.detail);
  }

  /** Throws `invalid_request` for a slot that is none, `no_world_model` and `nslot_load_failed`. */
  async rolloutSlots(
    caller: Principal,
    { file, before, horizon, seed }: { file: string; before: readonly number[]; horizon: number; seed: number },
    signal: AbortSignal,
  ): Promise<{ readonly method: string; readonly steps: readonly ForeseenSlot[] }> {
    const path = await this.#pathOf(scopeOf(caller), file);
    const { owners } = readerOf(caller);
    const reply = await this.#run({ kind: 'foresee_slots', path, owners, before, horizon, seed }, LIMIT_MS.foresee, signal);
    if (reply.kind === 'foreseen_slots') return reply;
    if (reply.kind !== 'fault') throw new Error('the thread answered something else');
    if (reply.fault === 'unknown_slot') throw memoryError('invalid_request', `${capital(reply.detail)}.`, { param: 'slots' });
    if (reply.fault === 'no_model') throw memoryError('no_world_model', `${capital(reply.detail)}.`);
    throw memoryError('nslot_load_failed', `The slots could not be read: ${reply.detail}.`);
  }

  /** Undefined: there are too few members. */
  async learnSlots(members: readonly SlotMember[], signal: AbortSignal) {
    const wanted = { kind: 'learn_slots', members, seed: 1, maxSeconds: TRAIN_SECONDS } as const;
    const reply = await this.#run(wanted, LIMIT_MS.train, signal, 'low');
    return reply.kind === 'slots' ? reply : undefined;
  }

  async #putSlots(job: ForecastJob, owner: string): Promise<object> {
    const { files, slots } = this.#options;
    const { file } = job.input;
    if ((await slots.find(job.scope, owner)) === undefined) await slots.learn(job.scope, owner, job.signal);
    const section = await slots.find(job.scope, owner);
    if (section === undefined)
      throw new JobFailedError('no_world_model', 'There are too few memories for slots.', 'Have more remembered first.');
    await files.putSlots(job.scope, file, owner, section, job.signal);
    return { file, slots: true };
  }

  async #train(job: ForecastJob): Promise<object> {
    if (job.input.slots !== undefined) return await this.#putSlots(job, job.input.slots);
    const { files, now } = this.#options;
    const { series, file, seed } = job.input;
    const models: SeriesModel[] = [];
    for (const [i, name] of series.entries()) {
      const points = await this.#points(job.scope, name);
      const reply = await this.#run(
        { kind: 'train', points, seed, maxSeconds: TRAIN_SECONDS },
        LIMIT_MS.train,
        job.signal,
        'low',
      );
      if (reply.kind !== 'trained')
        throw new JobFailedError('series_not_regular', `Nothing can be learned of ${name}.`, 'Wait until the series is longer.');
      models.push({ series: name, model: reply.model });
      for (const horizon of HORIZONS) {
        const score = reply.model.stepScores?.[horizon - 1];
        if (score !== undefined) this.#errors.with({ horizon: String(horizon) }).observe(score);
      }
      job.progress({ done: i + 1, total: series.length, unit: 'series' });
    }
    const path = await files.place(job.scope, file);
    const written = await files.alone(path, async () => {
      await requireUnpinned(files, job.scope, file);
      return await this.#run({ kind: 'write', path, models, created: now() }, LIMIT_MS.write, job.signal);
    });
    if (written.kind === 'fault')
      throw new JobFailedError(
        'memory_file_invalid',
        `The file ${file} is kept as it is: ${written.detail}.`,
        'Name another file.',
      );
    return { file, models: models.map(({ series: name, model: { method, scores } }) => ({ series: name, method, scores })) };
  }

  /** The hour that is not over is left out. */
  async #points(scope: TenantScope, name: string): Promise<readonly SeriesPoint[]> {
    const { series, now } = this.#options;
    const points = await series.read(scope, name, now() - READ_MS);
    if (points === undefined) throw memoryError('series_not_found', `There is no series ${name}.`, { param: 'series' });
    const end = now() - (now() % HOUR_MS);
    return points.filter(({ ts }) => ts < end);
  }

  /** Throws `no_world_model` for what is no file of the tenant. */
  async #pathOf(scope: TenantScope, file: string): Promise<string> {
    try {
      return await this.#options.files.find(scope, file);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw memoryError('no_world_model', 'There is no such memory file, so no world model in it.', { param: 'emm_path' });
    }
  }

  async #run(input: WorldModelTask, timeoutMs: number, signal: AbortSignal, priority: 'normal' | 'low' = 'normal') {
    this.#pool ??= new WorkerPool({ nThreads: 2, maxMemoryMb: MAX_MEMORY_MB, maxQueue: MOST_WAITING });
    try {
      return await this.#pool.run(task, input, { timeoutMs, signal, priority });
    } catch (error) {
      if (error instanceof PoolError && (error.code === 'pool_full' || error.code === 'pool_closed'))
        throw memoryError('forecasts_busy', error.message);
      if (input.kind === 'foresee_slots' && (error instanceof PoolError || error instanceof TaskError))
        throw memoryError('nslot_load_failed', `The slots could not be read: ${error.message}.`);
      if (input.kind === 'foresee' && (error instanceof PoolError || error instanceof TaskError)) throw loadFailed(error.message);
      throw error;
    }
  }
}

async function requireUnpinned(files: Pick<MemoryFiles, 'requireUnpinned'>, scope: TenantScope, file: string): Promise<void> {
  try {
    await files.requireUnpinned(scope, file);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new JobFailedError('memory_file_pinned', error.message, 'Name another file.');
  }
}

function loadFailed(detail: string) {
  return memoryError('forecast_model_load_failed', `The world model could not be read: ${detail}.`, {
    extra: { deprecated_error: 'world_model_load_failed' },
  });
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
