/** Pulls of models as background jobs: they outlive their callers and the process, and go on from the bytes that are there. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Job, JobContext, JobProgress, JobQueue, Jobs } from '../../../platform/jobs/index.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { inferenceError } from '../errors.ts';
import {
  type AllowedHost,
  checkPull,
  type NodeFiles,
  type PulledModel,
  type PullOptions,
  pullModel,
  spaceForModels,
} from '../library/index.ts';
import { libraryJobFailure, libraryRefusal } from './library-failure.ts';
import { fullReference, PullInput, type PullRequest, pullInput } from './pull-input.ts';

export const PULL_KIND = 'inference.pull';

/** Each may take the whole line; more of them only share it. */
const MOST_AT_ONCE = 2;

export interface ModelPullsOptions {
  readonly jobs: Jobs;
  readonly modelsDir: string;
  readonly hub: URL;
  readonly allowedHosts: readonly AllowedHost[];
  /** The hub's token, read when a pull runs: no job and no log holds it. */
  token(): string | undefined;
  /** A model has come, or has been replaced. */
  onPulled(): void;
  /** Records that a model was pulled, in the outbox; a job that is interrupted here comes again. */
  tellPulled?(scope: TenantScope, model: string, job: string): Promise<void>;
  /** The pauses between attempts, which tests of broken servers shorten. */
  readonly retry?: PullOptions['retry'];
}

export class ModelPulls {
  readonly #options: ModelPullsOptions;
  readonly #queue: JobQueue<PullInput>;
  #nodes: NodeFiles | undefined;

  constructor(options: ModelPullsOptions) {
    this.#options = options;
    this.#queue = options.jobs.define({
      name: PULL_KIND,
      input: PullInput,
      concurrency: MOST_AT_ONCE,
      // Into this node's folder of models.
      isOfNode: true,
      run: (context) => this.#run(context),
    });
  }

  /** From then on a file that another node has comes from there. */
  connect(nodes: NodeFiles): void {
    this.#nodes = nodes;
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** The new job, or the one that pulls the same already. Throws InferenceError, or JobError. */
  async enqueue(caller: Principal, request: PullRequest): Promise<Job> {
    const input = pullInput(request);
    const name = this.#nameOf(input);
    const owner = caller.subject === undefined ? {} : { owner: caller.subject };
    const job = await this.#queue.enqueue(scopeOf(caller), input, { key: name, ...owner });
    if (isSame(job.input as PullInput, input) && !job.isCancelRequested) return job;
    throw inferenceError(
      'model_in_use',
      `The job ${job.id} is pulling something else as ${name}; wait until it ends, or cancel it.`,
    );
  }

  /** Bytes that models may still take; undefined: it cannot be told. */
  spaceBytes(): Promise<number | undefined> {
    return spaceForModels(this.#options.modelsDir);
  }

  #nameOf(input: PullInput): string {
    try {
      return checkPull(fullReference(input), this.#common(input));
    } catch (error) {
      throw libraryRefusal(error);
    }
  }

  async #run({ id, scope, input, signal, progress, log }: JobContext<PullInput, unknown>): Promise<object> {
    const { modelsDir, token, retry } = this.#options;
    const hubToken = token();
    const shown = new PullProgress(progress);
    try {
      const pulled = await pullModel(fullReference(input), {
        ...this.#common(input),
        modelsDir,
        signal,
        ...(input.sha256 !== undefined && { sha256: input.sha256 }),
        ...(input.force !== undefined && { force: input.force }),
        ...(hubToken && { token: hubToken }),
        ...(retry && { retry }),
        onProgress: (file, received) => shown.update(file, received),
        onNote: (note) => {
          log.info('a pull', { model: input.reference, note });
          shown.note(note);
        },
      });
      this.#options.onPulled();
      await this.#options.tellPulled?.(scope, pulled.name, id);
      return resultOf(pulled);
    } catch (error) {
      throw libraryJobFailure(error);
    }
  }

  #common({ name }: PullInput): Pick<PullOptions, 'hub' | 'allowedHosts' | 'name' | 'nodes'> {
    const { hub, allowedHosts } = this.#options;
    return { hub, allowedHosts, nodes: this.#nodes, ...(name !== undefined && { name }) };
  }
}

function isSame(a: PullInput, b: PullInput): boolean {
  // Signatures of one address differ from time to time.
  return a.reference === b.reference && a.sha256 === b.sha256 && (a.force ?? false) === (b.force ?? false);
}

function resultOf({ name, files, alreadyHere, verified, license }: PulledModel): object {
  return {
    name,
    files: files.map(({ file, sha256, sizeBytes }) => ({ file, sha256, size_bytes: sizeBytes })),
    already_here: alreadyHere,
    verified,
    license: license ?? null,
  };
}

/** The progress of a pull: the bytes of all its files together. */
class PullProgress {
  readonly #report: (progress: JobProgress) => void;
  readonly #received = new Map<string, number>();
  #newest: JobProgress = { done: 0, unit: 'bytes' };

  constructor(report: (progress: JobProgress) => void) {
    this.#report = report;
  }

  update(file: string, { receivedBytes, totalBytes }: { receivedBytes: number; totalBytes?: number }): void {
    this.#received.set(file, receivedBytes);
    const done = [...this.#received.values()].reduce((sum, bytes) => sum + bytes, 0);
    // How long the parts of a split model are together is not known before the last one.
    const isOnly = this.#received.size === 1 && !/-\d{5}-of-\d{5}\./.test(file);
    this.#send({ done, unit: 'bytes', message: file, ...(isOnly && totalBytes !== undefined && { total: totalBytes }) });
  }

  /** A sentence for a person: resumed, retried, started again. */
  note(message: string): void {
    this.#send({ ...this.#newest, message });
  }

  #send(progress: JobProgress): void {
    this.#newest = progress;
    this.#report(progress);
  }
}
