/** Takes memories from what people said, for accounts that let it be done, after each conversation has rested. */
import Type, { type Static } from 'typebox';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { type JobContext, JobFailedError, type JobQueue, type Jobs } from '../../../platform/jobs/index.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { IdentityApi } from '../../identity/index.ts';
import { memoryError } from '../errors.ts';
import { accountOwner, ownerOf } from '../memory.ts';
import type { MemoryService } from '../service.ts';
import { believedMemories, extractionQuestion, type SaidMessage } from './extraction.ts';
import { type ExtractionStore, wasForgotten } from './extraction-store.ts';

/** A conversation has here what the person wrote in it, in its order. */
interface SaidConversation {
  readonly id: string;
  readonly messages: readonly SaidMessage[];
}

/** Whoever has the conversations. */
export interface SaidConversations {
  /**
   * Conversations of the subject whose last message lies after `after` and not after `until`, temporary ones left out: the messages of the branch that
   * is shown which the person wrote.
   */
  said(
    subject: TenantScope & { readonly subject: string },
    times: { readonly after: number; readonly until: number },
  ): AsyncGenerator<SaidConversation>;
}

/** Answers a body of POST /v1/chat/completions in a caller's name. */
export type AskModel = (
  caller: Principal,
  body: object,
  signal: AbortSignal,
) => Promise<{ choices: { message: { content?: string | null } }[] }>;

interface Sources {
  readonly conversations: SaidConversations;
  readonly ask: AskModel;
}

interface ExtractionsOptions {
  readonly jobs: Jobs;
  readonly store: ExtractionStore;
  readonly service: Pick<MemoryService, 'keep'>;
  readonly delegations: Pick<IdentityApi['delegations'], 'of' | 'principalOf'>;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** A conversation rests when nothing was said in it for so long. */
  readonly restMs: number;
  readonly now: () => number;
}

const Input = Type.Object({ owner: Type.String() });
type ExtractionJob = JobContext<Static<typeof Input>, unknown>;

const LOOK_MS = 60_000;
/** Characters that a model reads at a time; a longer message is read as far as this. */
const BATCH_CHARACTERS = 8_000;
const BACKOFF_MS = { first: 60_000, longest: 3_600_000 };

export class Extractions {
  readonly #options: ExtractionsOptions;
  readonly #queue: JobQueue<Static<typeof Input>>;
  readonly #repeater: Repeater;
  readonly #taken;
  /** The times before which no job begins, by tenant and owner, since a job that failed is not begun again at once. */
  readonly #nextAt = new Map<string, number>();
  #sources: Sources | undefined;

