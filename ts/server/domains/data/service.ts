/** Knowledge bases of a tenant: made, listed, filled, asked and removed. Throws KnowledgeError and StorageError. */
import { setTimeout as wait } from 'node:timers/promises';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { CollectionSearch, Embedders, Question, TextFormat } from '../retrieval/index.ts';
import { knowledgeError, namespaceNotFound } from './errors.ts';
import { type AddOutcome, type DocumentLabel, type Ingestion, requireText } from './ingest/ingestion.ts';
import type {
  DocumentFilter,
  KnowledgeBase,
  KnowledgePassage,
  ListedBase,
  PassageResult,
  StoredDocument,
} from './knowledge-base.ts';
import { newBaseId } from './store/base-id.ts';
import type { BaseStore } from './store/base-store.ts';
import type { ChunkStore, Leftover } from './store/chunk-store.ts';
import type { DocumentPage, DocumentStore } from './store/document-store.ts';
import { freeSource } from './store/free-source.ts';
import { STORED_KINDS } from './stored-kinds.ts';
import { namespaceOf } from './vector-stores/namespace-of.ts';

interface TextToAdd extends DocumentLabel {
  readonly namespace: string;
  readonly text: string;
  readonly format?: TextFormat | undefined;
  readonly embeddingModel?: string | undefined;
}

/** A base to fill. */
export interface FilledBase {
  readonly base: KnowledgeBase;
  /** Where the base was made for it: what is to be known of the embedding model that was chosen. */
  readonly note: string | undefined;
}

/** A stretch of a document's stored text. */
interface DocumentText {
  /** Where it begins in the whole text, UTF-16 code units. */
  readonly start: number;
  readonly text: string;
  /** The place behind it, where the next one begins; undefined at the end. */
  readonly next: number | undefined;
}

export interface WantedStore {
  /** As it is shown. */
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly expiresDays?: number | undefined;
}

export interface KeptFiles {
  readonly count: number;
  /** The newest of them. */
  readonly files: readonly { readonly namespace: string; readonly document: StoredDocument }[];
}

interface ServiceOptions {
  readonly bases: BaseStore;
  readonly documents: DocumentStore;
  readonly chunks: ChunkStore;
  readonly embedders: Embedders;
  readonly ingestion: Ingestion;
  readonly collections: CollectionSearch<KnowledgeBase, KnowledgePassage, DocumentFilter>;
  /** Of one tenant. */
  readonly maxBases: number;
  /** Rows that nobody sees any more can be removed. */
  onRemoved(): void;
  /** The bytes of a file may be needed no more. */
  onUnused(tenant: string, sha256: string): Promise<void>;
}

const REBUILD_WAIT_MS = 20_000;
const TEXT_CHUNKS = 200;
const AROUND_CHUNKS = 5;
const CHUNKS_BEFORE = 2;

export class KnowledgeService {
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  async list(scope: TenantScope): Promise<ListedBase[]> {
    return await this.#options.bases.list(scope);
  }

  async get(scope: TenantScope, namespace: string): Promise<KnowledgeBase> {
    const base = await this.find(scope, namespace);
    if (base === undefined) throw namespaceNotFound(namespace);
    return base;
  }

  async find(scope: TenantScope, namespace: string): Promise<KnowledgeBase | undefined> {
    return await this.#options.bases.find(scope, namespace);
  }

