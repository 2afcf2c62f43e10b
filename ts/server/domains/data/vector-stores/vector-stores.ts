/** Knowledge bases as OpenAI's vector stores: found by their ids, and filled with stored files. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { hasEnded, JobError, type Jobs } from '../../../platform/jobs/index.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type BlobStore, documentIdOf } from '../../files/index.ts';
import { knowledgeError } from '../errors.ts';
import type { Ingestion } from '../ingest/ingestion.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { Attributes, KnowledgeBase } from '../knowledge-base.ts';
import type { KnowledgeService, WantedStore } from '../service.ts';
import {
  type AttachCounts,
  type AttachedFile,
  type AttachedPage,
  type AttachedStore,
  CANCELLED_FAILURE,
  LOST_FAILURE,
  noFiles,
} from '../store/attached-store.ts';
import type { BaseChange, BasePage, BaseStore } from '../store/base-store.ts';
import type { FileService } from './file-service.ts';

interface VectorStoresOptions {
  readonly service: KnowledgeService;
  readonly bases: BaseStore;
  readonly attached: AttachedStore;
  readonly ingestion: Pick<Ingestion, 'attach'>;
  readonly files: FileService;
  readonly blobs: Pick<BlobStore, 'find'>;
  readonly access: KnowledgeAccess;
  readonly jobs: Jobs;
  /** Rows that nobody sees any more can be removed. */
  onRemoved(): void;
}

export interface VectorStore {
  readonly base: KnowledgeBase;
  readonly counts: AttachCounts;
  readonly sizeBytes: number;
}

export interface FileToPut {
  readonly fileId: string;
  readonly attributes: Attributes;
  /** The member of the request that names it. */
  readonly param: string;
}

