/** One place that lines go to: a bounded queue before one connection, which is opened again as often as it breaks. Whoever adds a line never waits. */
import { setTimeout as wait } from 'node:timers/promises';
import { type BackoffRange, backoffMs } from '../../platform/backoff.ts';
import type { Log } from '../../platform/log/log.ts';
import type { AddressPolicy } from '../../platform/network/address-policy.ts';
import { type Connection, openConnection, type SendOutcome, type TlsFiles } from './connection.ts';
import { addressOf, type Target } from './target.ts';

/** Times and bounds, which tests shorten. */
export interface DestinationLimits {
  mostLines: number;
  /** UTF-16 units of all lines that wait. */
  mostChars: number;
  backoff: BackoffRange;
  /** So long a stop waits for lines that are not sent yet. */
  stopWaitMs: number;
}

export const DESTINATION_LIMITS: DestinationLimits = {
  mostLines: 10_000,
  mostChars: 8 * 1024 * 1024,
  backoff: { first: 1_000, longest: 30_000 },
  stopWaitMs: 1_000,
};

export interface DestinationStats {
  queued: number;
  sent_total: number;
  dropped_total: number;
  send_errors_total: number;
  last_error: string | null;
  last_sent_at: string | null;
}

export type CountedEvent = 'sent' | 'dropped' | 'failed';

export interface DestinationDeps {
  files: TlsFiles;
  /** Judges the addresses of servers; undefined: the operator of the machine named them. */
  policy: AddressPolicy | undefined;
  log: Log;
  limits: DestinationLimits;
  /** Hears of what is counted beside the own figures. */
  onCount(event: CountedEvent, n: number): void;
}

/** Written at once. */
const BATCH_LINES = 128;
const BATCH_CHARS = 64 * 1024;
/** A server that goes and comes makes one line of the log a minute. */
const TOLD_EVERY_MS = 60_000;
/** A datagram that nobody takes is told of after it was sent: so long after an error the server counts as gone. */
const DATAGRAM_ERROR_MS = 10_000;
/** So long a test waits for what a server says to a line, or a machine to a datagram. */
const TEST_WAIT_MS = 300;

export class Destination {
  readonly #deps: DestinationDeps;
  #target: Target | undefined;
  #queue: string[] = [];
  #nChars = 0;
  #counts: Record<CountedEvent, number> = { sent: 0, dropped: 0, failed: 0 };
  #lastError: string | undefined;
  #lastErrorMs = 0;
  #lastSentMs = 0;
  #toldMs = 0;
  /** The log has the failure, and not its end. */
  #isTold = false;
  #connection: Connection | undefined;
  /** Ends the work for the target of now. */
  #work = new AbortController();
  #isPumping = false;

  constructor(deps: DestinationDeps) {
    this.#deps = deps;
  }

  get target(): Target | undefined {
    return this.#target;
  }

  get stats(): DestinationStats {
    const { sent, dropped, failed } = this.#counts;
    return {
      queued: this.#queue.length,
      sent_total: sent,
      dropped_total: dropped,
      send_errors_total: failed,
      last_error: this.#lastError ?? null,
      last_sent_at: this.#lastSentMs === 0 ? null : new Date(this.#lastSentMs).toISOString(),
    };
  }

  /** Undefined: lines arrive, as far as the node knows. */
  get failure(): string | undefined {
    const isPast =
      this.#target?.protocol === 'udp'
        ? Date.now() - this.#lastErrorMs > DATAGRAM_ERROR_MS
        : this.#lastSentMs > this.#lastErrorMs;
    return this.#lastErrorMs === 0 || isPast ? undefined : this.#lastError;
  }

