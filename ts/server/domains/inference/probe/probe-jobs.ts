/** Probes of models as background jobs: of each chat model that comes, once, and of one that is asked for. */
import Type, { type Static } from 'typebox';
import { ANONYMOUS, type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Job, JobContext, JobQueue, Jobs } from '../../../platform/jobs/index.ts';
import type { Log } from '../../../platform/log/log.ts';
import { inferenceError } from '../errors.ts';
import type { ModelSource } from '../models/model-source.ts';
import type { ModelProbe } from './model-probe.ts';
import type { ProbeResults } from './probe-results.ts';

const ProbeInput = Type.Object({ model: Type.String(), again: Type.Boolean() });
type ProbeInput = Static<typeof ProbeInput>;

export interface ProbeJobsOptions {
  readonly jobs: Jobs;
  readonly source: ModelSource;
  readonly probe: ModelProbe;
  readonly results: ProbeResults;
  /** Whether models that come are probed by themselves. */
  readonly isAutomatic: boolean;
  readonly log: Log;
}

export class ProbeJobs {
  readonly #options: ProbeJobsOptions;
  readonly #queue: JobQueue<ProbeInput>;

  constructor(options: ProbeJobsOptions) {
    this.#options = options;
    this.#queue = options.jobs.define({
      name: 'inference.probe',
      input: ProbeInput,
      concurrency: 1,
      // Another node may have another model of that name.
      isOfNode: true,
      run: (context) => this.#run(context),
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** The new job, or the one that probes the model already. Throws InferenceError, or JobError. */
  async enqueue(caller: Principal, model: string): Promise<Job> {
    const stored = await this.#options.source.find(model);
    if (stored === undefined) throw inferenceError('model_not_found', `No model ${model} is installed here.`, { param: 'model' });
    if (stored.kind !== 'chat' || stored.isBase)
      throw inferenceError('unsupported', `${model} is no chat model.`, { param: 'model' });
    const owner = caller.subject === undefined ? {} : { owner: caller.subject };
    return await this.#queue.enqueue(scopeOf(caller), { model: stored.id, again: true }, { key: stored.id, ...owner });
  }

  /** A model has come, which can be used. Never rejects. */
  async consider(id: string): Promise<void> {
    const { source, results, isAutomatic, log } = this.#options;
    if (!isAutomatic) return;
    try {
      const stored = await source.find(id);
      // Of a demonstration its card says what it can do.
      if (stored?.kind !== 'chat' || stored.isBase || stored.demonstration !== undefined || results.find(stored) !== undefined)
        return;
      await this.#queue.enqueue(scopeOf(ANONYMOUS), { model: id, again: false }, { key: id });
    } catch (error) {
      log.warn('a new model is not probed', { model: id, error: String(error) });
    }
  }

  async #run({ input, signal, progress }: JobContext<ProbeInput, unknown>): Promise<object> {
    const { source, probe, results } = this.#options;
    const stored = await source.find(input.model);
    if (stored === undefined) return { found: false };
    const known = input.again ? undefined : await results.findByContent(stored, signal);
    const abilities = known ?? (await probe.run(stored.id, signal, (done, total) => progress({ done, total, unit: 'tasks' })));
    if (known === undefined && abilities.tasks > 0) await results.keep(stored, abilities, signal);
    return { found: true, abilities };
  }
}
