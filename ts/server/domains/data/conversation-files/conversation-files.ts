/**
 * Files of one conversation: a knowledge base that its owner alone reaches, by way of the conversation, whatever role the owner has. It is erased with
 * the conversation. Throws KnowledgeError, UploadError and StorageError.
 */
import type { Principal } from '../../../platform/http/principal.ts';
import { type ArrivedFile, type FileIntake, type FilesApi, type Uploader, uploaderOf } from '../../files/index.ts';
import type { Embedders } from '../../retrieval/index.ts';
import { conversationNotFound, knowledgeError } from '../errors.ts';
import type { AddOutcome, Ingestion } from '../ingest/ingestion.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { KnowledgeBase, StoredDocument } from '../knowledge-base.ts';
import { documentNotFound, type FilledBase, type KnowledgeService } from '../service.ts';
import type { DocumentStore } from '../store/document-store.ts';
import { freeSource } from '../store/free-source.ts';
import { type OwnedBaseStore, ownedNamespace } from '../store/owned-base-store.ts';

/** Of one conversation. */
const MAX_FILES = 100;

/**
 * Under which key the files of a conversation of the caller lie; undefined: it never had one. `makes` has it get a key. Throws DomainErrors, for a
 * foreign conversation as for an unknown one.
 */
export type FilesKey = (
  caller: Principal,
  conversationId: string,
  options: { readonly makes: boolean },
) => Promise<string | undefined>;

/** Of a program without conversations. */
export const noConversations: FilesKey = async () => {
  throw conversationNotFound();
};

interface ConversationFilesOptions {
  readonly filesKey: FilesKey;
  readonly bases: OwnedBaseStore;
  readonly documents: DocumentStore;
  readonly uploads: FilesApi['uploads'];
  readonly knowledge: Pick<KnowledgeService, 'baseFor' | 'removeBase' | 'removeDocumentOf'>;
  readonly ingestion: Pick<Ingestion, 'addFile'>;
  readonly embedders: Pick<Embedders, 'choose' | 'noteOn'>;
  readonly intake: FileIntake;
  readonly access: KnowledgeAccess;
  /** Of all conversations of one account. */
  readonly maxAccountBytes: number;
  /** Rows that nobody sees any more can be removed. */
  onRemoved(): void;
  /** The bytes of a file may be needed no more. */
  onUnused(tenant: string, sha256: string): Promise<void>;
}

interface GivenFile {
  readonly fileName: string;
  /** What the request can have. */
  readonly mostBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export class ConversationFiles {
  readonly #options: ConversationFilesOptions;

  constructor(options: ConversationFilesOptions) {
    this.#options = options;
  }

  /** Those that are indexed or kept; one that a job reads is not there yet. */
  async list(caller: Principal, conversationId: string): Promise<StoredDocument[]> {
    const base = await this.#find(caller, conversationId);
    return base === undefined ? [] : await this.#options.documents.list(uploaderOf(caller), base, { limit: MAX_FILES });
  }

  async get(caller: Principal, conversationId: string, id: string): Promise<StoredDocument> {
    const base = await this.#find(caller, conversationId);
    const document = base && (await this.#options.documents.find(uploaderOf(caller), base, id));
    if (document === undefined) throw documentNotFound(id);
    return document;
  }

  /** The same bytes again are the same file. */
  async add(caller: Principal, conversationId: string, file: GivenFile): Promise<AddOutcome & Pick<FilledBase, 'note'>> {
    const { access, intake, onUnused } = this.#options;
    access.requireAdding();
    const uploader = uploaderOf(caller);
    const key = await this.#makeKey(caller, conversationId);
    const arrived = await intake.receive(uploader, file.fileName, file.mostBytes, file.content, {
      namespace: ownedNamespace(key),
      admit: () => this.#requireSpace(uploader, key),
    });
    try {
      await intake.toBlob(uploader, arrived);
      return await this.#index(caller, conversationId, key, arrived);
    } finally {
      await intake.discard(uploader, arrived.uploadId);
      await onUnused(uploader.tenant, arrived.sha256);
    }
  }

  async remove(caller: Principal, conversationId: string, id: string): Promise<void> {
    const base = await this.#find(caller, conversationId);
    if (base === undefined) throw documentNotFound(id);
    await this.#options.knowledge.removeDocumentOf(uploaderOf(caller), base, id);
  }

  /** Adds it to a knowledge base of the tenant as well, under the rules of any file that is added there. */
  async keep(
    caller: Principal,
    conversationId: string,
    id: string,
    namespace: string,
  ): Promise<AddOutcome & Pick<FilledBase, 'note'>> {
    const { access, knowledge, ingestion, onRemoved } = this.#options;
    const { source, sha256, sizeBytes } = await this.get(caller, conversationId, id);
    const scope = await access.scopeFor(caller, caller.tenant, namespace);
    access.requireAdding();
    const { base, note } = await knowledge.baseFor(scope, namespace);
    const file = { fileName: source, sha256, sizeBytes };
    const outcome = await ingestion.addFile(scope, base, { source, owner: caller.subject }, file);
    onRemoved();
    return { ...outcome, note };
  }

  async #find(caller: Principal, conversationId: string): Promise<KnowledgeBase | undefined> {
    const key = await this.#options.filesKey(reaching(caller), conversationId, { makes: false });
    return key === undefined ? undefined : await this.#options.bases.find(uploaderOf(caller), key);
  }

  async #makeKey(caller: Principal, conversationId: string): Promise<string> {
    const key = await this.#options.filesKey(reaching(caller), conversationId, { makes: true });
    if (key === undefined) throw conversationNotFound();
    return key;
  }

