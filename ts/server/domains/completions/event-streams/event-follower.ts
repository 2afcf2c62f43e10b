/** Sends the events of a stream to one client: what is there, then what comes, without a loss or a duplicate. */
import type { EventStream } from '../../../platform/http/route.ts';
import { type EventBatch, framesAfter } from './event-batch.ts';

/** Events that are not in memory. Without `last` the follower asks again behind them; with it, it sends these frames and ends. */
export interface FetchedEvents {
  readonly batches: readonly EventBatch[];
  readonly last?: string;
}

/** Where a follower finds the events of one stream, by their numbers. */
export interface EventSource {
  /** Events behind `after`, none when there are no newer ones yet; undefined: they are not in memory, or the stream has ended. */
  inMemory(after: number): readonly EventBatch[] | undefined;
  /** May wait before it answers without batches. */
  fetch(after: number, signal: AbortSignal): Promise<FetchedEvents>;
  /** Resolves with the next change, or when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

interface FollowerOptions {
  /** The stream of the client is cut then: it resumes. */
  onError(error: unknown): void;
  /** The client has taken what it was sent. */
  onProgress?(): void;
}

export class EventFollower {
  readonly #source: EventSource;
  readonly #options: FollowerOptions;
  readonly #leave = new AbortController();
  #after: number;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(source: EventSource, after: number, options: FollowerOptions) {
    this.#source = source;
    this.#after = after;
    this.#options = options;
  }

  /** Number of the last event that was sent. */
  get after(): number {
    return this.#after;
  }

  /** Ends the client's stream after the last event, at once when it fails. Resolves when nothing more is sent. */
  async start(stream: EventStream): Promise<void> {
    stream.onClose(() => {
      this.#leave.abort();
      this.#drained?.resolve();
    });
    stream.onDrain(() => this.#drained?.resolve());
    try {
      while (!this.#hasLeft && (await this.#sendNext(stream)));
    } catch (error) {
      this.#options.onError(error);
    }
    if (!this.#hasLeft) stream.end();
  }

  get #hasLeft(): boolean {
    return this.#leave.signal.aborted;
  }

  /** Sends what is there, or waits for more. False: nothing will come any more. */
  async #sendNext(stream: EventStream): Promise<boolean> {
    const found = this.#source.inMemory(this.#after);
    if (found === undefined) return await this.#sendFetched(stream);
    if (found.length > 0) await this.#send(stream, found);
    else await this.#source.wait(this.#leave.signal);
    return true;
  }

  async #sendFetched(stream: EventStream): Promise<boolean> {
    const { batches, last } = await this.#source.fetch(this.#after, this.#leave.signal);
    await this.#send(stream, batches);
    if (last === undefined) return true;
    if (last !== '' && !this.#hasLeft) stream.write(last);
    return false;
  }

  async #send(stream: EventStream, batches: readonly EventBatch[]): Promise<void> {
    for (const batch of batches) {
      if (this.#hasLeft) return;
      this.#drained = Promise.withResolvers();
      const isFast = stream.write(framesAfter(batch, this.#after));
      this.#after = batch.last;
      if (!isFast) await this.#drained.promise;
      this.#options.onProgress?.();
    }
  }
}
