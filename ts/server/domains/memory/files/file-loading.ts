/** Loads memory files: imported, what is in one becomes memories of those who load it; attached, what it has of the tenant is searched beside them. */
import type { Principal } from '../../../platform/http/principal.ts';
import { scopeOf } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type Embedders, type EmbeddingSource, retrievalErrors } from '../../retrieval/index.ts';
import { indexedText } from '../collections.ts';
import { FILE, type MemoryCollection, ownerOf, TENANT } from '../memory.ts';
import type { NewMemory } from '../memory-rows.ts';
import { MAX_TEXT } from '../schemas.ts';
import { holdsSecret, readStatement, textHash } from '../statement.ts';
import type { MemoryStore } from '../store.ts';
import { type FiledMemory, type FiledVectors, OWNED_KINDS, ownerOfSection } from './filed-memories.ts';
import { type MemoryFiles, sectionId } from './memory-files.ts';

/** A load says here how it ended. */
export interface Loaded {
  readonly file: string;
  readonly sections: readonly string[];
  /** Memories that are there now and were not before. */
  readonly loaded: number;
  readonly skipped: readonly { readonly section: string; readonly reason: string }[];
}

interface FileLoadingOptions {
  readonly files: Pick<MemoryFiles, 'read'>;
  readonly store: Pick<MemoryStore, 'addEach' | 'wordsThere' | 'collections' | 'openCollection' | 'replaceOwner' | 'eraseOwner'>;
  readonly embedders: Pick<Embedders, 'choose' | 'embed'>;
  readonly search: {
    follow(scope: TenantScope, collection: MemoryCollection): void;
    remove(collection: MemoryCollection): Promise<void>;
  };
  readonly requireTenantWriter: (caller: Principal) => void;
  readonly most: number;
  readonly now: () => number;
}

interface Binding {
  readonly model: string;
  readonly source: EmbeddingSource;
  readonly prefixes: string;
}

/** So many texts are embedded at a time, and so many memories are written in one transaction: other writers wait for no more. */
const BATCH = 64;
/** So many vectors of a file are made again, to see that they are of the model that the file names. */
const PROBES = 8;
const LEAST_COSINE = 0.98;

const SECRET = 'hold a secret';
const LONG = `are longer than ${MAX_TEXT} characters`;
const THERE = 'are there already';

export class FileLoading {
  readonly #options: FileLoadingOptions;

  constructor(options: FileLoadingOptions) {
    this.#options = options;
  }

  /**
   * Every text is embedded again, since a vector of a file could be near to anything. What is there already, superseded memories among them, stays as it is,
   * so that a load that was interrupted is repeated. Throws `memory_file_not_found`, `memory_file_invalid` and what embedding throws.
   */
  async import(caller: Principal, file: string, signal: AbortSignal): Promise<Loaded> {
    const scope = scopeOf(caller);
    const own = ownerOf(caller);
    const { sections, parts } = await this.#options.files.read(scope, file, [own, TENANT], signal);
    const skipped: { section: string; reason: string }[] = [];
    for (const section of sections)
      if (section.kind !== 'episodes')
        skipped.push({ section: sectionId(caller, section), reason: whyNotImported(section.kind) });
    let loaded = 0;
    for (const { name, memories } of parts) {
      const section = { kind: 'episodes', name } as const;
      const owner = ownerOfSection(section) === TENANT ? TENANT : own;
      const refusal = owner === TENANT ? this.#refusalOf(caller) : undefined;
      const { loaded: n, reasons } =
        refusal === undefined ? await this.#import(scope, owner, memories, signal) : { loaded: 0, reasons: [refusal] };
      loaded += n;
      for (const reason of reasons) skipped.push({ section: sectionId(caller, section), reason });
    }
    return { file, sections: sections.map((section) => sectionId(caller, section)), loaded, skipped };
  }

  /** Takes the place of what was attached of the file before. Throws `tenant_memory_denied`, and what fill() throws. */
  async attach(caller: Principal, file: string, signal: AbortSignal): Promise<Loaded> {
    this.#options.requireTenantWriter(caller);
    return await this.fill(scopeOf(caller), `${FILE}${file}`, file, signal);
  }

