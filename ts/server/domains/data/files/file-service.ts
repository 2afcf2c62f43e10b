/**
 * Stored files as OpenAI's routes see them. A file belongs to who stored it. Others of the tenant may read it where it is in a knowledge base that
 * they may use, and administrators may all. Documents that were added by themselves are files, too.
 */
import { hasRole, type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { dataError } from '../errors.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import type { AttachedFile, AttachedStore } from '../store/attached-store.ts';
import type { BaseStore } from '../store/base-store.ts';
import { uploaderOf } from '../uploads/uploader.ts';
import type { FilePage, FileStore } from './file-store.ts';
import type { StoredFile } from './stored-file.ts';

/** What is shown of a file, whatever it is. */
export type ShownFile = Omit<StoredFile, 'subject'>;

export interface FileServiceOptions {
  readonly files: FileStore;
  readonly attached: AttachedStore;
  readonly bases: BaseStore;
  readonly blobs: BlobStore;
  readonly uses: UseRules;
  /** Bytes and rows that nobody needs any more can be removed. */
  onRemoved(tenant: string, sha256: string): Promise<void>;
}

type Place = AttachedFile & { readonly namespace: string };

export class FileService {
  readonly #options: FileServiceOptions;

  constructor(options: FileServiceOptions) {
    this.#options = options;
  }

  /** The caller's own; an administrator's list has all of the tenant. */
  async list(caller: Principal, page: Omit<FilePage, 'subject'>): Promise<ShownFile[]> {
    const subject = hasRole(caller, 'admin') ? undefined : uploaderOf(caller).subject;
    return await this.#options.files.list(scopeOf(caller), { ...page, subject }, Date.now());
  }

  /** Throws `file_not_found`. */
  async get(caller: Principal, id: string): Promise<ShownFile> {
    const scope = scopeOf(caller);
    const file = await this.#options.files.find(scope, id, Date.now());
    if (file !== undefined && isOwn(caller, file)) return file;
    const [place] = await this.#usablePlaces(caller, scope, id);
    if (place === undefined) throw fileNotFound(id);
    return file ?? toFile(place);
  }

  /** The path of its bytes; undefined for a document that was added as text. Throws `file_not_found` and `file_elsewhere`. */
  async open(caller: Principal, id: string): Promise<{ file: ShownFile; path: string | undefined }> {
    const file = await this.get(caller, id);
    const { blobs } = this.#options;
    const scope = scopeOf(caller);
    const isBlob = (await blobs.find(scope, file.sha256)) !== undefined;
    return { file, path: isBlob ? await blobs.open(scope, file.sha256) : undefined };
  }

  /** Where the text of a file without bytes is stored. Throws `file_not_found`. */
  async placeOf(caller: Principal, id: string): Promise<{ base: KnowledgeBase; document: AttachedFile }> {
    const scope = scopeOf(caller);
    const [place] = await this.#usablePlaces(caller, scope, id);
    const base = place && (await this.#options.bases.find(scope, place.namespace));
    if (place === undefined || base === undefined) throw fileNotFound(id);
    return { base, document: place };
  }

  /** With the documents that were made of it, in every knowledge base. Only who stored it may, and administrators. Throws `file_not_found`. */
  async remove(caller: Principal, id: string): Promise<void> {
    const { files } = this.#options;
    const scope = scopeOf(caller);
    const file = await files.find(scope, id, Date.now());
    if (file !== undefined && !isOwn(caller, file)) throw fileNotFound(id);
    const places = file === undefined ? await this.#usablePlaces(caller, scope, id) : await this.#placesOf(scope, id);
    if (file === undefined && places.length === 0) throw fileNotFound(id);
    await this.#removePlaces(scope, places);
    if (file !== undefined) await files.remove(scope, id);
    await this.#options.onRemoved(scope.tenant, file?.sha256 ?? places[0]?.sha256 ?? '');
  }

  /** One that expired. */
  async removeExpired(scope: TenantScope, id: string, sha256: string): Promise<void> {
    await this.#removePlaces(scope, await this.#placesOf(scope, id));
    await this.#options.files.remove(scope, id);
    await this.#options.onRemoved(scope.tenant, sha256);
  }

  async #removePlaces(scope: TenantScope, places: readonly Place[]): Promise<void> {
    const { attached, bases } = this.#options;
    for (const place of places) {
      const base = await bases.find(scope, place.namespace);
      if (base !== undefined) await attached.remove(scope, base, place.id, Date.now());
    }
  }

  async #placesOf(scope: TenantScope, id: string): Promise<Place[]> {
    return await this.#options.attached.listOfFile(scope, id);
  }

  async #usablePlaces(caller: Principal, scope: TenantScope, id: string): Promise<Place[]> {
    const isAllowed = await this.#options.uses.namespaces(caller);
    return (await this.#placesOf(scope, id)).filter(({ namespace }) => isAllowed(namespace));
  }
}

function isOwn(caller: Principal, { subject }: StoredFile): boolean {
  return subject === uploaderOf(caller).subject || hasRole(caller, 'admin');
}

function toFile({ fileId, source, sizeBytes, sha256, changedAt }: AttachedFile): ShownFile {
  return {
    id: fileId,
    fileName: source,
    purpose: 'assistants',
    sizeBytes,
    sha256,
    createdAt: changedAt,
    expiresAt: undefined,
  };
}

function fileNotFound(id: string): Error {
  return dataError('file_not_found', `No such File object: ${id.slice(0, 80).toWellFormed()}`, { param: 'id' });
}
