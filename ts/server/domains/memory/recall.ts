/** The recall finds the memories that go along with a question, in the time that a chat has for that. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { Log } from '../../platform/log/log.ts';
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import { isShared, type MemoryHit, type RecallBounds, type RecalledMemories } from './memory.ts';
import type { MemoryService } from './service.ts';
import { meaningOf, sharesWord, textHash } from './statement.ts';
import type { MemoryStore } from './store.ts';

interface RecallOptions {
  readonly service: Pick<MemoryService, 'search'>;
  readonly store: Pick<MemoryStore, 'strengthen'>;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** The search may take so long beside the embedding. */
  readonly limitMs: number;
  readonly now: () => number;
}

/** So many a chat recalls where nothing else is said. */
export const RECALLED = 8;
/** A memory that is less surely about the question stays where it is: one that shares a word with it, and any other. */
const LEAST_RELEVANCE = { named: 0.1, other: 0.3 };
/** An embedder that takes longer is at fault. */
const EMBEDDING_MS = 5_000;
/** Several memories say the same thing, so more are read than are shown. */
export const READ_FACTOR = 3;

const LATE = 'Memories were not looked up: the search took longer than a chat waits for it.';
const FAILED = 'Memories were not looked up: the search failed.';

export class Recall {
  readonly #options: RecallOptions;
  readonly #outcomes;
  readonly #seconds;

  constructor(options: RecallOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#outcomes = metrics.counter(
      'svc_memory_recalls_total',
      'Recalls of memories for a chat, by what came of them: found, nothing, late or failed.',
      ['outcome'],
    );
    this.#seconds = metrics
      .histogram('svc_memory_recall_seconds', 'Time of a recall beside the embedding of its question.')
      .with();
  }

  /** Never rejects but for the caller's own signal: a chat goes on without memories. */
  async recall(caller: Principal, question: string, bounds: RecallBounds, signal: AbortSignal): Promise<RecalledMemories> {
    const { service, limitMs, log } = this.#options;
    const { max = RECALLED, kinds } = bounds;
    const given = new AbortController();
    const ends = AbortSignal.any([signal, given.signal]);
    const embedded = Promise.withResolvers<number>();
    const found = service.search(caller, {
      text: question,
      max: max * READ_FACTOR,
      kinds,
      signal: ends,
      onEmbedded: () => embedded.resolve(performance.now()),
    });
    const pause = (ms: number) => wait(ms, 0, { ref: false, signal: ends }).catch(() => 0);
    const late = Promise.race([embedded.promise, pause(EMBEDDING_MS)]).then(() => pause(limitMs));
    try {
      const hits = await Promise.race([found, late]);
      signal.throwIfAborted();
      if (typeof hits === 'number') return this.#without('late', LATE);
      embedded.resolve(performance.now());
      this.#seconds.observe((performance.now() - (await embedded.promise)) / 1000);
      return this.#chosen(caller, question, hits, max);
    } catch (error) {
      signal.throwIfAborted();
      log.warn('memories were not recalled', { error: String(error) });
      return this.#without('failed', FAILED);
    } finally {
      given.abort();
      found.catch(() => undefined);
    }
  }

  #chosen(caller: Principal, question: string, hits: readonly MemoryHit[], max: number): RecalledMemories {
    const { store, log, now } = this.#options;
    const chosen = recalledOf(question, hits, max);
    this.#outcomes.with({ outcome: chosen.length > 0 ? 'found' : 'nothing' }).add();
    void store
      .strengthen(
        scopeOf(caller),
        chosen.map(({ memory }) => memory.no),
        now(),
      )
      .catch((error) => log.warn('recalled memories were not strengthened', { error: String(error) }));
    return {
      memories: chosen.map(({ relevance, memory }) => ({
        id: memory.id,
        text: memory.text,
        score: relevance,
        validFrom: memory.validFrom,
        isOfTenant: isShared(memory.owner),
      })),
      note: undefined,
      isOfOthers: chosen.some(({ memory }) => isShared(memory.owner) || memory.trust === 'imported'),
    };
  }

  #without(outcome: 'late' | 'failed', note: string): RecalledMemories {
    this.#outcomes.with({ outcome }).add();
    return { memories: [], note, isOfOthers: false };
  }
}

/** Those of the hits that go along with the question, the best first, and each statement once. */
export function recalledOf(question: string, hits: readonly MemoryHit[], max: number): MemoryHit[] {
  const about = hits.filter(({ memory, relevance }) => isAbout(question, memory.text, relevance));
  return distinct(about, max);
}

/** Short texts have little in common with a question beside the word that it asks about. */
function isAbout(question: string, text: string, relevance: number): boolean {
  const { named, other } = LEAST_RELEVANCE;
  return relevance >= other || (relevance >= named && sharesWord(question, text));
}

/** Leaves the best of those that say the same. */
function distinct(hits: readonly MemoryHit[], max: number): MemoryHit[] {
  const chosen: MemoryHit[] = [];
  const said = new Set<string>();
  for (const hit of hits) {
    if (chosen.length === max) break;
    const { text, subject } = hit.memory;
    const same = [textHash(text, subject), meaningOf(text, subject)];
    if (same.some((each) => said.has(each))) continue;
    for (const each of same) said.add(each);
    chosen.push(hit);
  }
  return chosen;
}