  /** Nothing of the file is searched any more. */
  async detach(scope: TenantScope, owner: string): Promise<void> {
    for (const collection of await this.#options.store.eraseOwner(scope, owner)) await this.#options.search.remove(collection);
  }

  /** The owner has what the file has of the tenant, and nothing else. Throws `embedding_dimension_mismatch` besides what import() throws. */
  async fill(scope: TenantScope, owner: string, file: string, signal: AbortSignal): Promise<Loaded> {
    const { files, store, search, now } = this.#options;
    const { sections, parts } = await files.read(scope, file, [TENANT], signal);
    const skipped = sections
      .filter(({ kind }) => kind !== 'episodes' && kind !== 'vectors')
      .map(({ kind, name }) => ({ section: `${kind}:${name}`, reason: 'Memories of the tenant alone are attached.' }));
    const binding = await this.#bindingOf(scope, parts, signal);
    const at = now();
    const drafts = new Map<string, NewMemory>();
    for (const { name, memories, vectors } of parts) {
      const { fit, reasons } = fitting(memories);
      for (const reason of reasons) skipped.push({ section: `episodes:${name}`, reason });
      const missing = fit.filter(({ id }) => !vectors?.byId.has(id));
      const made = await this.#embedAll(scope, binding, missing, signal);
      for (const memory of fit) {
        const embedding = vectors?.byId.get(memory.id) ?? made.get(memory.id);
        if (embedding !== undefined) drafts.set(memory.id, draftOf(memory, embedding, at));
      }
    }
    const { collection, replaced } = await store.replaceOwner(scope, owner, binding, [...drafts.values()]);
    for (const old of replaced) await search.remove(old);
    search.follow(scope, collection);
    return { file, sections: sections.map(({ kind, name }) => `${kind}:${name}`), loaded: drafts.size, skipped };
  }

  #refusalOf(caller: Principal): string | undefined {
    try {
      this.#options.requireTenantWriter(caller);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #import(scope: TenantScope, owner: string, memories: readonly FiledMemory[], signal: AbortSignal) {
    const { store, embedders, search, most } = this.#options;
    const { fit, reasons } = fitting(memories);
    if (fit.length === 0) return { loaded: 0, reasons };
    const [there] = await store.collections({ ...scope, owners: [owner] });
    const collection = there ?? (await store.openCollection(scope, owner, await embedders.choose()));
    let loaded = 0;
    let nThere = 0;
    try {
      for (let at = 0; at < fit.length; at += BATCH) {
        signal.throwIfAborted();
        const batch = fit.slice(at, at + BATCH);
        const drafts = await this.#drafts(scope, collection, batch, signal);
        const added = drafts.length === 0 ? [] : await store.addEach(scope, collection, drafts, most);
        const nNew = added.filter((each) => each !== 'full' && each.isNew).length;
        loaded += nNew;
        if (added.includes('full')) {
          const left = counted(fit.length - loaded - nThere, `were left, since ${most} are kept at most`);
          return { loaded, reasons: [...reasons, left] };
        }
        nThere += batch.length - nNew;
      }
    } finally {
      if (loaded > 0) search.follow(scope, collection);
    }
    return { loaded, reasons: nThere === 0 ? reasons : [...reasons, counted(nThere, THERE)] };
  }

  /** Only what is not there yet is embedded. */
  async #drafts(scope: TenantScope, collection: MemoryCollection, memories: readonly FiledMemory[], signal: AbortSignal) {
    const { store, now } = this.#options;
    const hashes = memories.map(({ text, subject }) => textHash(text, subject));
    const there = await store.wordsThere(scope, collection, hashes);
    const fresh = memories.filter(({ kind }, i) => !there.has(`${kind} ${hashes[i]}`));
    if (fresh.length === 0) return [];
    const embeddings = await this.#embed(scope, collection, fresh, signal);
    return fresh.map((memory, i) => draftOf(memory, embeddings[i] ?? new Float32Array(0), now()));
  }

