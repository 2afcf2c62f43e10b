/** What is in memory of one collection: its terms and its vectors. Passages are numbered by slots as they come. */
import { termVector, unpackTerms } from '../terms/term-vector.ts';
import { FlatVectors } from './flat-vectors.ts';
import { fuse, SlotSet } from './fusion.ts';
import type { DocumentColumns, IndexHit, IndexPassage, IndexQuery } from './index-messages.ts';
import { LexicalIndex } from './lexical-index.ts';
import type { IndexParts } from './saved-index.ts';
import { type CreateVectors, canBeSaved, type SavableVectors, type VectorIndex } from './vector-index.ts';

const CANDIDATES = 100;
const LEAST_SPARSE = 10_000;

export class PassageIndex {
  #lexical = new LexicalIndex();
  #vectors: VectorIndex | undefined;
  /** By slot. */
  readonly #documents: number[] = [];
  readonly #seqs: number[] = [];
  readonly #slotsOf = new Map<number, number[]>();
  /** What tells a document from others that had its number. */
  readonly #markOf = new Map<number, number>();
  #nDead = 0;
  readonly #createVectors: CreateVectors;

  constructor(createVectors: CreateVectors = () => undefined) {
    this.#createVectors = createVectors;
  }

  /** What `parts()` gave, with the vectors that were saved with it. Throws RangeError for parts that no index has. */
  static restored(parts: IndexParts, vectors: SavableVectors | undefined, createVectors: CreateVectors): PassageIndex {
    const index = new PassageIndex(createVectors);
    const { documents, seqs, numbers, marks, lexical } = parts;
    index.#lexical = LexicalIndex.restored(lexical);
    for (let i = 0; i < numbers.length; i++) index.#markOf.set(numbers[i] ?? 0, marks[i] ?? 0);
    for (let slot = 0; slot < documents.length; slot++) {
      index.#documents.push(documents[slot] ?? 0);
      index.#seqs.push(seqs[slot] ?? 0);
      if (lexical.isLive[slot] === 1) index.#noteSlot(documents[slot] ?? 0, slot);
      else index.#nDead += 1;
    }
    // Vectors were written a moment later.
    for (const slot of vectors?.ids() ?? []) if (slot >= documents.length || lexical.isLive[slot] !== 1) vectors?.remove(slot);
    index.#vectors = vectors;
    return index;
  }

  get sizeBytes(): number {
    return this.#lexical.sizeBytes + (this.#vectors?.sizeBytes ?? 0) + 64 * this.#documents.length;
  }

  get nPassages(): number {
    return this.#documents.length - this.#nDead;
  }

  /** Most slots stand for nothing any more: loading the collection again would free them. */
  get isSparse(): boolean {
    return this.#nDead > Math.max(LEAST_SPARSE, this.#documents.length / 2);
  }

  /** Undefined: there are none, or they cannot be saved. */
  get savableVectors(): SavableVectors | undefined {
    return this.#vectors !== undefined && canBeSaved(this.#vectors) ? this.#vectors : undefined;
  }

  /** False: its vectors are of a kind that has no files. */
  get canBeSaved(): boolean {
    return this.#vectors === undefined || canBeSaved(this.#vectors);
  }

  /** What is to be saved beside the vectors, as it is now. */
  parts(): IndexParts {
    return {
      documents: Float64Array.from(this.#documents),
      seqs: Uint32Array.from(this.#seqs),
      numbers: Float64Array.from(this.#markOf.keys()),
      marks: Float64Array.from(this.#markOf.values()),
      lexical: this.#lexical.parts(),
    };
  }

  add(passages: readonly IndexPassage[]): void {
    const indexed = passages.map((passage) => {
      const slot = this.#documents.push(passage.documentNo) - 1;
      this.#seqs.push(passage.seq);
      this.#noteSlot(passage.documentNo, slot);
      if (passage.mark !== undefined) this.#markOf.set(passage.documentNo, passage.mark);
      this.#addVector(slot, passage.vector);
      return { slot, terms: unpackTerms(passage.terms) ?? termVector(passage.text ?? '') };
    });
    this.#lexical.add(indexed);
  }

  /** Does a slice of what keeps searches quick after additions. False: nothing is left to be done. */
  mergeSome(): boolean {
    return this.#lexical.mergeSome();
  }

  remove(documentNos: readonly number[]): void {
    for (const documentNo of documentNos) {
      const slots = this.#slotsOf.get(documentNo) ?? [];
      this.#slotsOf.delete(documentNo);
      this.#markOf.delete(documentNo);
      this.#lexical.remove(slots);
      for (const slot of slots) this.#vectors?.remove(slot);
      this.#nDead += slots.length;
    }
  }

  /** Removes what is none of these, or not whole; returns the documents that are not there. */
  reconcile({ numbers, marks, counts }: DocumentColumns): number[] {
    const there = new Set<number>();
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] ?? 0;
      const isWhole = this.#slotsOf.get(number)?.length === counts[i];
      if (isWhole && this.#markOf.get(number) === marks[i]) there.add(number);
    }
    this.remove([...this.#slotsOf.keys()].filter((number) => !there.has(number)));
    return [...numbers].filter((number) => !there.has(number));
  }

  search({ question, vector, k, documents, ...weights }: IndexQuery): IndexHit[] {
    const isUsable = vector !== undefined && vector.length === this.#vectors?.dimensions;
    const dense = isUsable && this.#vectors !== undefined ? { index: this.#vectors, query: vector } : undefined;
    const allowed = documents === undefined ? undefined : this.#slotsIn(documents);
    const nCandidates = Math.max(k, CANDIDATES);
    const hits = fuse(this.#lexical.search(question), dense, { ...weights, k, nCandidates, allowed });
    return hits.map(({ slot, ...hit }) => ({ documentNo: this.#documents[slot] ?? 0, seq: this.#seqs[slot] ?? 0, ...hit }));
  }

  close(): void {
    this.#vectors?.close();
    this.#vectors = undefined;
  }

  #slotsIn(documentNos: readonly number[]): SlotSet {
    return new SlotSet(
      this.#documents.length,
      documentNos.flatMap((documentNo) => this.#slotsOf.get(documentNo) ?? []),
    );
  }

  #noteSlot(documentNo: number, slot: number): void {
    const slots = this.#slotsOf.get(documentNo);
    if (slots === undefined) this.#slotsOf.set(documentNo, [slot]);
    else slots.push(slot);
  }

  /** A collection has vectors of one model, so others would be a defect; they are left out. */
  #addVector(slot: number, vector: Float32Array | undefined): void {
    if (vector === undefined || vector.length === 0) return;
    this.#vectors ??= this.#createVectors(vector.length) ?? new FlatVectors(vector.length);
    if (vector.length === this.#vectors.dimensions) this.#vectors.add(slot, vector);
  }
}
