/** Inspections of new files that no request waits for, as background jobs: one at a time, listed with what they found. */
import { basename } from 'node:path';
import Type, { type Static } from 'typebox';
import { ANONYMOUS, scopeOf } from '../../../../platform/http/principal.ts';
import type { JobContext, JobQueue, Jobs } from '../../../../platform/jobs/index.ts';
import type { Log } from '../../../../platform/log/log.ts';
import type { StoredModel } from '../../models/model-source.ts';
import type { InspectionResult } from './inspection-result.ts';
import type { Inspector } from './inspector.ts';

const InspectionInput = Type.Object({ model: Type.String(), file: Type.String() });
type InspectionInput = Static<typeof InspectionInput>;

export interface InspectionJobsOptions {
  readonly jobs: Jobs;
  readonly inspector: Pick<Inspector, 'stampOfQuiet'>;
  /** Undefined when the model is gone. */
  inspect(id: string): Promise<InspectionResult | undefined>;
  /** A model has come that can be used. */
  onUsable(id: string): void;
  readonly log: Log;
}

export class InspectionJobs {
  readonly #options: InspectionJobsOptions;
  readonly #queue: JobQueue<InspectionInput>;
  /** Files that a job was enqueued for, with their state then; a file that changes is announced again. */
  readonly #announced = new Map<string, string>();
  readonly #waiting = new Set<string>();

  constructor(options: InspectionJobsOptions) {
    this.#options = options;
    this.#queue = options.jobs.define({
      name: 'inference.inspect',
      input: InspectionInput,
      concurrency: 1,
      // Another node has other files, and may have another one of that name.
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

  /** Takes each state of a file once, when it is quiet. Without a database the file is inspected all the same. Never throws. */
  announce(stored: StoredModel): void {
    const { path } = stored;
    if (this.#waiting.has(path)) return;
    this.#waiting.add(path);
    void this.#enqueue(stored).finally(() => this.#waiting.delete(path));
  }

  async #enqueue({ id, path }: StoredModel): Promise<void> {
    const { inspector, inspect, log } = this.#options;
    // A file that is being copied must not hold up the jobs behind it.
    const stamp = await inspector.stampOfQuiet(path);
    if (stamp === undefined || this.#announced.get(path) === stamp) return;
    this.#announced.set(path, stamp);
    try {
      // The node itself asks, for the tenant that a node without accounts has.
      await this.#queue.enqueue(scopeOf(ANONYMOUS), { model: id, file: basename(path) }, { key: id });
    } catch (error) {
      log.warn('a new model file is inspected without a job', { model: id, error: String(error) });
      await inspect(id).catch((failure: unknown) =>
        log.warn('a model file was not inspected', { model: id, error: String(failure) }),
      );
    }
  }

  async #run({ input, signal }: JobContext<InspectionInput, unknown>): Promise<object> {
    // The child process has limits of its own, and what it finds is kept, whoever still waits for it.
    const result = await unlessAborted(this.#options.inspect(input.model), signal);
    if (result === undefined) return { found: false };
    if (!result.usable) return { found: true, usable: false, reason: result.reason };
    this.#options.onUsable(input.model);
    const { hasChatTemplate, supportsTools, supportsThinking } = result;
    return { found: true, usable: true, chat_template: hasChatTemplate, tools: supportsTools, thinking: supportsThinking };
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