  /** The model of the file's vectors, where it has some and they are of a model of this node; else that of new memories. */
  async #bindingOf(
    scope: TenantScope,
    parts: readonly { readonly memories: readonly FiledMemory[]; readonly vectors: FiledVectors | undefined }[],
    signal: AbortSignal,
  ): Promise<Binding> {
    const filed = parts.flatMap(({ memories, vectors }) => (vectors === undefined ? [] : [{ memories, vectors }]));
    const [first] = filed;
    if (first === undefined) return await this.#options.embedders.choose();
    const { model, dimensions } = first.vectors;
    const binding = await this.#options.embedders.choose(model).catch(() => undefined);
    if (binding === undefined) throw mismatch(`The file was embedded by ${model}, which is not here.`);
    for (const { memories, vectors } of filed) {
      const isSame = vectors.model === model && vectors.dimensions === dimensions && vectors.prefixes === binding.prefixes;
      const probes = memories.filter(({ id }) => vectors.byId.has(id)).slice(0, PROBES);
      const made = isSame ? await this.#embed(scope, boundTo(binding), probes, signal) : [];
      const isMade = probes.every(({ id }, i) => cosine(vectors.byId.get(id), made[i]) >= LEAST_COSINE);
      if (!isSame || !isMade)
        throw mismatch(`The vectors of the file are not those that ${model} makes here of its texts; import it instead.`);
    }
    return binding;
  }

  async #embedAll(scope: TenantScope, binding: Binding, memories: readonly FiledMemory[], signal: AbortSignal) {
    const made = new Map<string, Float32Array>();
    for (let at = 0; at < memories.length; at += BATCH) {
      const batch = memories.slice(at, at + BATCH);
      const vectors = await this.#embed(scope, boundTo(binding), batch, signal);
      for (const [i, { id }] of batch.entries()) made.set(id, vectors[i] ?? new Float32Array(0));
    }
    return made;
  }

  async #embed(
    { tenant }: TenantScope,
    binding: Parameters<Embedders['embed']>[0],
    memories: readonly FiledMemory[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const texts = memories.map(({ text, subject }) => indexedText(text, subject));
    // Chats of the tenant go first: a file may have thousands.
    const options = { tenant, signal, isBackground: true };
    return (await this.#options.embedders.embed(binding, 'passage', texts, options)).vectors;
  }
}

function boundTo({ model, source, prefixes }: Binding): Parameters<Embedders['embed']>[0] {
  return { embeddingModel: model, embeddingSource: source, prefixes, dimensions: undefined };
}

function mismatch(sentence: string) {
  return retrievalErrors.error('embedding_dimension_mismatch', sentence, { param: 'file' });
}

function whyNotImported(kind: string): string {
  if (kind === 'vectors') return 'Vectors are made again of the texts.';
  return OWNED_KINDS.some((each) => each === kind)
    ? 'A dream learns slots again of the memories.'
    : 'It is used where it lies: name the file.';
}

function draftOf({ kind, text, subject, validFrom, validTo }: FiledMemory, embedding: Float32Array, at: number): NewMemory {
  return {
    kind,
    text,
    subject,
    textHash: textHash(text, subject),
    attribute: readStatement(text, subject).attribute,
    origin: { type: 'import', at },
    trust: 'imported',
    validFrom: Math.min(validFrom, at),
    validTo,
    recordedAt: at,
    embedding,
  };
}

/** Those that may be remembered, and why others may not. */
function fitting(memories: readonly FiledMemory[]): { fit: FiledMemory[]; reasons: string[] } {
  const short = memories.filter(({ text }) => text.length <= MAX_TEXT);
  const fit = short.filter(({ text, subject }) => !holdsSecret(`${subject ?? ''} ${text}`));
  const [nLong, nSecret] = [memories.length - short.length, short.length - fit.length];
  const reasons = [...(nLong > 0 ? [counted(nLong, LONG)] : []), ...(nSecret > 0 ? [counted(nSecret, SECRET)] : [])];
  return { fit, reasons };
}

function counted(n: number, what: string): string {
  return `Memories that ${what}: ${n}.`;
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return -1;
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
