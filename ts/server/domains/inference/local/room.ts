/** Who leaves, so that another model has room: the longest unused first, never the pinned. */
import { fitsIn, type MemoryUse, noMemory, sumOf } from './memory-use.ts';
import { type ModelEntry, memoryOf } from './model-entry.ts';

export interface RoomLimits {
  maxModels: number;
  /** Weights, caches and buffers of all loaded models together. */
  memory: MemoryUse;
}

export interface Newcomer {
  memory: MemoryUse;
  /** A model that is there already and grows. */
  growing: ModelEntry | undefined;
}

export class Room {
  readonly #limits: RoomLimits;
  readonly #isPinned: (id: string) => boolean;

  constructor(limits: RoomLimits, isPinned: (id: string) => boolean) {
    this.#limits = limits;
    this.#isPinned = isPinned;
  }

  get memory(): MemoryUse {
    return this.#limits.memory;
  }

  /** False: not even an empty server has room for it. */
  canEverHold(newcomer: Newcomer): boolean {
    return fitsIn(sumOf(newcomer.memory, newcomer.growing && memoryOf(newcomer.growing)), this.#limits.memory);
  }

  /** False: there is no room beside the pinned models, so that waiting would be in vain. */
  hasRoomBesidePinned(entries: readonly ModelEntry[], newcomer: Newcomer): boolean {
    return this.#fits(
      entries.filter((entry) => this.#isPinned(entry.stored.id) || entry === newcomer.growing),
      newcomer,
    );
  }

  /**
   * Undefined when not enough can leave. Only those at rest leave, or, to be drained, those at work too.
   * Models that are leaving already are not counted: whoever takes their room waits for them.
   */
  chooseLeaving(entries: readonly ModelEntry[], newcomer: Newcomer, alsoBusy = false): ModelEntry[] | undefined {
    let staying = entries.filter((entry) => !entry.gone);
    const candidates = staying.filter((entry) => entry !== newcomer.growing && this.#mayLeave(entry, alsoBusy));
    candidates.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    const leaving: ModelEntry[] = [];
    while (!this.#fits(staying, newcomer)) {
      const next = candidates[leaving.length];
      if (!next) return undefined;
      leaving.push(next);
      staying = staying.filter((entry) => entry !== next);
    }
    return leaving;
  }

  #mayLeave(entry: ModelEntry, alsoBusy: boolean): boolean {
    return entry.state === 'loaded' && (alsoBusy || entry.nLeases === 0) && !this.#isPinned(entry.stored.id);
  }

  #fits(staying: readonly ModelEntry[], { memory, growing }: Newcomer): boolean {
    const nModels = staying.length + (growing ? 0 : 1);
    const sum = staying.reduce((total, entry) => sumOf(total, memoryOf(entry)), noMemory);
    return nModels <= this.#limits.maxModels && fitsIn(sumOf(sum, memory), this.#limits.memory);
  }
}
