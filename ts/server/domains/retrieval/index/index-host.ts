/** The part of the index that lives in its thread: all collections that are in memory, and documents on their way into one. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CutSource } from '../passages/cut-source.ts';
import type { IndexOperation, IndexOperations, IndexReply, IndexRequest, IndexSize, OpenedIndex } from './index-messages.ts';
import { PassageIndex } from './passage-index.ts';
import { readSavedIndex, saveIndex } from './saved-index.ts';
import type { CreateVectors, OpenVectors } from './vector-index.ts';

type Output<O extends IndexOperation> = IndexOperations[O]['output'];
type Operations = { [O in IndexOperation]: (input: IndexOperations[O]['input']) => Output<O> | Promise<Output<O>> };

export class IndexHost {
  readonly #indexes = new Map<number, PassageIndex>();
  readonly #cut = new Map<string, CutSource>();
  readonly #storage: OpenVectors;

  constructor(storage: OpenVectors) {
    this.#storage = storage;
  }

  /** Never throws: a failure is an answer too. What need not wait for anything is answered at once. */
  answer({ id, operation, input }: IndexRequest): IndexReply | Promise<IndexReply> {
    try {
      const run = this.#operations[operation] as (
        given: typeof input,
      ) => Output<IndexOperation> | Promise<Output<IndexOperation>>;
      const output = run(input);
      if (!(output instanceof Promise)) return { id, output };
      return output.then(
        (settled) => ({ id, output: settled }),
        (error) => ({ id, failure: textOf(error) }),
      );
    } catch (error) {
      return { id, failure: textOf(error) };
    }
  }

  readonly #operations: Operations = {
    cut: ({ key, source }) => {
      const cut = CutSource.of(source);
      this.#cut.set(key, cut);
      return { nPassages: cut.passages.length, title: cut.title };
    },
    take: ({ key, from, count }) => {
      const cut = this.#cut.get(key);
      if (cut === undefined) throw new Error('the document was released, or never cut');
      return { passages: cut.prepare(from, count) };
    },
    release: ({ key }) => {
      this.#cut.delete(key);
      return {};
    },
    open: (input) => this.#open(input),
    reconcile: ({ key, documents }) => {
      const index = this.#get(key);
      return { missing: index.reconcile(documents), isSparse: index.isSparse };
    },
    add: ({ key, passages }) => {
      const index = this.#get(key);
      index.add(passages);
      return index.mergeSome() ? this.#merge(key, index) : sizeOf(index);
    },
    remove: ({ key, documentNos }) => {
      const index = this.#get(key);
      index.remove(documentNos);
      return { isSparse: index.isSparse };
    },
    drop: ({ key }) => {
      this.#indexes.get(key)?.close();
      this.#indexes.delete(key);
      return {};
    },
    link: async ({ key }) => {
      const index = this.#get(key);
      await index.savableVectors?.link();
      return sizeOf(index);
    },
    save: async ({ key, place }) => {
      const index = this.#get(key);
      if (!index.canBeSaved) return { isSaved: false };
      await index.savableVectors?.link();
      // It may have been dropped meanwhile, and then has its terms without its vectors.
      if (this.#indexes.get(key) !== index) return { isSaved: false };
      await saveIndex(place.folder, place.label, index.parts(), index.savableVectors);
      return { isSaved: true };
    },
    search: ({ key, query }) => ({ hits: this.#indexes.get(key)?.search(query) }),
  };

  /** Between two slices others are answered. */
  async #merge(key: number, index: PassageIndex): Promise<IndexSize> {
    do await nextTurn();
    while (this.#indexes.get(key) === index && index.mergeSome());
    return sizeOf(index);
  }

  async #open({ key, label, saved, documents }: IndexOperations['open']['input']): Promise<OpenedIndex> {
    const create: CreateVectors = (dimensions) => this.#storage.create(dimensions, label);
    const found = saved === undefined ? undefined : await this.#restore(saved.folder, label, create);
    const index = found instanceof PassageIndex ? found : new PassageIndex(create);
    const missing = index.reconcile(documents);
    this.#indexes.set(key, index);
    const opened = { ...sizeOf(index), missing, isSparse: index.isSparse };
    if (typeof found === 'string') return { ...opened, origin: 'refused', refusal: found };
    return { ...opened, origin: found === undefined ? 'new' : 'kept' };
  }

  /** Undefined: nothing was saved. A sentence: why it is not used. */
  async #restore(folder: string, label: string, create: CreateVectors): Promise<PassageIndex | string | undefined> {
    try {
      const saved = await readSavedIndex(folder, label);
      if (saved === undefined) return undefined;
      const { vectors, parts } = saved;
      const opened = vectors && (await this.#storage.open(vectors.path, vectors.dimensions, label));
      return PassageIndex.restored(parts, opened, create);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #get(key: number): PassageIndex {
    const index = this.#indexes.get(key);
    if (index === undefined) throw new Error('the index of the collection is not open');
    return index;
  }
}

function sizeOf(index: PassageIndex): IndexSize {
  return { sizeBytes: index.sizeBytes, nPassages: index.nPassages };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
