/** Where the indexes of a module's collections are saved, when they are worth it, and what became of them: for the log, the metrics and the health report. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { OpenedIndex, SavedPlace } from '../index/index-messages.ts';
import type { Collection } from './collection.ts';

/** Fewer are read from the database in no time. */
const LEAST_PASSAGES = 1_000;
/** A part that may be read from the database at a start, so that a growing index is not written again and again. */
const LEAST_PART = 1 / 8;
const FOLDER_NAME = /^[a-z]+_[0-9a-f]{32}$/;

/** Of all indexes, whichever module has their collections. */
export function indexMetrics(metrics: MetricsRegistry) {
  return {
    opened: metrics.counter(
      'svc_knowledge_indexes_opened_total',
      'Indexes of knowledge bases that were opened, by where they came from: kept, new, or refused (kept, and made anew).',
      ['origin'],
    ),
    failures: metrics.counter(
      'svc_knowledge_index_failures_total',
      'Indexes of knowledge bases that could not be kept or rebuilt.',
      ['work'],
    ),
  };
}

interface SavedIndexesOptions {
  readonly folder: string;
  readonly log: Log;
  readonly metrics: ReturnType<typeof indexMetrics>;
  /** Default: true. False: indexes of these collections are in no file. */
  readonly isSaved?: boolean;
}

export class SavedIndexes {
  readonly #folder: string;
  readonly #log: Log;
  readonly #metrics: SavedIndexesOptions['metrics'];
  readonly #isSaved: boolean;

  constructor({ folder, log, metrics, isSaved = true }: SavedIndexesOptions) {
    this.#folder = folder;
    this.#log = log;
    this.#metrics = metrics;
    this.#isSaved = isSaved;
  }

  placeOf(collection: Collection): SavedPlace {
    return { folder: join(this.#folder, collection.id), label: collection.id };
  }

  isDue({ nPassages, nUnsaved }: { readonly nPassages: number; readonly nUnsaved: number }): boolean {
    return this.#isSaved && nPassages >= LEAST_PASSAGES && nUnsaved >= nPassages * LEAST_PART;
  }

  note(collection: Collection, { origin, refusal }: OpenedIndex): void {
    this.#metrics.opened.with({ origin }).add();
    if (refusal === undefined) return;
    this.#log.warn('the kept index of a knowledge base is not used: it is made anew from what is stored', {
      base: collection.id,
      folder: this.placeOf(collection).folder,
      reason: refusal,
    });
  }

  noteFailure(collection: Collection, work: 'kept' | 'rebuilt', error: unknown): void {
    this.#metrics.failures.with({ work }).add();
    this.#log.warn(`the index of a knowledge base could not be ${work}; it goes on serving from memory`, {
      base: collection.id,
      folder: this.placeOf(collection).folder,
      reason: String(error),
      remedy:
        'See that data_dir can be written and the disk has room. Without a kept index, a start reads the whole base from the database.',
    });
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  async remove(collection: Collection): Promise<void> {
    await rm(this.placeOf(collection).folder, { recursive: true, force: true });
  }

  /** Of these, those that are saved and have something to open; what is saved of others is removed. */
  async listSaved<O extends { readonly collection: Collection }>(all: readonly O[]): Promise<O[]> {
    const byId = new Map(all.map((one) => [one.collection.id, one]));
    const names = (await readdir(this.#folder)).filter((name) => FOLDER_NAME.test(name));
    for (const name of names) if (!byId.has(name)) await rm(join(this.#folder, name), { recursive: true, force: true });
    return names.flatMap((name) => byId.get(name) ?? []);
  }
}
