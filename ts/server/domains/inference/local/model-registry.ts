/** The models in memory: loads on demand, once for all who wait, and unloads the longest unused when memory is needed. */
import { NativeError } from '../../../native/native-error.ts';
import { inferenceError } from '../errors.ts';
import type { StoredModel } from '../models/model-source.ts';
import { waitFor } from './deadline.ts';
import { LoadGate } from './load-gate.ts';
import { LoadQueue, type LoadQueueLimits } from './load-queue.ts';
import { type Candidate, MemoryBudget, type MemoryLimits } from './memory-budget.ts';
import { type MemoryUse, noMemory, sumOf } from './memory-use.ts';
import {
  defaultContext,
  type ModelEntry,
  type ModelRequest,
  type ModelReservation,
  memoryOf,
  predictedMemory,
} from './model-entry.ts';
import type { LoadedModel } from './model-opener.ts';

export interface RegistryLimits extends MemoryLimits {
  /** How long a request waits for a load before it is told to come back. */
  loadWaitMs: number;
  /** How long it waits for a model to come to rest by itself before new requests for that one wait behind it. */
  drainAfterMs: number;
  /** A model that nobody used for so long is unloaded; 0: never. */
  idleUnloadMs: number;
  /** The limits of each model's queue of loads. */
  loadQueue: LoadQueueLimits;
}

