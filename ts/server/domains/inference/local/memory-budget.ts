/** Chooses which models leave memory, so that another one fits: the longest unused first, never the pinned. */
import { fitsIn, type MemoryUse, noMemory, sumOf } from './memory-use.ts';
import { type ModelEntry, memoryOf } from './model-entry.ts';

export interface MemoryLimits {
  maxModels: number;
  /** Weights, caches and buffers of all loaded models together. */
  memory: MemoryUse;
}

export interface Candidate {
  memory: MemoryUse;
  /** A model that is there already and grows. */
  growing: ModelEntry | undefined;
}

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #isPinned: (id: string) => boolean;

  constructor(limits: MemoryLimits, isPinned: (id: string) => boolean) {
    this.#limits = limits;
    this.#isPinned = isPinned;
  }

  get memory(): MemoryUse {
    return this.#limits.memory;
  }

  /** False: not even an empty server has room for it. */
  canEverHold(candidate: Candidate): boolean {
    return fitsIn(sumOf(candidate.memory, candidate.growing && memoryOf(candidate.growing)), this.#limits.memory);
  }

  /** False: there is no room beside the pinned models, so that waiting would be in vain. */
  fitsBesidePinned(entries: readonly ModelEntry[], candidate: Candidate): boolean {
    return this.#fits(
      entries.filter((entry) => this.#isPinned(entry.stored.id) || entry === candidate.growing),
      candidate,
    );
  }

  /**
   * Undefined when not enough can leave. Only those at rest leave, or, to be drained, those at work too.
   * Models that are victims already are not counted: a load into their memory waits for them.
   */
  selectVictims(entries: readonly ModelEntry[], candidate: Candidate, alsoBusy = false): ModelEntry[] | undefined {
    let staying = entries.filter((entry) => !entry.gone);
    const candidates = staying.filter((entry) => entry !== candidate.growing && this.#mayLeave(entry, alsoBusy));
    candidates.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    const victims: ModelEntry[] = [];
    while (!this.#fits(staying, candidate)) {
      const next = candidates[victims.length];
      if (!next) return undefined;
      victims.push(next);
      staying = staying.filter((entry) => entry !== next);
    }
    return victims;
  }

  #mayLeave(entry: ModelEntry, alsoBusy: boolean): boolean {
    return entry.state === 'loaded' && (alsoBusy || entry.nReservations === 0) && !this.#isPinned(entry.stored.id);
  }

  #fits(staying: readonly ModelEntry[], { memory, growing }: Candidate): boolean {
    const nModels = staying.length + (growing ? 0 : 1);
    const sum = staying.reduce((total, entry) => sumOf(total, memoryOf(entry)), noMemory);
    return nModels <= this.#limits.maxModels && fitsIn(sumOf(sum, memory), this.#limits.memory);
  }
}
