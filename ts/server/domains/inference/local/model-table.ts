/** The models in memory: loads on demand, once for all who wait, and unloads the longest unused when room is needed. */
import { refusal } from '../errors.ts';
import type { StoredModel } from '../model-source.ts';
import { waitFor } from './deadline.ts';
import type { LoadedModel } from './loaded-model.ts';
import type { ModelEntry, ModelLease } from './model-entry.ts';

export interface TableLimits {
  maxModels: number;
  /** Weights, caches and buffers of all loaded models together. */
  maxBytes: number;
  /** How long a request waits for a load before it is told to come back. */
  loadWaitMs: number;
}

export type OpenModel = (
  stored: StoredModel,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

export class ModelTable {
  readonly #entries = new Map<string, ModelEntry>();
  readonly #knownBytes = new Map<string, number>();
  readonly #open: OpenModel;
  readonly #limits: TableLimits;
  readonly #pinned: string | undefined;
  /** Requests that wait for a model to become idle, so that it can leave. */
  #roomSeekers: (() => void)[] = [];
  #isClosed = false;

  constructor(open: OpenModel, limits: TableLimits, pinned: string | undefined) {
    this.#open = open;
    this.#limits = limits;
    this.#pinned = pinned;
  }

  entry(id: string): Readonly<ModelEntry> | undefined {
    return this.#entries.get(id);
  }

  entries(): Iterable<Readonly<ModelEntry>> {
    return this.#entries.values();
  }

  isPinned(id: string): boolean {
    return id === this.#pinned;
  }

  /** Loads the model if need be. Throws model_loading or models_busy after waitMs, model_unloading, or the load's own error. */
  async acquire(stored: StoredModel, signal: AbortSignal, waitMs: number): Promise<ModelLease> {
    const deadline = performance.now() + waitMs;
    const entry = await this.#hold(stored, signal, deadline);
    try {
      const model = entry.model ?? (await waitFor(entry.ready, deadline - performance.now(), signal, () => stillLoading(entry)));
      entry.lastUsedAt = Date.now();
      return this.#lease(entry, model);
    } catch (error) {
      this.#release(entry);
      throw error;
    }
  }

  /** Refuses new requests, waits for running ones (or ends them at once when forced), and frees the memory. */
  async unload(id: string, { force }: { force: boolean }): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.isRefusing = true;
    if (entry.state === 'loading') entry.aborter.abort();
    if (!force) await becomesIdle(entry);
    await this.#remove(entry);
  }

  /** Ends every job and frees every model. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.unload(id, { force: true })));
  }

  /** Counts the lease before anyone else can run, so that the entry found is not chosen to leave. */
  async #hold(stored: StoredModel, signal: AbortSignal, deadline: number): Promise<ModelEntry> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw refusal('model_unloading', 'The server is stopping.', { retryAfterMs: 5000 });
      const entry = this.#entries.get(stored.id);
      if (entry?.isRefusing) {
        throw refusal('model_unloading', `The model ${stored.id} is being unloaded; retry to load it again.`, {
          retryAfterMs: 1000,
        });
      }
      if (entry?.gone) await entry.gone;
      else if (entry) return held(entry);
      else {
        const leaving = this.#chooseLeaving(stored);
        if (leaving) return held(this.#startLoad(stored, leaving));
        if (this.#onlyPinnedStay()) throw busy(stored);
        await waitFor(this.#nextIdle(), deadline - performance.now(), signal, () => busy(stored));
      }
    }
  }

  /** Then waiting would be in vain. */
  #onlyPinnedStay(): boolean {
    return [...this.#entries.values()].every((entry) => !entry.gone && this.isPinned(entry.stored.id));
  }

  #nextIdle(): Promise<void> {
    return new Promise((resolve) => this.#roomSeekers.push(resolve));
  }

  #wakeRoomSeekers(): void {
    for (const wake of this.#roomSeekers.splice(0)) wake();
  }

  #startLoad(stored: StoredModel, leaving: readonly ModelEntry[]): ModelEntry {
    const gone = leaving.map((entry) => this.#remove(entry));
    const entry: ModelEntry = {
      stored,
      state: 'loading',
      ready: Promise.resolve().then(async () => {
        await Promise.all(gone);
        return this.#load(entry);
      }),
      model: undefined,
      progress: 0,
      loadStartedAt: Date.now(),
      nLeases: 0,
      lastUsedAt: Date.now(),
      aborter: new AbortController(),
      gone: undefined,
      isRefusing: false,
      onIdle: [],
    };
    this.#entries.set(stored.id, entry);
    // Whoever waits hears of the failure; nobody may be waiting any more.
    entry.ready.catch(() => this.#forget(entry));
    return entry;
  }

  async #load(entry: ModelEntry): Promise<LoadedModel> {
    const { stored, aborter } = entry;
    const onProgress = (fraction: number) => {
      entry.progress = fraction;
    };
    aborter.signal.throwIfAborted();
    entry.model = await this.#open(stored, onProgress, aborter.signal);
    if (!entry.gone) entry.state = 'loaded';
    entry.progress = 1;
    this.#knownBytes.set(stored.id, entry.model.memoryBytes);
    return entry.model;
  }

  #bytesOf(stored: StoredModel, model?: LoadedModel): number {
    return model?.memoryBytes ?? this.#knownBytes.get(stored.id) ?? stored.sizeBytes;
  }

  /** Who leaves to make room, longest unused first; undefined when that would not be enough. */
  #chooseLeaving(stored: StoredModel): ModelEntry[] | undefined {
    const staying = [...this.#entries.values()].filter((entry) => !entry.gone);
    const idle = staying.filter((entry) => entry.nLeases === 0 && entry.state === 'loaded' && !this.isPinned(entry.stored.id));
    idle.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    let nModels = staying.length + 1;
    let nBytes = staying.reduce((sum, entry) => sum + this.#bytesOf(entry.stored, entry.model), this.#bytesOf(stored));
    const leaving: ModelEntry[] = [];
    while (nModels > this.#limits.maxModels || (nBytes > this.#limits.maxBytes && nModels > 1)) {
      const victim = idle[leaving.length];
      if (!victim) return undefined;
      leaving.push(victim);
      nModels--;
      nBytes -= this.#bytesOf(victim.stored, victim.model);
    }
    return leaving;
  }

  #remove(entry: ModelEntry): Promise<void> {
    entry.gone ??= this.#free(entry);
    return entry.gone;
  }

  async #free(entry: ModelEntry): Promise<void> {
    entry.state = 'unloading';
    try {
      const model = await entry.ready.catch(() => undefined);
      await model?.close();
    } finally {
      this.#forget(entry);
    }
  }

  #forget(entry: ModelEntry): void {
    if (this.#entries.get(entry.stored.id) === entry) this.#entries.delete(entry.stored.id);
    this.#wakeRoomSeekers();
  }

  #lease(entry: ModelEntry, model: LoadedModel): ModelLease {
    let isHeld = true;
    return {
      model,
      release: () => {
        if (isHeld) this.#release(entry);
        isHeld = false;
      },
    };
  }

  #release(entry: ModelEntry): void {
    entry.nLeases--;
    entry.lastUsedAt = Date.now();
    if (entry.nLeases > 0) return;
    for (const callback of entry.onIdle.splice(0)) callback();
    this.#wakeRoomSeekers();
  }
}

function held(entry: ModelEntry): ModelEntry {
  entry.nLeases++;
  return entry;
}

function becomesIdle(entry: ModelEntry): Promise<void> {
  return entry.nLeases === 0 ? Promise.resolve() : new Promise((resolve) => entry.onIdle.push(resolve));
}

function stillLoading({ stored, progress, loadStartedAt }: ModelEntry): Error {
  const elapsedMs = Date.now() - loadStartedAt;
  const remainingMs = progress > 0.05 ? (elapsedMs * (1 - progress)) / progress : 5000;
  const percent = Math.floor(progress * 100);
  return refusal('model_loading', `The model ${stored.id} is still being loaded (${percent}%).`, {
    retryAfterMs: Math.min(60_000, Math.max(1000, remainingMs)),
  });
}

function busy({ id }: StoredModel): Error {
  const detail = `There is no room for ${id}: every loaded model is working or pinned. Retry later, or raise the limits of loaded models.`;
  return refusal('models_busy', detail, { retryAfterMs: 2000 });
}