  constructor(options: ExtractionsOptions) {
    this.#options = options;
    const { jobs, metrics, log } = options;
    this.#taken = metrics.counter(
      'svc_memory_extracted_total',
      'Memories that a model took from what people said, by what became of them: kept, or dropped because nobody said it so.',
      ['outcome'],
    );
    this.#queue = jobs.define({
      name: 'memory.extract',
      input: Input,
      concurrency: 1,
      backoffMs: BACKOFF_MS,
      run: (context) => this.#run(context),
    });
    this.#repeater = new Repeater({
      intervalMs: LOOK_MS,
      run: () => this.look(),
      onError: (error) => log.warn('conversations were not looked through for memories', { error: String(error) }),
    });
  }

  /** Once, while the modules are made. */
  connect(sources: Sources): void {
    this.#sources = sources;
  }

  start(): void {
    this.#queue.start();
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#repeater.stop(), this.#queue.stop()]);
  }

  async isOn(scope: TenantScope, owner: string): Promise<boolean> {
    return (await this.#options.store.find(scope, owner)) !== undefined;
  }

  /** Throws `invalid_request` for a caller without an account, and what makes no delegation. */
  async set(caller: Principal, isOn: boolean): Promise<void> {
    const { store, delegations, now } = this.#options;
    const scope = scopeOf(caller);
    const owner = ownerOf(caller);
    if (!isOn) return await store.switchOff(scope, owner);
    if (caller.subject === undefined)
      throw memoryError('invalid_request', 'Only accounts let memories be taken from what they say.', { param: 'extract' });
    if (await this.isOn(scope, owner)) return;
    await store.switchOn(scope, owner, delegations.of(caller), now());
  }

  /** Begins a job for each account with a conversation that has rested since the last one. */
  async look(): Promise<void> {
    const { store, restMs, now } = this.#options;
    if (this.#sources === undefined) return;
    const until = now() - restMs;
    for (const { tenant, owner, until: after } of await store.list(systemScope())) {
      const scope = tenantScope(tenant);
      const key = `${tenant} ${owner}`;
      if ((this.#nextAt.get(key) ?? 0) > now()) continue;
      const { value } = await this.#sources.conversations.said({ ...scope, subject: owner }, { after, until }).next();
      if (value === undefined) continue;
      this.#nextAt.set(key, now() + Math.max(restMs, LOOK_MS));
      await this.#queue.enqueue(scope, { owner }, { key: owner });
    }
  }

  async #run(job: ExtractionJob): Promise<{ kept: number; dropped: number }> {
    const { store, delegations, restMs, now } = this.#options;
    const { scope, input } = job;
    const report = { kept: 0, dropped: 0 };
    const account = await store.find(scope, input.owner);
    if (account === undefined || this.#sources === undefined) return report;
    const caller = await delegations.principalOf(account.delegation);
    if (caller?.subject === undefined || accountOwner(caller.subject) !== input.owner) {
      await store.switchOff(scope, input.owner);
      throw new JobFailedError('delegation_over', 'The account or its credential is there no more.', 'Switch it on again.');
    }
    const until = now() - restMs;
    const subject = { ...scope, subject: input.owner };
    for await (const conversation of this.#sources.conversations.said(subject, { after: account.until, until })) {
      const readTo = await store.readTo(scope, input.owner, conversation.id);
      const fresh = conversation.messages.filter(({ seq, at }) => seq > readTo && at > account.since);
      for (const batch of inBatches(fresh)) {
        job.signal.throwIfAborted();
        const taken = await this.#take(job, caller, conversation.id, batch);
        report.kept += taken.kept;
        report.dropped += taken.dropped;
        await store.setReadTo(scope, input.owner, conversation.id, batch.at(-1)?.seq ?? readTo);
      }
    }
    await store.setUntil(scope, input.owner, until);
    return report;
  }

  async #take(
    { scope, input: { owner }, signal }: ExtractionJob,
    caller: Principal,
    conversationId: string,
    messages: readonly SaidMessage[],
  ): Promise<{ kept: number; dropped: number }> {
    const { store, service } = this.#options;
    const answer = (await this.#sources?.ask(caller, extractionQuestion(messages), signal))?.choices[0]?.message.content ?? '';
    const { believed, dropped } = believedMemories(answer, messages);
    const forgotten = await store.forgottenPlaces(scope, owner);
    let kept = 0;
    for (const { text, kind, subject, message, start, end } of believed) {
      // Nothing is kept for an account that has switched it off meanwhile, or is gone.
      if (wasForgotten(forgotten, { messageId: message.id, start, end }) || !(await this.isOn(scope, owner))) continue;
      const origin = { type: 'conversation', at: message.at, conversationId, messageId: message.id, start, end } as const;
      await service.keep(scope, owner, { text, kind, subject, origin, validFrom: undefined }, signal);
      kept += 1;
    }
    this.#taken.with({ outcome: 'kept' }).add(kept);
    this.#taken.with({ outcome: 'dropped' }).add(dropped);
    return { kept, dropped };
  }
}

function inBatches(messages: readonly SaidMessage[]): SaidMessage[][] {
  const batches: SaidMessage[][] = [];
  let left = 0;
  for (const message of messages) {
    const text = message.text.slice(0, BATCH_CHARACTERS);
    if (text.length > left) {
      batches.push([]);
      left = BATCH_CHARACTERS;
    }
    batches.at(-1)?.push({ ...message, text });
    left -= text.length;
  }
  return batches;
}
