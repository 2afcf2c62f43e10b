/** The service does what can be done with memories: they are added, corrected, searched and forgotten by those whose they are. */
import { hasRole, type Principal, type Role, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { CollectionSearch, Embedders } from '../retrieval/index.ts';
import { indexedText, type MemoryFilter } from './collections.ts';
import { memoryError, memoryNotFound } from './errors.ts';
import {
  type FoundMemory,
  type Memory,
  type MemoryChange,
  type MemoryCollection,
  type MemoryHit,
  type MemoryKind,
  type MemoryState,
  type Origin,
  ownerOf,
  type RecallBounds,
  readerOf,
  TENANT,
} from './memory.ts';
import { holdsSecret, readStatement, statedDate, textHash } from './statement.ts';
import type { MemoryStore } from './store.ts';

interface MemoryDraft {
  readonly text: string;
  readonly kind: MemoryKind;
  readonly subject: string | undefined;
  readonly isOfTenant: boolean;
  /** The statement holds from then on; undefined: as the text says, else from now on. */
  readonly validFrom: number | undefined;
  readonly origin: Origin;
}

/** The draft is kept for an owner, who has let it be done or done it. */
type KeptDraft = Omit<MemoryDraft, 'isOfTenant'>;

interface MemoryChanges {
  readonly text?: string | undefined;
  readonly kind?: MemoryKind | undefined;
  /** Null: none. */
  readonly subject?: string | null | undefined;
  readonly validFrom?: number | undefined;
  readonly validTo?: number | null | undefined;
  readonly isPinned?: boolean | undefined;
}

interface MemoryQuestion extends RecallBounds {
  readonly text: string;
  readonly signal: AbortSignal;
  /** Called when the question is embedded for every collection that is searched. */
  readonly onEmbedded?: () => void;
}

interface MemoryServiceOptions {
  readonly store: MemoryStore;
  readonly search: Pick<CollectionSearch<MemoryCollection, FoundMemory, MemoryFilter>, 'search' | 'follow' | 'remove'>;
  readonly embedders: Pick<Embedders, 'choose' | 'embed'>;
  /** The collection that is searched for everybody; undefined: none is. */
  readonly master: () => Promise<{ readonly scope: TenantScope; readonly collection: MemoryCollection } | undefined>;
  /** Least role that changes memories of the tenant. */
  readonly tenantWriters: Role;
  readonly most: number;
  readonly now: () => number;
}

/** Memories that are gone, and their owner. */
interface Forgotten {
  readonly owner: string;
  readonly ids: readonly string[];
}

/** A search finds so many where nothing else is said. */
export const DEFAULT_MAX = 10;

export class MemoryService {
  readonly #options: MemoryServiceOptions;

  constructor(options: MemoryServiceOptions) {
    this.#options = options;
  }

  async add(caller: Principal, draft: MemoryDraft, signal: AbortSignal): Promise<Memory> {
    if (draft.isOfTenant) this.requireTenantWriter(caller);
    requireNoSecret(`${draft.subject ?? ''} ${draft.text}`);
    return await this.keep(scopeOf(caller), draft.isOfTenant ? TENANT : ownerOf(caller), draft, signal);
  }

  /** A text that says when (“yesterday”) is meant from the date of its origin. Throws `memories_full`. */
  async keep(scope: TenantScope, owner: string, draft: KeptDraft, signal: AbortSignal): Promise<Memory> {
    const { store, embedders, search, most, now } = this.#options;
    const [there] = await store.collections({ ...scope, owners: [owner] });
    const collection = there ?? (await store.openCollection(scope, owner, await embedders.choose()));
    const words = await this.words(scope.tenant, collection, draft.text, draft.subject, signal);
    const recordedAt = now();
    const { kind, origin } = draft;
    const validFrom = draft.validFrom ?? statedDate(draft.text, origin.at) ?? origin.at;
    const row = { ...words, kind, origin, trust: 'stated', validFrom, recordedAt } as const;
    const added = await store.add(scope, collection, row, most);
    if (added === 'full') throw memoryError('memories_full', `There are ${most} memories, and no more are kept.`);
    search.follow(scope, collection);
    return added.memory;
  }

  async list(caller: Principal, page: { states: readonly MemoryState[]; after: string; limit: number }): Promise<Memory[]> {
    return await this.#options.store.list(readerOf(caller), page);
  }

  /** Throws `memory_not_found`. */
  async get(caller: Principal, id: string): Promise<{ memory: Memory; history: MemoryChange[] }> {
    const memory = await this.#find(caller, id);
    return { memory, history: await this.#options.store.history(scopeOf(caller), memory) };
  }

  /** Throws `memory_not_found` and `memory_changed`. */
  async change(caller: Principal, id: string, wanted: MemoryChanges, signal: AbortSignal): Promise<Memory> {
    const { store, search, now } = this.#options;
    const memory = await this.#findOwn(caller, id);
    const collection = await this.#collectionOf(caller, memory);
    const [text, subject] = [
      wanted.text ?? memory.text,
      wanted.subject === undefined ? memory.subject : (wanted.subject ?? undefined),
    ];
    const isReworded = text !== memory.text || subject !== memory.subject;
    requireNoSecret(`${subject ?? ''} ${text}`);
    const words = isReworded ? await this.words(caller.tenant, collection, text, subject, signal) : undefined;
    const { kind, validFrom, validTo, isPinned } = wanted;
    const [from, to] = [validFrom ?? memory.validFrom, validTo === undefined ? memory.validTo : validTo];
    if (to !== null && to !== undefined && to < from)
      throw memoryError('invalid_request', 'valid_to lies before valid_from.', { param: 'valid_to' });
    const edit = { kind, validFrom, validTo, isPinned, words };
    const changed = await store.edit(scopeOf(caller), collection, memory, edit, Math.max(now(), memory.changedAt + 1));
    if (changed === undefined) throw memoryError('memory_changed', `The memory ${id} was changed meanwhile.`);
    search.follow(scopeOf(caller), collection);
    return changed;
  }

  /** Those that say the same go with it. Throws `memory_not_found`. */
  async forget(caller: Principal, id: string): Promise<Forgotten> {
    const { store, search, now } = this.#options;
    const memory = await this.#findOwn(caller, id);
    const collection = await this.#collectionOf(caller, memory);
    const ids = await store.forget(scopeOf(caller), collection, memory, now());
    if (ids.length === 0) throw memoryNotFound(id);
    search.follow(scopeOf(caller), collection);
    return { owner: memory.owner, ids };
  }

  /** All memories of an account, or of the tenant: an administrator does it. */
  async forgetAll(caller: Principal, owner: string): Promise<Forgotten> {
    const { store, search, now } = this.#options;
    const [collection] = await store.collections({ ...scopeOf(caller), owners: [owner] });
    if (collection === undefined) return { owner, ids: [] };
    const ids = await store.forgetAll(scopeOf(caller), collection, now());
    await search.remove(collection);
    return { owner, ids };
  }

  /** Finds memories of the caller, of the tenant, of attached files and of the master memory, the best first. */
  async search(caller: Principal, question: MemoryQuestion): Promise<MemoryHit[]> {
    const { store, search, master } = this.#options;
    const [own, shared] = await Promise.all([store.searched(readerOf(caller)), master()]);
    const searches = [
      { scope: scopeOf(caller), collections: own },
      ...(shared === undefined ? [] : [{ scope: shared.scope, collections: [shared.collection] }]),
    ].filter(({ collections }) => collections.length > 0);
    let nWaiting = searches.reduce((sum, { collections }) => sum + collections.length, 0);
    const k = question.max ?? DEFAULT_MAX;
    const asked = {
      text: question.text,
      k,
      filter: question.kinds && { kinds: question.kinds },
      // The model that ranks takes longer than a chat should wait.
      isRanked: false,
      signal: question.signal,
      onEmbedded: () => {
        nWaiting -= 1;
        if (nWaiting === 0) question.onEmbedded?.();
      },
    };
    const found = await Promise.all(searches.map(({ scope, collections }) => search.search(scope, collections, asked)));
    // Scores of two searches are not comparable, and how sure each hit is is.
    const hits = found.length < 2 ? found.flat() : found.flat().sort((a, b) => b.relevance - a.relevance);
    return hits.slice(0, k);
  }

  async #find(caller: Principal, id: string): Promise<Memory> {
    const memory = await this.#options.store.find(readerOf(caller), id);
    if (memory === undefined) throw memoryNotFound(id);
    return memory;
  }

  async #findOwn(caller: Principal, id: string): Promise<Memory> {
    const memory = await this.#find(caller, id);
    if (memory.owner === TENANT) this.requireTenantWriter(caller);
    return memory;
  }

  async #collectionOf(caller: Principal, { id, owner }: Memory): Promise<MemoryCollection> {
    const [collection] = await this.#options.store.collections({ ...scopeOf(caller), owners: [owner] });
    if (collection === undefined) throw memoryNotFound(id);
    return collection;
  }

  /** Makes a text what is stored and found. */
  async words(tenant: string, collection: MemoryCollection, text: string, subject: string | undefined, signal: AbortSignal) {
    const options = { tenant, signal };
    const { vectors } = await this.#options.embedders.embed(collection, 'passage', [indexedText(text, subject)], options);
    const { attribute } = readStatement(text, subject);
    return { text, subject, textHash: textHash(text, subject), attribute, embedding: vectors[0] ?? new Float32Array(0) };
  }

  /** The index follows what was changed. */
  follow(scope: TenantScope, collection: MemoryCollection): void {
    this.#options.search.follow(scope, collection);
  }

  /** Throws `tenant_memory_denied`. The caller on a node without accounts is the operator at the machine. */
  requireTenantWriter(caller: Principal): void {
    const { tenantWriters } = this.#options;
    if (caller.kind === 'anonymous' || hasRole(caller, tenantWriters)) return;
    throw memoryError('tenant_memory_denied', `Memories of the tenant need the role ${tenantWriters}.`, {
      extra: { role: tenantWriters },
    });
  }
}

export function requireNoSecret(text: string): void {
  if (!holdsSecret(text)) return;
  throw memoryError(
    'memory_is_secret',
    'The text holds what looks like a password, a key or a token, which is never remembered.',
  );
}