  /** Drops the line where too many wait. `make` is called where it does not. */
  offer(make: () => string): void {
    const { mostLines, mostChars } = this.#deps.limits;
    if (this.#target === undefined) return;
    if (this.#queue.length >= mostLines || this.#nChars >= mostChars) {
      this.#count('dropped', 1);
      return;
    }
    const line = make();
    this.#queue.push(line);
    this.#nChars += line.length;
    if (!this.#isPumping) void this.#pump();
  }

  /** Lines that wait go to the new target; without one they are dropped. */
  retarget(target: Target | undefined): void {
    if (target !== undefined && this.#target !== undefined && addressOf(target) === addressOf(this.#target)) return;
    this.#target = target;
    this.#lastError = undefined;
    this.#lastErrorMs = 0;
    this.#work.abort();
    this.#work = new AbortController();
    this.#connection = undefined;
    if (target === undefined) this.#dropAll();
    else if (!this.#isPumping && this.#queue.length > 0) void this.#pump();
  }

  /** Drops the lines that cannot be sent in a moment. */
  async stop(): Promise<void> {
    const deadline = performance.now() + this.#deps.limits.stopWaitMs;
    while (this.#queue.length > 0 && this.failure === undefined && performance.now() < deadline) await wait(10);
    this.#connection?.close();
    this.retarget(undefined);
  }

  /** Sends a line over a connection of its own, whatever waits. Undefined: it went out. */
  async sendNow(target: Target, line: string): Promise<string | undefined> {
    const ending = new AbortController();
    let late: Error | undefined;
    const onError = (error: Error): void => {
      late ??= error;
    };
    let connection: Connection | undefined;
    try {
      connection = await openConnection({ ...this.#way, target, signal: ending.signal, onError });
      const { error } = await connection.send([line]);
      await wait(TEST_WAIT_MS);
      late ??= error ?? (connection.isOpen ? undefined : new Error('the server closed the connection'));
    } catch (error) {
      late = error as Error;
    }
    connection?.close();
    this.#count(late === undefined ? 'sent' : 'dropped', 1);
    if (late === undefined) this.#lastSentMs = Date.now();
    else this.#failed(late);
    return late === undefined ? undefined : messageOf(late);
  }

  /** One at a time, until nothing waits. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    let nFailures = 0;
    while (this.#target !== undefined && this.#queue.length > 0) {
      const { signal } = this.#work;
      try {
        await this.#sendSome(this.#target, signal);
        nFailures = 0;
      } catch (error) {
        // Work that was ended is no failure: the loop goes on with the target of now.
        if (signal.aborted) continue;
        this.#connection = undefined;
        this.#failed(error as Error);
        await wait(backoffMs(++nFailures, this.#deps.limits.backoff), undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    this.#isPumping = false;
  }

  async #sendSome(target: Target, signal: AbortSignal): Promise<void> {
    if (this.#connection?.isOpen !== true) {
      this.#connection?.close();
      this.#connection = undefined;
      const onError = (error: Error): void => {
        if (!signal.aborted) this.#failed(error);
      };
      const opened = await openConnection({ ...this.#way, target, signal, onError });
      if (signal.aborted) return opened.close();
      this.#connection = opened;
    }
    const batch = this.#nextBatch();
    const outcome = await this.#connection.send(batch);
    if (!signal.aborted) this.#shift(batch, outcome);
  }

  get #way(): Pick<DestinationDeps, 'files' | 'policy'> {
    const { files, policy } = this.#deps;
    return { files, policy };
  }

  #nextBatch(): string[] {
    const batch: string[] = [];
    let nChars = 0;
    for (const line of this.#queue) {
      if (batch.length === BATCH_LINES || (batch.length > 0 && nChars + line.length > BATCH_CHARS)) break;
      batch.push(line);
      nChars += line.length;
    }
    return batch;
  }

  #shift(batch: readonly string[], { nSent, nLost, error }: SendOutcome): void {
    this.#queue = this.#queue.slice(batch.length);
    for (const line of batch) this.#nChars -= line.length;
    if (nSent > 0) this.#sent(nSent);
    if (nLost > 0) this.#count('dropped', nLost);
    if (error !== undefined) this.#failed(error);
  }

  #sent(n: number): void {
    this.#lastSentMs = Math.max(Date.now(), this.#lastErrorMs + 1);
    this.#count('sent', n);
    if (!this.#isTold || this.failure !== undefined) return;
    this.#isTold = false;
    this.#deps.log.info('the syslog server takes lines again', { dropped: this.#counts.dropped });
  }

  #failed(error: Error): void {
    this.#count('failed', 1);
    this.#lastError = messageOf(error);
    this.#lastErrorMs = Date.now();
    if (this.#lastErrorMs - this.#toldMs < TOLD_EVERY_MS) return;
    this.#toldMs = this.#lastErrorMs;
    this.#isTold = true;
    const server = this.#target && addressOf(this.#target);
    this.#deps.log.warn('the syslog server cannot be reached', { server, error: this.#lastError });
  }

  #dropAll(): void {
    if (this.#queue.length > 0) this.#count('dropped', this.#queue.length);
    this.#queue = [];
    this.#nChars = 0;
  }

  #count(event: CountedEvent, n: number): void {
    this.#counts[event] += n;
    this.#deps.onCount(event, n);
  }
}

/** Says the first reason where a name has several addresses. */
function messageOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as Error) : error;
  return first.message === '' ? String((first as NodeJS.ErrnoException).code ?? first.name) : first.message;
}
