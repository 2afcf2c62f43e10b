/**
 * Sends messages, each by a job of the node that has its text. A step that must not be done twice is begun before the first byte that could count: what
 * is interrupted within it is of unknown outcome, and only a person sends it again. Channels that know a repetition are tried again instead.
 */
import Type from 'typebox';
import type { SealingKey } from '../../platform/crypto/sealing-key.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { hasEnded, type JobContext, JobError, type JobQueue, type Jobs } from '../../platform/jobs/index.ts';
import type { Log } from '../../platform/log/log.ts';
import type { AddressPolicy } from '../../platform/network/address-policy.ts';
import type { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import { type TenantScope, tenantScope } from '../../platform/storage/index.ts';
import type { AttachedFile, AttachedFiles } from './attached-files.ts';
import type { Channel, Outcome } from './channels/channel.ts';
import { CHANNELS } from './channels/channels.ts';
import type { CommStore } from './comm-store.ts';
import type { AccountRow, MessageRow } from './tables.ts';

interface DeliveryDeps {
  readonly store: CommStore;
  readonly files: AttachedFiles;
  readonly jobs: Jobs;
  readonly http: HttpClient;
  readonly policy: AddressPolicy;
  readonly sealingKey: () => Promise<SealingKey>;
  readonly nodeId: () => string;
  readonly timeoutMs: number;
  readonly log: Log;
  readonly now: () => number;
  onEnd(account: AccountRow | undefined, message: MessageRow): void;
}

interface SealedBody {
  readonly to: string;
  readonly subject?: string;
  readonly text: string;
  readonly files?: readonly AttachedFile[];
}

const Input = Type.Object({ message: Type.String() });
const MAX_ATTEMPTS = 12;
const SWEEP_MS = 5_000;
/** A job is made right after its message: one that is older has lost it. */
const LOST_AFTER_MS = 5_000;
const ON_THE_WAY = ['queued', 'sending'] as const;

export class Delivery {
  readonly #deps: DeliveryDeps;
  readonly #queue: JobQueue<{ message: string }>;
  readonly #sweeper: Repeater;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#queue = deps.jobs.define({
      name: 'comm.send',
      input: Input,
      step: Type.Null(),
      maxAttempts: MAX_ATTEMPTS,
      backoffMs: { first: 2_000, longest: 3_600_000 },
      concurrency: 4,
      isOfNode: true,
      run: (context) => this.#run(context),
    });
    this.#sweeper = new Repeater({
      intervalMs: SWEEP_MS,
      run: () => this.sweep(),
      onError: (error) => deps.log.warn('messages on their way could not be looked through', { error: String(error) }),
    });
  }

  start(): void {
    this.#queue.start();
    this.#sweeper.start();
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop();
    await this.#queue.stop();
  }

  /** The message is on disk. One whose job is not made by a crash gets it later. */
  async enqueue(scope: TenantScope, { id }: MessageRow): Promise<void> {
    const job = await this.#queue.enqueue(scope, { message: id }, { key: id });
    await this.#deps.store.changeMessage(scope, id, ON_THE_WAY, { job: job.id });
  }

  /** Ends messages whose job ended without them, and makes the jobs that a crash came before. */
  async sweep(): Promise<void> {
    const { store, nodeId, now, jobs } = this.#deps;
    for (const message of await store.open(nodeId(), now() - LOST_AFTER_MS)) {
      const scope = tenantScope(message.tenant);
      if (message.job === null) await this.enqueue(scope, message);
      else {
        const job = await jobs.get(scope, message.job).catch((error: unknown) => {
          if (error instanceof JobError && error.code === 'job_not_found') return undefined;
          throw error;
        });
        if (job === undefined || hasEnded(job)) await this.#endInterrupted(scope, message);
      }
    }
  }

  /** Nobody knows of one that was begun; one that waited was tried as often as it may be. */
  async #endInterrupted(scope: TenantScope, message: MessageRow): Promise<void> {
    const isBegun = message.state === 'sending';
    const reason = isBegun ? 'the node stopped before the provider answered' : (message.reason ?? 'it was tried too often');
    await this.#end(scope, message, { state: isBegun || message.may_be_taken === 1 ? 'outcome_unknown' : 'failed', reason });
  }

  async #run({ id, input, scope, attempt, beginStep, saveStep }: JobContext<{ message: string }, null>): Promise<void> {
    const { store, now } = this.#deps;
    const message = await store.message(scope, input.message);
    const isOpen = message?.state === 'queued' || message?.state === 'sending';
    if (message === undefined || !isOpen) return;
    const account = await store.account(scope, message.account);
    if (account?.enabled !== 1 || message.sealed_body === null)
      return await this.#end(scope, message, { state: 'failed', reason: 'the account is gone or switched off' });
    const channel: Channel = CHANNELS[account.kind];
    // One that was interrupted on a channel that knows repetitions may have arrived.
    const wasInterrupted = channel.isIdempotent && message.state === 'sending';
    // From here on the record names the job, so that a crash never makes a second one.
    const changes = { state: 'sending' as const, job: id, updated_at: now(), ...(wasInterrupted && { may_be_taken: 1 }) };
    const begun = await store.changeMessage(scope, message.id, ON_THE_WAY, changes);
    if (begun === undefined) return;
    if (!channel.isIdempotent) await beginStep('send');
    const outcome = await this.#send(account, channel, message);
    const mayBeTaken = begun.may_be_taken === 1 || outcome.kind === 'unknown';
    const isRepeated = outcome.kind === 'retry' || (outcome.kind === 'unknown' && channel.isIdempotent);
    if (outcome.kind === 'sent' || !isRepeated || attempt >= MAX_ATTEMPTS)
      return await this.#end(scope, message, endOf(outcome, mayBeTaken));
    const waiting = { state: 'queued' as const, reason: outcome.reason, may_be_taken: mayBeTaken ? 1 : 0, updated_at: now() };
    await store.changeMessage(scope, message.id, ON_THE_WAY, waiting);
    await saveStep(null);
    const retryAfterMs = outcome.kind === 'retry' ? outcome.afterMs : undefined;
    throw new DomainError('message_not_sent', outcome.reason, retryAfterMs === undefined ? {} : { retryAfterMs });
  }

  async #send(account: AccountRow, channel: Channel, message: MessageRow): Promise<Outcome> {
    const { http, policy, files, now, timeoutMs, sealingKey, log } = this.#deps;
    try {
      const sealing = await sealingKey();
      const settings = JSON.parse(account.settings) as Record<string, unknown>;
      const key = account.sealed_key === null ? '' : sealing.unseal(account.sealed_key, accountContext(account));
      const body = JSON.parse(sealing.unseal(message.sealed_body ?? '', messageContext(message))) as SealedBody;
      const attachments = await files.read(tenantScope(message.tenant), body.files ?? []);
      const url = channel.address(settings, key);
      if (url !== undefined) {
        policy.check(url);
        await policy.judgeName(url);
      }
      const signal = AbortSignal.timeout(timeoutMs);
      return await channel.send(
        { settings, key, http, policy, now, signal },
        { id: message.id, subject: body.subject, to: body.to, text: body.text, attachments },
      );
    } catch (error) {
      // Nothing was sent: channels do not throw.
      log.warn('a message could not be sent', { message: message.id, error: String(error) });
      return { kind: 'refused', reason: 'the account cannot be used; the log of the node has the reason' };
    }
  }

  async #end(
    scope: TenantScope,
    message: MessageRow,
    changes: Pick<MessageRow, 'state' | 'reason'> & { reference?: string | null },
  ): Promise<void> {
    const { store, now, onEnd } = this.#deps;
    // The text stays only where a person may have to send it again.
    const erased = changes.state === 'outcome_unknown' ? {} : { sealed_body: null };
    const ended = await store.changeMessage(scope, message.id, ON_THE_WAY, { ...changes, ...erased, updated_at: now() });
    const account = await store.account(scope, message.account);
    if (ended !== undefined) onEnd(account, ended);
  }
}

function endOf(outcome: Outcome, mayBeTaken: boolean): Pick<MessageRow, 'state' | 'reason' | 'reference'> {
  if (outcome.kind === 'sent') return { state: 'sent', reason: null, reference: outcome.reference?.slice(0, 200) ?? null };
  return { state: mayBeTaken ? 'outcome_unknown' : 'failed', reason: outcome.reason, reference: null };
}

/** A key is for the account and the address that it was given for. */
export function accountContext({ tenant, id, kind, settings }: Pick<AccountRow, 'tenant' | 'id' | 'kind' | 'settings'>): string {
  const { host, homeserver, url, registrar } = JSON.parse(settings) as Record<string, unknown>;
  return `comm account ${id} of ${tenant} at ${kind} ${String(host ?? homeserver ?? url ?? registrar ?? '')}`;
}

export function messageContext({ tenant, id }: Pick<MessageRow, 'tenant' | 'id'>): string {
  return `comm message ${id} of ${tenant}`;
}
