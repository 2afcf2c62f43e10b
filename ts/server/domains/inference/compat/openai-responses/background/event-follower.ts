/** Sends the events of a background response to one client: what is stored, then what comes, without a loss or a duplicate. */
import type { EventStream } from '../../../../../platform/http/route.ts';
import type { TenantScope } from '../../../../../platform/storage/index.ts';
import type { BackgroundStore } from '../../../kept-responses/background-store.ts';
import { type EventBatch, framesAfter } from '../../../kept-responses/event-batch.ts';
import { isOpen, type KeptResponse } from '../../../kept-responses/kept-response.ts';
import type { LiveResponses } from '../../../kept-responses/live-responses.ts';
import { eventFrame } from '../event-frame.ts';
import { keptResponseObject } from '../response-object.ts';

/** Between looks at the database while another process makes the response, or none does. */
const POLL_MS = 300;

export interface FollowerDeps {
  store: BackgroundStore;
  live: LiveResponses;
  /** The response as it is, after one whose job is gone was ended. */
  reconcile(scope: TenantScope, response: KeptResponse): Promise<KeptResponse>;
  onError(error: unknown): void;
}

export class EventFollower {
  readonly #deps: FollowerDeps;
  readonly #scope: TenantScope;
  readonly #id: string;
  readonly #leave = new AbortController();
  /** Number of the last event that was sent. */
  #after: number;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(deps: FollowerDeps, scope: TenantScope, id: string, after: number) {
    this.#deps = deps;
    this.#scope = scope;
    this.#id = id;
    this.#after = after;
  }

  /** Ends the stream after the last event; at once when the response is deleted or the database fails: the client resumes. */
  async start(stream: EventStream): Promise<void> {
    const { onError } = this.#deps;
    stream.onClose(() => {
      this.#leave.abort();
      this.#drained?.resolve();
    });
    stream.onDrain(() => this.#drained?.resolve());
    try {
      while (!this.#hasLeft && (await this.#sendNext(stream)));
    } catch (error) {
      onError(error);
    }
    if (!this.#hasLeft) stream.end();
  }

  get #hasLeft(): boolean {
    return this.#leave.signal.aborted;
  }

  /** Sends what is there, or waits for more. False: nothing will come any more. */
  async #sendNext(stream: EventStream): Promise<boolean> {
    const live = this.#deps.live.find(this.#id)?.after(this.#after);
    if (live === undefined) return await this.#sendStored(stream);
    if (live.length > 0) await this.#send(stream, live);
    else await this.#wait();
    return true;
  }

  async #sendStored(stream: EventStream): Promise<boolean> {
    const { store, live, reconcile } = this.#deps;
    const { response, batches } = await store.readAfter(this.#scope, this.#id, this.#after);
    if (batches.length > 0) {
      await this.#send(stream, batches);
      return true;
    }
    if (response === undefined) return false;
    if (!isOpen(response)) {
      this.#sendEnd(stream, response);
      return false;
    }
    if (live.find(this.#id)?.after(this.#after) !== undefined) return true;
    if (isOpen(await reconcile(this.#scope, response))) await this.#wait();
    return true;
  }

  async #send(stream: EventStream, batches: readonly EventBatch[]): Promise<void> {
    for (const batch of batches) {
      if (this.#hasLeft) return;
      this.#drained = Promise.withResolvers();
      const isFast = stream.write(framesAfter(batch, this.#after));
      this.#after = batch.last;
      if (!isFast) await this.#drained.promise;
    }
  }

  #sendEnd(stream: EventStream, response: KeptResponse): void {
    const { status, endSequence } = response;
    // A cancelled response has no event of its own in OpenAI's API: its stream just ends.
    if (status === 'cancelled' || endSequence <= this.#after) return;
    stream.write(eventFrame(`response.${status}`, endSequence, { response: keptResponseObject(response) }));
  }

  async #wait(): Promise<void> {
    await this.#deps.live.wait(this.#id, POLL_MS, this.#leave.signal);
  }
}
