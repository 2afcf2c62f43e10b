/** Checks what is to become a job, and stores it. */
import { SchemaCheck } from '../schema/schema-check.ts';
import type { TenantScope } from '../storage/index.ts';
import { JobError } from './job-error.ts';
import type { AnyJobKind } from './job-kind.ts';
import type { EnqueueOptions } from './job-queue.ts';
import type { ResolvedJobsOptions } from './jobs-options.ts';
import { MAX_JSON_LENGTH } from './running/json-value.ts';
import type { JobStore } from './store/job-store.ts';
import type { JobRow } from './store/job-tables.ts';

const DEFAULT_MAX_ATTEMPTS = 3;
const MAX_NAME_LENGTH = 256;
const NAME = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;

export class JobIntake {
  readonly #store: JobStore;
  readonly #options: ResolvedJobsOptions;
  readonly #kinds = new Map<string, { readonly kind: AnyJobKind; readonly check: SchemaCheck }>();

  constructor(store: JobStore, options: ResolvedJobsOptions) {
    this.#store = store;
    this.#options = options;
  }

  define(kind: AnyJobKind): void {
    if (!NAME.test(kind.name)) throw new Error(`${JSON.stringify(kind.name)} is no name of a kind of jobs: write module.what`);
    if (this.#kinds.has(kind.name)) throw new Error(`the kind of jobs ${kind.name} is declared twice`);
    this.#kinds.set(kind.name, { kind, check: new SchemaCheck(kind.input) });
  }

  async enqueue(scope: TenantScope, kind: string, input: unknown, options: EnqueueOptions): Promise<JobRow> {
    const now = this.#options.now();
    const { owner, runAfter = now } = options;
    const { maxAttempts = DEFAULT_MAX_ATTEMPTS, isOfNode = false } = this.#kindOf(kind);
    checkName('owner', owner);
    checkName('key', options.key);
    if (!Number.isSafeInteger(runAfter)) throw invalid('runAfter must be whole milliseconds since 1970.');
    const text = this.#inputText(kind, input);
    const node = isOfNode ? this.#options.nodeId() : undefined;
    const key = node !== undefined && options.key !== undefined ? `${node} ${options.key}` : options.key;
    for (;;) {
      const open = key === undefined ? undefined : await this.#store.findOpen(scope, kind, key);
      if (open !== undefined) return open;
      await this.#checkCapacity(scope);
      const inserted = await this.#store.insert(scope, { kind, input: text, owner, key, maxAttempts, runAfter, node }, now);
      if (inserted !== undefined) return inserted;
    }
  }

  #kindOf(name: string): AnyJobKind {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known.kind;
    const names = [...this.#kinds.keys()].join(', ') || 'none';
    throw new JobError(
      'unknown_job_kind',
      `No module declares jobs of the kind ${JSON.stringify(name)}.`,
      `Known are: ${names}.`,
    );
  }

  #inputText(kind: string, input: unknown): string {
    const fault = this.#kinds.get(kind)?.check.findFault(input, 'the input');
    if (fault !== undefined) throw invalid(fault.sentence);
    const text = JSON.stringify(input) as string | undefined;
    if (text === undefined) throw invalid('the input is nothing that JSON can hold.');
    if (text.length <= MAX_JSON_LENGTH) return text;
    const message = `The input of a job has ${text.length} characters of JSON, and ${MAX_JSON_LENGTH} is the most.`;
    throw new JobError('job_input_too_large', message, 'Give it as a file, and name that in the input.');
  }

  async #checkCapacity(scope: TenantScope): Promise<void> {
    const { maxQueuedPerTenant } = this.#options;
    if ((await this.#store.countQueued(scope)) < maxQueuedPerTenant) return;
    const message = `This tenant has ${maxQueuedPerTenant} queued jobs, which is the most.`;
    throw new JobError('job_queue_full', message, 'Wait until some have ended, or cancel some.');
  }
}

function checkName(what: string, name: string | undefined): void {
  if (name === undefined) return;
  if (name.length > 0 && name.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(name)) return;
  throw invalid(`${what} must be 1 to ${MAX_NAME_LENGTH} characters without control characters.`);
}

function invalid(what: string): JobError {
  return new JobError('invalid_job_input', `The job cannot be enqueued: ${what}`, 'Correct it, then enqueue the job again.');
}