  /** While the file that is about to come counts as an open upload: of several at once, none is overlooked. */
  async #requireSpace(owner: Uploader, key: string): Promise<void> {
    const { bases, uploads, maxAccountBytes } = this.#options;
    const [stored, open, here, coming] = await Promise.all([
      bases.size(owner),
      uploads.sizeOfOpen(owner, ownedNamespace('')),
      bases.size(owner, key),
      uploads.sizeOfOpen(owner, ownedNamespace(key)),
    ]);
    const bytes = stored.bytes + open.bytes;
    if (bytes > maxAccountBytes)
      throw knowledgeError(
        'conversation_file_quota_exceeded',
        `The files of your conversations may take ${maxAccountBytes} bytes together, and with this one they could take ${bytes}. Delete some, or ask an administrator to raise data.account_conversation_bytes.`,
      );
    if (here.count + coming.count <= MAX_FILES) return;
    throw knowledgeError(
      'too_many_conversation_files',
      `The conversation has ${MAX_FILES} files, and no more are kept; delete some.`,
    );
  }

  async #index(
    caller: Principal,
    conversationId: string,
    key: string,
    { fileName, sha256, sizeBytes }: ArrivedFile,
  ): Promise<AddOutcome & Pick<FilledBase, 'note'>> {
    const { documents, embedders, ingestion, bases } = this.#options;
    const owner = uploaderOf(caller);
    const there = await bases.find(owner, key);
    const base = there ?? (await this.#makeBase(owner, key));
    // The conversation may have been erased while its file came.
    if (there === undefined) await this.#requireStillThere(caller, conversationId, base);
    const source = await freeSource(fileName, async (name) => {
      const [known, waiting] = [await documents.findBySource(owner, base, name), await documents.findWaiting(owner, base, name)];
      return (known?.sha256 ?? sha256) === sha256 && (waiting?.sha256 ?? sha256) === sha256;
    });
    const outcome = await ingestion.addFile(owner, base, { source, owner: caller.subject }, { fileName, sha256, sizeBytes });
    return { ...outcome, note: there === undefined ? embedders.noteOn(base.embeddingModel) : undefined };
  }

  async #makeBase(owner: Uploader, key: string): Promise<KnowledgeBase> {
    const { model, source, prefixes } = await this.#options.embedders.choose(undefined);
    return await this.#options.bases.insert(owner, key, {
      embeddingModel: model,
      embeddingSource: source,
      prefixes,
      createdAt: Date.now(),
    });
  }

  async #requireStillThere(caller: Principal, conversationId: string, base: KnowledgeBase): Promise<void> {
    try {
      await this.#options.filesKey(caller, conversationId, { makes: false });
    } catch (error) {
      await this.#options.knowledge.removeBase(uploaderOf(caller), base);
      throw error;
    }
  }
}

/** A credential that names its knowledge bases is for those alone. */
function reaching(caller: Principal): Principal {
  if (caller.limits?.['namespaces'] !== undefined) throw conversationNotFound();
  return caller;
}