export type OpenModel = (
  model: Pick<ModelRequest, 'stored' | 'plan'>,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

export interface RegistryObserver {
  loaded(id: string, memory: { predicted: MemoryUse; used: MemoryUse }): void;
  unloaded(id: string): void;
  /** It is unloaded for that. */
  failed?(id: string, error: NativeError): void;
}

const mostLoadsAtOnce = 2;
const busyRetryMs = 2000;
/** The time between looks at the files of loaded models, and at what computes them. */
const checkMs = 250;
export const silentObserver: RegistryObserver = { loaded() {}, unloaded() {} };

export class ModelRegistry {
  readonly #entries = new Map<string, ModelEntry>();
  readonly #open: OpenModel;
  readonly #limits: RegistryLimits;
  readonly #observer: RegistryObserver;
  readonly #pinned: Set<string>;
  readonly #budget: MemoryBudget;
  readonly #gate = new LoadGate(mostLoadsAtOnce);
  readonly #queue: LoadQueue;
  #sweeper: NodeJS.Timeout | undefined;
  #checker: NodeJS.Timeout | undefined;
  /** Requests that wait for something to change: a model at rest, or gone. */
  readonly #waiting = new Set<() => void>();
  #isClosed = true;

  constructor(open: OpenModel, limits: RegistryLimits, pinned: Iterable<string>, observer: RegistryObserver = silentObserver) {
    this.#open = open;
    this.#limits = limits;
    this.#observer = observer;
    this.#pinned = new Set(pinned);
    this.#budget = new MemoryBudget(limits, (id) => this.#pinned.has(id));
    this.#queue = new LoadQueue(limits.loadQueue);
  }

  /** Takes requests; once after the construction and again after each close(). */
  open(): void {
    this.#isClosed = false;
    this.#checker = setInterval(() => void this.#checkLoaded(), checkMs).unref();
    const { idleUnloadMs } = this.#limits;
    if (idleUnloadMs > 0) this.#sweeper = setInterval(() => this.#unloadUnused(), Math.max(100, idleUnloadMs / 10)).unref();
  }

  entry(id: string): Readonly<ModelEntry> | undefined {
    return this.#entries.get(id);
  }

  entries(): Iterable<Readonly<ModelEntry>> {
    return this.#entries.values();
  }

  isPinned(id: string): boolean {
    return this.#pinned.has(id);
  }

  /** A pinned model is never unloaded to make room, nor for being unused. */
  setPinned(id: string, isPinned: boolean): void {
    if (isPinned) this.#pinned.add(id);
    else this.#pinned.delete(id);
    this.#wake();
  }

  /**
   * Loads the model if need be. Throws queue_full, model_loading or models_busy after waitMs, model_unloading, out_of_memory when there
   * can be no room for it, or the load's own error.
   */
  async acquire(request: ModelRequest, signal: AbortSignal, waitMs: number): Promise<ModelReservation> {
    const { stored, nTokens } = request;
    const entry = this.#entries.get(stored.id);
    if (entry?.model && !isVictim(entry) && hasContext(entry, request)) return this.#acquire(request, signal, waitMs);
    const leave = this.#queue.enter(stored.id, nTokens, entry ? remainingLoadMs(entry) : busyRetryMs);
    try {
      return await this.#acquire(request, signal, waitMs);
    } finally {
      leave();
    }
  }

  async #acquire(request: ModelRequest, signal: AbortSignal, waitMs: number): Promise<ModelReservation> {
    const deadline = performance.now() + waitMs;
    const entry = await this.#hold(request, signal, deadline);
    try {
      const model = entry.model ?? (await waitFor(entry.ready, deadline - performance.now(), signal, () => stillLoading(entry)));
      await entry.memoryReady;
      entry.lastUsedAt = Date.now();
      return this.#reservation(entry, model);
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
    this.#wake();
    if (entry.state === 'loading') entry.aborter.abort();
    if (!force) await becomesIdle(entry);
    await this.#remove(entry);
  }

  /** Ends every job and frees every model. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    clearInterval(this.#checker);
    this.#wake();
    await Promise.all([...this.#entries.keys()].map((id) => this.unload(id, { force: true })));
  }

  /** Counts the reservation before anyone else can run, so that the entry found is not chosen to leave. */
  async #hold(request: ModelRequest, signal: AbortSignal, deadline: number): Promise<ModelEntry> {
    const drained = new Set<ModelEntry>();
    const drainAt = performance.now() + this.#limits.drainAfterMs;
    try {
      for (;;) {
        signal.throwIfAborted();
        const entry = this.#tryHold(request);
        if (entry) return held(entry);
        const now = performance.now();
        if (now >= deadline) throw busy(request.stored);
        const isWithinDrainDelay = now < drainAt;
        if (!isWithinDrainDelay && drained.size === 0) this.#drain(request, drained);
        await this.#change((isWithinDrainDelay ? Math.min(drainAt, deadline) : deadline) - now, signal);
      }
    } finally {
      for (const entry of drained) entry.nDrainers--;
      if (drained.size > 0) this.#wake();
    }
  }

  /** The entry with room for what is asked; undefined: something must change first. Throws when waiting would be in vain. */
  #tryHold(request: ModelRequest): ModelEntry | undefined {
    const { stored } = request;
    if (this.#isClosed) throw inferenceError('model_unloading', 'The server is stopping.', { retryAfterMs: 5000 });
    const entry = this.#entries.get(stored.id);
    if (entry?.isRefusing) {
      throw inferenceError('model_unloading', `The model ${stored.id} is being unloaded; retry to load it again.`, {
        retryAfterMs: 1000,
      });
    }
    if (entry && isVictim(entry)) return undefined;
    if (entry && hasContext(entry, request)) return entry;
    const candidate = candidateOf(request, entry);
    if (!this.#budget.canEverHold(candidate)) throw tooLarge(stored, candidate, this.#budget.memory);
    const entries = [...this.#entries.values()];
    const victims = this.#budget.selectVictims(entries, candidate);
    if (victims) return entry ? this.#grow(entry, request, victims) : this.#startLoad(request, victims);
    if (!this.#budget.fitsBesidePinned(entries, candidate)) throw busy(stored);
    return undefined;
  }

  /** Settles when something changed or the time is over. */
  async #change(timeoutMs: number, signal: AbortSignal): Promise<void> {
    let wake = () => {};
    const change = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.add(wake);
    try {
      await waitFor(change, Math.max(0, timeoutMs), signal, () => new TimeOver());
    } catch (error) {
      if (!(error instanceof TimeOver)) throw error;
    } finally {
      this.#waiting.delete(wake);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Those that must leave are always at work: without this, they would keep the candidate out for as long as they are asked for. */
  #drain(request: ModelRequest, drained: Set<ModelEntry>): void {
    const entry = this.#entries.get(request.stored.id);
    // Its own model leaves first.
    if (entry && isVictim(entry)) return;
    const victims = this.#budget.selectVictims([...this.#entries.values()], candidateOf(request, entry), true) ?? [];
    for (const entry of victims) {
      entry.nDrainers++;
      drained.add(entry);
    }
  }

  #grow(entry: ModelEntry, { context }: ModelRequest, victims: readonly ModelEntry[]): ModelEntry {
    if (context) entry.contexts.add(context);
    entry.memoryReady = Promise.all([entry.memoryReady, this.#evict(victims)]);
    return entry;
  }

  #startLoad({ stored, plan, context }: ModelRequest, victims: readonly ModelEntry[]): ModelEntry {
    const gone = this.#evict(victims);
    const contexts = new Set([defaultContext(stored), context].filter((kind) => kind !== undefined));
    const entry: ModelEntry = {
      stored,
      plan,
      contexts,
      state: 'loading',
      ready: Promise.resolve().then(async () => {
        await gone;
        return this.#gate.run(() => this.#load(entry));
      }),
      model: undefined,
      memoryReady: Promise.resolve(),
      progress: 0,
      loadStartedAt: Date.now(),
      nReservations: 0,
      lastUsedAt: Date.now(),
      aborter: new AbortController(),
      gone: undefined,
      isRefusing: false,
      nDrainers: 0,
      onIdle: [],
    };
    this.#entries.set(stored.id, entry);
    // Whoever waits hears of the failure; nobody may be waiting any more.
    entry.ready.catch(() => this.#forget(entry));
    return entry;
  }

  /** Settles when their memory, and that of whoever else is victims, is free. */
  #evict(victims: readonly ModelEntry[]): Promise<unknown> {
    for (const entry of victims) void this.#remove(entry);
    return Promise.allSettled([...this.#entries.values()].map((entry) => entry.gone));
  }

  async #load(entry: ModelEntry): Promise<LoadedModel> {
    const { stored, aborter } = entry;
    const onProgress = (fraction: number) => {
      entry.progress = fraction;
    };
    aborter.signal.throwIfAborted();
    entry.loadStartedAt = Date.now();
    entry.model = await this.#open(entry, onProgress, aborter.signal);
    if (!entry.gone) entry.state = 'loaded';
    entry.progress = 1;
    this.#wake();
    this.#observer.loaded(stored.id, { predicted: predictedMemory(entry, entry.contexts), used: memoryOf(entry) });
    return entry.model;
  }

  #unloadUnused(): void {
    const before = Date.now() - this.#limits.idleUnloadMs;
    for (const entry of this.#entries.values()) {
      const isUnused = entry.state === 'loaded' && entry.nReservations === 0 && entry.lastUsedAt <= before;
      if (isUnused && !this.isPinned(entry.stored.id)) void this.#remove(entry);
    }
  }

  /** A model that cannot go on ends its requests with the reason; the next one loads what is there then. */
  async #checkLoaded(): Promise<void> {
    for (const entry of [...this.#entries.values()]) {
      const fault = entry.gone === undefined ? await findFault(entry) : undefined;
      if (fault === undefined || entry.model === undefined || entry.gone !== undefined) continue;
      entry.model.fault = fault;
      this.#observer.failed?.(entry.stored.id, fault);
      void this.#remove(entry);
    }
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
    this.#observer.unloaded(entry.stored.id);
    this.#wake();
  }

  #reservation(entry: ModelEntry, model: LoadedModel): ModelReservation {
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
    entry.nReservations--;
    entry.lastUsedAt = Date.now();
    if (entry.nReservations > 0) return;
    for (const callback of entry.onIdle.splice(0)) callback();
    this.#wake();
  }
}

/** Why a loaded model must be unloaded: its file is not what was loaded, or its GPU failed. */
async function findFault({ stored: { id }, model }: ModelEntry): Promise<NativeError | undefined> {
  if (model?.hasDeviceFailed()) {
    const text = `The model ${id} had to be unloaded, since a GPU failed that computed for it.`;
    return new NativeError({ code: 'device_failed', text });
  }
  const change = await model?.files?.findChange();
  if (change === undefined) return undefined;
  const text = `The model ${id} had to be unloaded, since its file ${change} while it was loaded.`;
  return new NativeError({ code: 'model_file_changed', text });
}

class TimeOver extends Error {}

function candidateOf(request: ModelRequest, growing: ModelEntry | undefined): Candidate {
  const { stored, plan, context } = request;
  if (growing) return { memory: (context && plan?.[context]) ?? noMemory, growing };
  const contexts = new Set([defaultContext(stored), context].filter((kind) => kind !== undefined));
  return { memory: predictedMemory(request, contexts), growing };
}

/** New requests for it wait until it is gone, or may stay. */
function isVictim(entry: ModelEntry): boolean {
  return entry.gone !== undefined || entry.nDrainers > 0;
}

function hasContext(entry: ModelEntry, { context }: ModelRequest): boolean {
  return !context || entry.contexts.has(context);
}

function held(entry: ModelEntry): ModelEntry {
  entry.nReservations++;
  return entry;
}

function becomesIdle(entry: ModelEntry): Promise<void> {
  return entry.nReservations === 0 ? Promise.resolve() : new Promise((resolve) => entry.onIdle.push(resolve));
}

function stillLoading(entry: ModelEntry): Error {
  const percent = Math.floor(entry.progress * 100);
  return inferenceError('model_loading', `The model ${entry.stored.id} is still being loaded (${percent}%).`, {
    retryAfterMs: remainingLoadMs(entry),
  });
}

/** Estimates what is left of a load by its progress; between a second and a minute. */
function remainingLoadMs({ progress, loadStartedAt }: ModelEntry): number {
  const elapsedMs = Date.now() - loadStartedAt;
  const remainingMs = progress > 0.05 ? (elapsedMs * (1 - progress)) / progress : 5000;
  return Math.min(60_000, Math.max(1000, remainingMs));
}

function busy({ id }: StoredModel): Error {
  const detail = `There is no room for ${id}: every loaded model is working or pinned. Retry later, or raise the limits of loaded models.`;
  return inferenceError('models_busy', detail, { retryAfterMs: busyRetryMs });
}

function tooLarge({ id }: StoredModel, { memory, growing }: Candidate, limit: MemoryUse): Error {
  const needed = growing ? sumOf(memory, memoryOf(growing)) : memory;
  const [kind, where] =
    needed.hostBytes > limit.hostBytes ? (['hostBytes', 'memory'] as const) : (['deviceBytes', 'device memory'] as const);
  const detail =
    `${id} needs ${needed[kind]} bytes of ${where} with its context, and loaded models may take ${limit[kind]}. ` +
    'Use a smaller or more strongly quantised model, lower inference.ctx, or raise inference.max_loaded_bytes.';
  return inferenceError('out_of_memory', detail, { extra: { needed_bytes: needed[kind], limit_bytes: limit[kind] } });
}
