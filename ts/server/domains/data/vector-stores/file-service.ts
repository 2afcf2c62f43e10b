/**
 * Stored files as OpenAI's routes see them. A file belongs to who stored it. Others of the tenant may read it where it is in a knowledge base that
 * they may use, and administrators may all. A caller who is limited to some bases goes by the bases that a file is in, whosever it is; one that is in
 * none yet is its uploader's. Documents that were added by themselves are files, too.
 */
import { hasRole, type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { anyName, type NameFilter, type UseRules } from '../../../platform/module/use-rules.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { type BlobStore, type FilePage, type FileStore, type StoredFile, uploaderOf } from '../../files/index.ts';
import { knowledgeError } from '../errors.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import type { AttachedFile, AttachedStore } from '../store/attached-store.ts';
import type { BaseStore } from '../store/base-store.ts';

/** What is shown of a file, whatever it is. */
export type ShownFile = Omit<StoredFile, 'subject' | 'credential'>;

interface FileServiceOptions {
  readonly files: FileStore;
  readonly attached: AttachedStore;
  readonly bases: BaseStore;
  readonly blobs: BlobStore;
  readonly uses: UseRules;
  /** Bytes and rows that nobody needs any more can be removed. */
  onRemoved(tenant: string, sha256: string): Promise<void>;
}

type Place = AttachedFile & { readonly namespace: string };

/** A file as one caller reaches it. */
interface ReachedFile {
  /** Undefined: a document that was added by itself. */
  readonly file: StoredFile | undefined;
  /** In bases that the caller may use. */
  readonly usable: readonly Place[];
  /** The whole file is the caller's to remove, and no base that the caller may not use has it. */
  readonly isOwn: boolean;
}

export class FileService {
  readonly #options: FileServiceOptions;

  constructor(options: FileServiceOptions) {
    this.#options = options;
  }

  /** The caller's own; an administrator's list has all of the tenant. */
  async list(caller: Principal, page: Omit<FilePage, 'subject'>): Promise<ShownFile[]> {
    const scope = scopeOf(caller);
    const subject = hasRole(caller, 'admin') ? undefined : uploaderOf(caller).subject;
    const isAllowed = await this.#options.uses.of(caller, 'namespaces');
    if (isAllowed === anyName) return await this.#options.files.list(scope, { ...page, subject }, Date.now());
    return await this.#listWithin(caller, { ...page, subject }, isAllowed);
  }

  /** Those that the caller does not reach are passed over. */
  async #listWithin(caller: Principal, page: FilePage, isAllowed: NameFilter): Promise<StoredFile[]> {
    const { files, attached, bases } = this.#options;
    const scope = scopeOf(caller);
    const usable = (await bases.list(scope)).filter(({ namespace }) => isAllowed(namespace)).map(({ no }) => no);
    const credential = limitingCredential(caller);
    const found: StoredFile[] = [];
    for (let { after } = page; ; ) {
      const some = await files.list(scope, { ...page, after }, Date.now());
      const basesOf = await attached.listBasesOf(
        scope,
        some.map(({ id }) => id),
      );
      const isReached = (file: StoredFile) =>
        basesOf.get(file.id)?.some((no) => usable.includes(no)) ?? wasStoredWith(credential, file);
      found.push(...some.filter(isReached));
      if (some.length < page.limit || found.length >= page.limit) return found.slice(0, page.limit);
      after = some.at(-1)?.id;
    }
  }

  /** Throws `file_not_found` that names the member of the request that has the id. */
  async get(caller: Principal, id: string, param?: string): Promise<ShownFile> {
    const { file, usable } = await this.#reach(caller, id, param);
    const [place] = usable;
    if (file !== undefined) return file;
    if (place === undefined) throwFileNotFound(id, param);
    return toFile(place);
  }

  async reaches(caller: Principal, id: string): Promise<boolean> {
    return (await this.#find(caller, id)) !== undefined;
  }

  /** The path of its bytes; undefined for a document that was added as text. Throws `file_not_found` and `file_elsewhere`. */
  async open(caller: Principal, id: string, param?: string): Promise<{ file: ShownFile; path: string | undefined }> {
    const file = await this.get(caller, id, param);
    const { blobs } = this.#options;
    const scope = scopeOf(caller);
    const isBlob = (await blobs.find(scope, file.sha256)) !== undefined;
    return { file, path: isBlob ? await blobs.open(scope, file.sha256) : undefined };
  }

  /** Where the text of a file without bytes is stored. Throws `file_not_found`. */
  async placeOf(caller: Principal, id: string): Promise<{ base: KnowledgeBase; document: AttachedFile }> {
    const [place] = (await this.#reach(caller, id)).usable;
    const base = place && (await this.#options.bases.find(scopeOf(caller), place.namespace));
    if (place === undefined || base === undefined) throwFileNotFound(id);
    return { base, document: place };
  }

  /**
   * With the documents that were made of it, in every knowledge base. Only who stored it may, and administrators. A file that is also in a base that
   * the caller may not use stays there. Throws `file_not_found`.
   */
  async remove(caller: Principal, id: string): Promise<void> {
    const scope = scopeOf(caller);
    const { file, usable, isOwn } = await this.#reach(caller, id);
    if (file !== undefined && !mayRemove(caller, file)) throwFileNotFound(id);
    await this.#removePlaces(scope, usable);
    if (file !== undefined && isOwn) await this.#options.files.remove(scope, id);
    await this.#options.onRemoved(scope.tenant, file?.sha256 ?? usable[0]?.sha256 ?? '');
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

  async #reach(caller: Principal, id: string, param?: string): Promise<ReachedFile> {
    return (await this.#find(caller, id)) ?? throwFileNotFound(id, param);
  }

  /** The one place that judges who reaches a file. Undefined: it is not there for the caller. */
  async #find(caller: Principal, id: string): Promise<ReachedFile | undefined> {
    const { files, uses } = this.#options;
    const scope = scopeOf(caller);
    const isAllowed = await uses.of(caller, 'namespaces');
    const file = await files.find(scope, id, Date.now());
    const places = await this.#placesOf(scope, id);
    const usable = places.filter(({ namespace }) => isAllowed(namespace));
    const isOwn = file !== undefined && mayRemove(caller, file) && usable.length === places.length;
    const isReached = usable.length > 0 || (isOwn && wasStoredWith(limitingCredential(caller), file));
    return isReached ? { file, usable, isOwn } : undefined;
  }
}

function mayRemove(caller: Principal, { subject }: StoredFile): boolean {
  return subject === uploaderOf(caller).subject || hasRole(caller, 'admin');
}

/** Of a credential that is itself limited to some bases: what its account stored with another one is not its own. Undefined: the account is limited. */
function limitingCredential({ limits, keyId }: Principal): string | undefined {
  return limits?.['namespaces'] === undefined ? undefined : (keyId ?? '');
}

function wasStoredWith(credential: string | undefined, file: StoredFile): boolean {
  return credential === undefined || file.credential === credential;
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

function throwFileNotFound(id: string, param = 'id'): never {
  throw knowledgeError('file_not_found', `No such File object: ${id.slice(0, 80).toWellFormed()}`, { param });
}
