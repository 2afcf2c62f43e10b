/** How near what a person says is to each knowledge base: for chats that leave the choice of one to the node. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Embedders, EmbeddingBinding } from '../../retrieval/index.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { ListedBase } from '../knowledge-base.ts';
import type { NearBases } from '../knowledge-context.ts';
import type { BaseStore } from '../store/base-store.ts';
import type { ChunkStore } from '../store/chunk-store.ts';

interface BaseNearnessOptions {
  readonly bases: Pick<BaseStore, 'list'>;
  readonly chunks: Pick<ChunkStore, 'sampleVectors'>;
  readonly embedders: Pick<Embedders, 'embed' | 'scale'>;
  readonly access: Pick<KnowledgeAccess, 'usable'>;
}

interface Summary {
  readonly version: number;
  readonly mean: Float32Array;
}

/** A mean of so many passages is as telling as one of all. */
const MOST_SAMPLED = 256;
const MOST_KNOWN = 2_000;

export class BaseNearness {
  readonly #options: BaseNearnessOptions;
  /** Their keys are the numbers of the bases. */
  readonly #summaries = new Map<number, Summary>();

  constructor(options: BaseNearnessOptions) {
    this.#options = options;
  }

  /** Compares the turns with the bases that the caller may use. Where there is one alone, nothing is embedded. Throws `embedding_failed`. */
  async of(caller: Principal, scope: TenantScope, turns: readonly string[], signal: AbortSignal): Promise<NearBases> {
    const { bases, access } = this.#options;
    const usable = await access.usable(caller, await bases.list(scope));
    const filled = usable.filter(({ nChunks }) => nChunks > 0);
    const names = (filled.length > 0 ? filled : usable).map(({ namespace }) => namespace);
    if (filled.length < 2 || turns.length === 0) return { names, cosines: [] };
    const asked = new Map<string, Promise<readonly Float32Array[]>>();
    const found: { name: string; column: readonly number[] }[] = [];
    let failure: unknown;
    for (const base of filled)
      try {
        const vectors = await this.#embedded(scope, base, turns, signal, asked);
        const { mean } = await this.#summaryOf(scope, base);
        const { factor, offset } = await this.#options.embedders.scale(base);
        found.push({ name: base.namespace, column: vectors.map((vector) => factor * dot(vector, mean) + offset) });
      } catch (error) {
        // A base whose model is gone cannot be asked; the others can.
        signal.throwIfAborted();
        failure = error;
      }
    if (found.length === 0) throw failure;
    return {
      names: found.map(({ name }) => name),
      cosines: turns.map((_, turn) => found.map(({ column }) => column[turn] ?? 0)),
    };
  }

  /** Bases of one model share the vectors of the turns. */
  #embedded(
    { tenant }: TenantScope,
    base: EmbeddingBinding,
    turns: readonly string[],
    signal: AbortSignal,
    asked: Map<string, Promise<readonly Float32Array[]>>,
  ): Promise<readonly Float32Array[]> {
    const key = JSON.stringify([base.embeddingModel, base.embeddingSource, base.prefixes]);
    const embedding =
      asked.get(key) ?? this.#options.embedders.embed(base, 'query', turns, { tenant, signal }).then(({ vectors }) => vectors);
    asked.set(key, embedding);
    return embedding;
  }

  async #summaryOf(scope: TenantScope, { no, version }: ListedBase): Promise<Summary> {
    const known = this.#summaries.get(no);
    if (known?.version === version) return known;
    const summary = { version, mean: meanOf(await this.#options.chunks.sampleVectors(scope, no, MOST_SAMPLED)) };
    if (this.#summaries.size >= MOST_KNOWN) this.#summaries.clear();
    this.#summaries.set(no, summary);
    return summary;
  }
}

/** The mean direction, of length 1. */
function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] as number) + (vector[i] ?? 0);
  const length = Math.hypot(...mean) || 1;
  return mean.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] ?? 0);
  return sum;
}