/** A page, by ids instead of what the database orders by. */
type StorePage = Omit<BasePage, 'after' | 'before'> & {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

export class VectorStores {
  readonly #options: VectorStoresOptions;

  constructor(options: VectorStoresOptions) {
    this.#options = options;
  }

  async list(caller: Principal, { after, before, limit, order }: StorePage): Promise<VectorStore[]> {
    const { bases, access } = this.#options;
    const scope = scopeOf(caller);
    const until = before === undefined ? undefined : (await this.get(caller, before, 'before')).no;
    const found: KnowledgeBase[] = [];
    let behind = after === undefined ? undefined : (await this.get(caller, after, 'after')).no;
    // Those that the caller may not use are passed over.
    for (;;) {
      const page = await bases.page(scope, { limit, order, after: behind, before: until });
      found.push(...(await access.usable(caller, page)));
      behind = page.at(-1)?.no;
      if (page.length < limit || found.length >= limit) break;
    }
    return await this.#counted(scope, found.slice(0, limit));
  }

  /** Throws `vector_store_not_found` that names the member of the request that has the id. */
  async get(caller: Principal, id: string, param = 'vector_store_id'): Promise<KnowledgeBase> {
    const base = await this.#options.bases.findById(scopeOf(caller), id);
    const [usable] = base === undefined ? [] : await this.#options.access.usable(caller, [base]);
    if (usable === undefined)
      throw knowledgeError('vector_store_not_found', `No vector store found with id '${id.slice(0, 80).toWellFormed()}'.`, {
        param,
      });
    return usable;
  }

  async show(caller: Principal, id: string): Promise<VectorStore> {
    const [store] = await this.#counted(scopeOf(caller), [await this.get(caller, id)]);
    if (store === undefined) throw new Error('a base was counted away');
    return store;
  }

  async create(caller: Principal, wanted: WantedStore, files: readonly FileToPut[]): Promise<VectorStore> {
    const { service, access } = this.#options;
    access.requireAdding();
    // Unknown files are refused before anything is made.
    for (const file of files) await this.#fileOf(caller, file);
    const base = await service.createStore(scopeOf(caller), wanted, await access.filterOf(caller));
    await this.put(caller, base, files);
    return await this.show(caller, base.id);
  }

  async change(caller: Principal, id: string, change: BaseChange): Promise<VectorStore> {
    await this.#options.bases.change(scopeOf(caller), await this.get(caller, id), change);
    return await this.show(caller, id);
  }

  async remove(caller: Principal, id: string): Promise<void> {
    await this.#options.service.remove(scopeOf(caller), (await this.get(caller, id)).namespace);
  }

  /** Resolves when all of them wait to be indexed. Throws `file_not_found` before any of them does. */
  async put(caller: Principal, base: KnowledgeBase, files: readonly FileToPut[], batchId?: string): Promise<void> {
    const { ingestion, access, bases } = this.#options;
    const scope = scopeOf(caller);
    access.requireAdding();
    const known = [];
    for (const each of files) known.push({ file: await this.#fileOf(caller, each), attributes: each.attributes });
    for (const { file, attributes } of known) {
      const { id: fileId, fileName, sha256, sizeBytes } = file;
      const attachment = { fileId, attributes, batchId };
      await ingestion.attach(scope, base, { fileName, sha256, sizeBytes, attachment, owner: caller.subject });
    }
    await bases.touch(scope, [base], Date.now());
  }

  /** Throws `file_not_found`. */
  async file(caller: Principal, base: KnowledgeBase, fileId: string): Promise<AttachedFile> {
    const scope = scopeOf(caller);
    const found = await this.#options.attached.find(scope, base, fileId);
    if (found === undefined) throw notInStore(fileId);
    if (found.state !== 'pending' || !(await this.#hasEnded(scope, found))) return found;
    return (await this.#options.attached.find(scope, base, fileId)) ?? found;
  }

  /** `after` and `before` are ids of files. */
  async files(caller: Principal, base: KnowledgeBase, page: AttachedPage): Promise<AttachedFile[]> {
    const { attached } = this.#options;
    const scope = scopeOf(caller);
    const [after, before] = await Promise.all([this.#idOf(scope, base, page, 'after'), this.#idOf(scope, base, page, 'before')]);
    return await attached.page(scope, base, { ...page, after, before });
  }

  async setAttributes(caller: Principal, base: KnowledgeBase, fileId: string, attributes: Attributes): Promise<AttachedFile> {
    const { id } = await this.file(caller, base, fileId);
    await this.#options.attached.setAttributes(scopeOf(caller), base, id, attributes);
    return await this.file(caller, base, fileId);
  }

  /** Out of every answer from now on; the stored file stays. */
  async removeFile(caller: Principal, base: KnowledgeBase, fileId: string): Promise<void> {
    const { attached, onRemoved } = this.#options;
    const scope = scopeOf(caller);
    const file = await this.file(caller, base, fileId);
    if (!(await attached.remove(scope, base, file.id, Date.now()))) throw notInStore(fileId);
    await this.#cancelJob(scope, file);
    onRemoved();
  }

  /** Undefined: the store has no file of that batch. */
  async batch(caller: Principal, base: KnowledgeBase, batchId: string): Promise<AttachCounts | undefined> {
    return (await this.#options.attached.count(scopeOf(caller), [base.no], batchId)).get(base.no)?.counts;
  }

  /** Files of the batch that wait are not indexed any more. */
  async cancelBatch(caller: Principal, base: KnowledgeBase, batchId: string): Promise<void> {
    const scope = scopeOf(caller);
    for (;;) {
      const page = { limit: 100, order: 'asc', batchId, status: 'in_progress' } as const;
      const waiting = await this.#options.attached.page(scope, base, page);
      if (waiting.length === 0) return;
      for (const file of waiting) {
        await this.#options.attached.fail(scope, file.id, CANCELLED_FAILURE);
        await this.#cancelJob(scope, file);
      }
    }
  }

  async #counted(scope: TenantScope, bases: readonly KnowledgeBase[]): Promise<VectorStore[]> {
    const totals = await this.#options.attached.count(
      scope,
      bases.map(({ no }) => no),
    );
    return bases.map((base) => {
      const { counts, sizeBytes } = totals.get(base.no) ?? { counts: noFiles(), sizeBytes: 0 };
      return { base, counts, sizeBytes };
    });
  }

  async #fileOf(caller: Principal, { fileId, param }: FileToPut) {
    const file = await this.#options.files.get(caller, fileId, param);
    if ((await this.#options.blobs.find(scopeOf(caller), file.sha256)) !== undefined) return file;
    throw knowledgeError('invalid_request', `${fileId} was added as text and has no bytes of its own; store it as a file.`, {
      param,
    });
  }

  async #idOf(
    scope: TenantScope,
    base: KnowledgeBase,
    page: AttachedPage,
    param: 'after' | 'before',
  ): Promise<string | undefined> {
    const fileId = page[param];
    if (fileId === undefined) return undefined;
    const found = await this.#options.attached.find(scope, base, fileId);
    const id = found?.id ?? documentIdOf(fileId);
    if (id === undefined) throw knowledgeError('invalid_request', `${param} must be the id of a file.`, { param });
    return id;
  }

  /** A job may be cancelled, or be lost, without its document. */
  async #hasEnded(scope: TenantScope, { id, jobId }: AttachedFile): Promise<boolean> {
    if (jobId === undefined) return false;
    try {
      const job = await this.#options.jobs.get(scope, jobId);
      if (!hasEnded(job)) return false;
      return await this.#options.attached.fail(scope, id, job.state === 'cancelled' ? CANCELLED_FAILURE : LOST_FAILURE);
    } catch (error) {
      if (error instanceof JobError && error.code === 'job_not_found')
        return await this.#options.attached.fail(scope, id, LOST_FAILURE);
      throw error;
    }
  }

  async #cancelJob(scope: TenantScope, { state, jobId }: AttachedFile): Promise<void> {
    if (state !== 'pending' || jobId === undefined) return;
    try {
      await this.#options.jobs.cancel(scope, jobId);
    } catch (error) {
      // One that has ended in between finds that its document is gone.
      if (!(error instanceof JobError)) throw error;
    }
  }
}

function notInStore(fileId: string): Error {
  return knowledgeError('file_not_found', `No file found with id '${fileId.slice(0, 80).toWellFormed()}' in the vector store.`, {
    param: 'file_id',
  });
}
