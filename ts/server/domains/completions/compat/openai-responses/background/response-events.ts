/** Finds the events of a background response for its followers: in memory while this process makes it, else in the database. */
import type { TenantScope } from '../../../../../platform/storage/index.ts';
import type { EventBatch } from '../../../event-streams/event-batch.ts';
import type { EventSource, FetchedEvents } from '../../../event-streams/event-follower.ts';
import type { LiveStreams } from '../../../event-streams/live-streams.ts';
import type { BackgroundStore } from '../../../stored-responses/background-store.ts';
import { isOpen, type KeptResponse } from '../../../stored-responses/kept-response.ts';
import type { LiveEvents } from '../../../stored-responses/live-events.ts';
import { eventFrame } from '../open-item.ts';
import { keptResponseObject } from '../response-object.ts';

/** Between looks at the database while another process makes the response, or none does. */
const POLL_MS = 300;

interface ResponseEventsDeps {
  store: BackgroundStore;
  live: LiveStreams<LiveEvents>;
  /** The response as it is, after one whose job is gone was ended. */
  reconcile(scope: TenantScope, response: KeptResponse): Promise<KeptResponse>;
}

export class ResponseEvents implements EventSource {
  readonly #deps: ResponseEventsDeps;
  readonly #scope: TenantScope;
  readonly #id: string;

  constructor(deps: ResponseEventsDeps, scope: TenantScope, id: string) {
    this.#deps = deps;
    this.#scope = scope;
    this.#id = id;
  }

  inMemory(after: number): EventBatch[] | undefined {
    return this.#deps.live.find(this.#id)?.after(after);
  }

  /** Fetches the events behind `after`. The last frame is missing where the response was deleted: the client asks again, and is told so. */
  async fetch(after: number, signal: AbortSignal): Promise<FetchedEvents> {
    const { store, reconcile } = this.#deps;
    const { response, batches } = await store.readAfter(this.#scope, this.#id, after);
    if (batches.length > 0) return { batches };
    if (response === undefined) return { batches, last: '' };
    if (!isOpen(response)) return { batches, last: lastFrame(response, after) };
    if (this.inMemory(after) === undefined && isOpen(await reconcile(this.#scope, response)))
      await this.#deps.live.wait(this.#id, signal, POLL_MS);
    return { batches };
  }

  /** It may end in another process. */
  async wait(signal: AbortSignal): Promise<void> {
    await this.#deps.live.wait(this.#id, signal, POLL_MS);
  }
}

/** A cancelled response has no event of its own in OpenAI's API: its stream just ends. */
function lastFrame(response: KeptResponse, after: number): string {
  const { status, endSequence } = response;
  if (status === 'cancelled' || endSequence <= after) return '';
  return eventFrame(`response.${status}`, endSequence, { response: keptResponseObject(response) });
}