  async create(scope: TenantScope, namespace: string, embeddingModel?: string): Promise<KnowledgeBase> {
    if ((await this.#options.bases.find(scope, namespace)) !== undefined) throw namespaceExists(namespace);
    const { base, isNew } = await this.#insert(scope, namespace, embeddingModel);
    if (!isNew) throw namespaceExists(namespace);
    return base;
  }

  /** A base for files that are attached to it. Its name may be taken, or be none for a base: then it is named alike. */
  async createStore(scope: TenantScope, wanted: WantedStore, isAllowed: (namespace: string) => boolean): Promise<KnowledgeBase> {
    const { model, source, prefixes } = await this.#options.embedders.choose();
    const id = newBaseId();
    const name = namespaceOf(wanted.title) ?? id;
    if (!isAllowed(name)) throw namespaceNotFound(name);
    const { bases, maxBases } = this.#options;
    for (;;) {
      const namespace = await freeSource(name, async (one) => isAllowed(one) && (await bases.find(scope, one)) === undefined);
      const made = { namespace, id, embeddingModel: model, embeddingSource: source, prefixes, createdAt: Date.now(), ...wanted };
      const { base, isNew } = await bases.insert(scope, made, maxBases);
      if (isNew) return base;
    }
  }

  /** By its name, or by its id of OpenAI's routes. */
  async findBase(scope: TenantScope, nameOrId: string): Promise<KnowledgeBase | undefined> {
    const { bases } = this.#options;
    return (await bases.find(scope, nameOrId)) ?? (await bases.findById(scope, nameOrId));
  }

  /** Files that are kept and that no search finds, of all the bases. */
  async listKept(scope: TenantScope, bases: readonly KnowledgeBase[], limit: number): Promise<KeptFiles> {
    const { documents } = this.#options;
    const lists = await Promise.all(bases.map((base) => documents.listKept(scope, base, STORED_KINDS, limit)));
    const files = lists.flatMap((list, i) =>
      list.documents.map((document) => ({ namespace: bases[i]?.namespace ?? '', document })),
    );
    return { count: lists.reduce((sum, { count }) => sum + count, 0), files: files.slice(0, limit) };
  }

  /** A base that is not there is made. */
  async addText(scope: TenantScope, added: TextToAdd, signal: AbortSignal): Promise<AddOutcome & Pick<FilledBase, 'note'>> {
    const { namespace, text, format, embeddingModel, ...label } = added;
    requireText(text);
    const { base, note } = await this.baseFor(scope, namespace, embeddingModel);
    const outcome = await this.#options.ingestion.addText(scope, base, label, text, format, signal);
    this.#options.onRemoved();
    return { ...outcome, note };
  }

  /** The base to fill, made if it is not there. Throws `embedding_dimension_mismatch` when it is bound to another model. */
  async baseFor(scope: TenantScope, namespace: string, embeddingModel?: string): Promise<FilledBase> {
    const there = await this.#options.bases.find(scope, namespace);
    const { base, isNew } =
      there === undefined ? await this.#insert(scope, namespace, embeddingModel) : { base: there, isNew: false };
    const note = isNew && embeddingModel === undefined ? this.#options.embedders.noteOn(base.embeddingModel) : undefined;
    if (embeddingModel === undefined || embeddingModel === base.embeddingModel) return { base, note };
    const { model } = await this.#options.embedders.choose(embeddingModel);
    if (model === base.embeddingModel) return { base, note };
    throw knowledgeError(
      'embedding_dimension_mismatch',
      `The knowledge base ${JSON.stringify(namespace)} is bound to ${base.embeddingModel}, and vectors of ${model} cannot be compared with its own.`,
      { param: 'embedding_model' },
    );
  }

  async remove(scope: TenantScope, namespace: string): Promise<void> {
    if (!(await this.removeIfThere(scope, namespace))) throw namespaceNotFound(namespace);
    this.#options.onRemoved();
  }

  /** With its index; its rows go with the next sweep. False: it is gone. */
  async removeIfThere(scope: TenantScope, namespace: string): Promise<boolean> {
    const base = await this.find(scope, namespace);
    return base !== undefined && (await this.removeBase(scope, base));
  }

  /** The same of a base that was found. */
  async removeBase(scope: TenantScope, base: KnowledgeBase): Promise<boolean> {
    if (!(await this.#options.bases.remove(scope, base))) return false;
    await this.#options.collections.remove(base);
    return true;
  }

  async listDocuments(scope: TenantScope, namespace: string, page: DocumentPage): Promise<StoredDocument[]> {
    return await this.#options.documents.list(scope, await this.get(scope, namespace), page);
  }

  async getDocument(scope: TenantScope, namespace: string, id: string): Promise<StoredDocument> {
    const document = await this.#options.documents.find(scope, await this.get(scope, namespace), id);
    if (document === undefined) throw documentNotFound(id);
    return document;
  }

  /** The stored text, to which the places of passages refer, from the passage `seq` on. */
  async readText(scope: TenantScope, document: StoredDocument, seq: number, limit = TEXT_CHUNKS): Promise<DocumentText> {
    const rows = await this.#options.chunks.readText(scope, document.no, seq, limit + 1);
    const shown = rows.slice(0, limit);
    let text = '';
    const start = shown[0]?.text_start ?? 0;
    for (const row of shown) {
      const behind = start + text.length;
      // Passages overlap; between two that do not, there was white space only.
      text += row.text_start > behind ? '\n'.repeat(row.text_start - behind) + row.text : row.text.slice(behind - row.text_start);
    }
    return { text, start, next: rows.length > limit ? seq + limit : undefined };
  }

  /** The passages before and behind a place of the stored text, and the one that it stands in. */
  async readAround(scope: TenantScope, document: StoredDocument, place: number): Promise<DocumentText> {
    const seq = await this.#options.chunks.seqAt(scope, document.no, place);
    return await this.readText(scope, document, Math.max(0, seq - CHUNKS_BEFORE), AROUND_CHUNKS);
  }

  /** Gone from every answer that begins from now on. */
  async removeDocument(scope: TenantScope, namespace: string, id: string): Promise<void> {
    await this.removeDocumentOf(scope, await this.get(scope, namespace), id);
  }

  async removeDocumentOf(scope: TenantScope, base: KnowledgeBase, id: string): Promise<void> {
    const { documents, onRemoved, onUnused } = this.#options;
    const document = await documents.find(scope, base, id);
    if (document === undefined || (await documents.retire(scope, base, id, Date.now())) === undefined) throw documentNotFound(id);
    onRemoved();
    await onUnused(scope.tenant, document.sha256);
  }

  async listLeftovers(scope: TenantScope, namespace: string): Promise<Leftover[]> {
    return await this.#options.chunks.listLeftovers(scope, await this.get(scope, namespace));
  }

  /** Each base must be there. */
  async search(scope: TenantScope, namespaces: readonly string[], question: Question<DocumentFilter>): Promise<PassageResult[]> {
    const found = await Promise.all([...new Set(namespaces)].map((namespace) => this.get(scope, namespace)));
    return await this.searchBases(scope, found, question);
  }

  async searchBases(
    scope: TenantScope,
    found: readonly KnowledgeBase[],
    question: Question<DocumentFilter>,
  ): Promise<PassageResult[]> {
    await this.#options.bases.touch(scope, found, Date.now());
    return await this.#options.collections.search(scope, found, question);
  }

  /**
   * Makes the index anew from what is stored, while the one that is there serves. What takes long goes on in the background: then
   * `isRebuilding`, and whoever asks again waits for the same. Recordings that nothing could hear before are heard by jobs.
   */
  async rebuild(
    scope: TenantScope,
    namespace: string,
    owner: string | undefined,
  ): Promise<{ base: ListedBase; isRebuilding: boolean }> {
    const base = await this.get(scope, namespace);
    await this.#options.ingestion.hearAgain(scope, base, owner);
    const isDone = await endsWithin(this.#options.collections.rebuild(scope, base), REBUILD_WAIT_MS);
    const listed = (await this.list(scope)).find(({ no }) => no === base.no);
    if (listed === undefined) throw namespaceNotFound(namespace);
    return { base: listed, isRebuilding: !isDone };
  }

  async #insert(scope: TenantScope, namespace: string, embeddingModel: string | undefined) {
    const { model, source, prefixes } = await this.#options.embedders.choose(embeddingModel);
    const base = { namespace, embeddingModel: model, embeddingSource: source, prefixes, createdAt: Date.now() };
    return await this.#options.bases.insert(scope, base, this.#options.maxBases);
  }
}

/** Throws what the work throws within that time; what it throws later is for whoever waits longer. */
async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const timer = wait(ms, false, { signal: late.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), timer]);
  } finally {
    late.abort();
  }
}

function namespaceExists(namespace: string) {
  return knowledgeError('namespace_exists', `There is a knowledge base named ${JSON.stringify(namespace)} already.`, {
    param: 'namespace',
  });
}

export function documentNotFound(id: string): Error {
  return knowledgeError(
    'document_not_found',
    `The knowledge base has no document ${JSON.stringify(id.slice(0, 80))}; it may have been deleted.`,
  );
}
