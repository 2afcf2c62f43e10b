/** Where indexes are kept, when they are worth it, and what became of them: for the log, the metrics and the health report. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { KeptPlace, OpenedIndex } from '../index/index-messages.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';

/** Fewer are read from the database in no time. */
const LEAST_PASSAGES = 1_000;
/** A part that may be read from the database at a start, so that a growing base is not written again and again. */
const LEAST_PART = 1 / 8;
const FOLDER_NAME = /^vs_[0-9a-f]{32}$/;

export interface KeptIndexesOptions {
  readonly folder: string;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
}

export class KeptIndexes {
  readonly #folder: string;
  readonly #log: Log;
  readonly #opened;
  readonly #failures;

  constructor({ folder, log, metrics }: KeptIndexesOptions) {
    this.#folder = folder;
    this.#log = log;
    this.#opened = metrics.counter(
      'svc_knowledge_indexes_opened_total',
      'Indexes of knowledge bases that were opened, by where they came from: kept, new, or refused (kept, and made anew).',
      ['origin'],
    );
    this.#failures = metrics.counter(
      'svc_knowledge_index_failures_total',
      'Indexes of knowledge bases that could not be kept or rebuilt.',
      ['work'],
    );
  }

  /** What vectors of the base are labelled with in their file. */
  labelOf(base: KnowledgeBase): string {
    return base.publicId;
  }

  placeOf(base: KnowledgeBase): KeptPlace {
    return { folder: join(this.#folder, base.publicId), label: this.labelOf(base) };
  }

  isDue({ nPassages, nUnkept }: { readonly nPassages: number; readonly nUnkept: number }): boolean {
    return nPassages >= LEAST_PASSAGES && nUnkept >= nPassages * LEAST_PART;
  }

  note(base: KnowledgeBase, { origin, refusal }: OpenedIndex): void {
    this.#opened.with({ origin }).add();
    if (refusal === undefined) return;
    this.#log.warn('the kept index of a knowledge base is not used: it is made anew from what is stored', {
      base: base.publicId,
      folder: this.placeOf(base).folder,
      reason: refusal,
    });
  }

  noteFailure(base: KnowledgeBase, work: 'kept' | 'rebuilt', error: unknown): void {
    this.#failures.with({ work }).add();
    this.#log.warn(`the index of a knowledge base could not be ${work}; it goes on serving from memory`, {
      base: base.publicId,
      folder: this.placeOf(base).folder,
      reason: String(error),
      remedy:
        'See that data_dir can be written and the disk has room. Without a kept index, a start reads the whole base from the database.',
    });
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  async remove(base: KnowledgeBase): Promise<void> {
    await rm(this.placeOf(base).folder, { recursive: true, force: true });
  }

  /** Of these, those that are kept, of which there is something to open; what is kept of others is removed. */
  async listKept<B extends { readonly base: KnowledgeBase }>(bases: readonly B[]): Promise<B[]> {
    const byId = new Map(bases.map((one) => [one.base.publicId, one]));
    const names = (await readdir(this.#folder)).filter((name) => FOLDER_NAME.test(name));
    for (const name of names) if (!byId.has(name)) await rm(join(this.#folder, name), { recursive: true, force: true });
    return names.flatMap((name) => byId.get(name) ?? []);
  }
}
