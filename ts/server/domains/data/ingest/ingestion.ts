/** Adds documents to a knowledge base. A document of the same source is replaced at once, when the new one is whole. */
import { createHash } from 'node:crypto';
import { JobError } from '../../../platform/jobs/index.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import type { FileReader } from '../../files/index.ts';
import {
  type DocumentSource,
  type EmbeddedPassage,
  type ExtractedDocument,
  formatOf,
  type PassageEmbedding,
  type TextFormat,
} from '../../retrieval/index.ts';
import { knowledgeError } from '../errors.ts';
import type { Attachment, KnowledgeBase, NewDocument } from '../knowledge-base.ts';
import { INLINE_BYTES, INLINE_FILE_BYTES, LEAST_TEXT } from '../limits.ts';
import type { AttachedStore } from '../store/attached-store.ts';
import type { BaseStore } from '../store/base-store.ts';
import type { DocumentStore } from '../store/document-store.ts';
import type { PendingSource } from '../store/publication.ts';
import { UNHEARD_KINDS } from '../stored-kinds.ts';
import { type IndexJobs, shownSource } from './index-jobs.ts';
import type { Recordings } from './recordings.ts';
import { blockParts, textParts } from './source-parts.ts';

/** The words about a document, whatever it is made of. */
export interface DocumentLabel {
  readonly source: string;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Milliseconds since 1970; default: now. */
  readonly datedAt?: number | undefined;
  /** The account that adds it. */
  readonly owner?: string | undefined;
}

/** What a document is recognised by when it comes again. */
interface FileFacts {
  /** Of the file or text as it was given, lowercase hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface AddedDocument {
  readonly id: string;
  readonly namespace: string;
  readonly source: string;
  readonly nChunks: number;
  readonly embeddingModel: string;
  /** False: the same text was there already, and nothing was done. */
  readonly isNew: boolean;
  /** Of the document, as DocumentShape has it. */
  readonly kind: string;
  readonly warnings?: readonly string[] | undefined;
}

/** A file that lies among the blobs. */
interface FileToAdd extends FileFacts {
  readonly fileName: string;
}

/** The document where it is there at once, or else the job that makes it. */
export type AddOutcome = { readonly document: AddedDocument } | { readonly jobId: string };

/** A stored file that becomes a document. */
interface FileToAttach extends FileToAdd {
  readonly attachment: Attachment;
  /** The account that attaches it. */
  readonly owner: string | undefined;
}

export interface IngestionOptions {
  readonly bases: BaseStore;
  readonly documents: DocumentStore;
  readonly attached: AttachedStore;
  readonly embedding: PassageEmbedding;
  readonly jobs: IndexJobs;
  readonly files: FileReader;
  readonly recordings: Recordings;
  /** The base has got a document that can be found. */
  onPublished?(scope: TenantScope, base: KnowledgeBase): void;
  readonly inlineBytes?: number;
  readonly inlineFileBytes?: number;
}

export class Ingestion {
  readonly #options: IngestionOptions;

  constructor(options: IngestionOptions) {
    this.#options = options;
  }

  /** Throws KnowledgeError and StorageError. */
  async addText(
    scope: TenantScope,
    base: KnowledgeBase,
    label: DocumentLabel,
    text: string,
    format: TextFormat = formatOf(label.source),
    signal = new AbortController().signal,
  ): Promise<AddOutcome> {
    requireText(text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const document = describe(label, format, { sha256, sizeBytes: Buffer.byteLength(text) });
    return await this.#add(
      scope,
      base,
      document,
      { form: format, title: label.title, parts: textParts(text) },
      label.owner,
      signal,
    );
  }

  /** The same for a file whose text was extracted. */
  async addExtracted(
    scope: TenantScope,
    base: KnowledgeBase,
    label: DocumentLabel,
    extracted: ExtractedDocument,
    file: FileFacts,
    signal = new AbortController().signal,
  ): Promise<AddOutcome> {
    const length = extracted.blocks.reduce((sum, { text }) => sum + text.trim().length, 0);
    if (length < LEAST_TEXT)
      throw knowledgeError(
        'text_too_short',
        `The file has ${length} characters of text, and ${LEAST_TEXT} is the least that is indexed.`,
      );
    const title = label.title ?? extracted.title;
    const document = { ...describe({ ...label, title }, extracted.kind, file), warnings: extracted.warnings };
    const source: DocumentSource = { form: 'blocks', title, parts: blockParts(extracted.blocks) };
    return await this.#add(scope, base, document, source, label.owner, signal);
  }

  /** A file of any kind: a small one is read at once, a large one by the job. The same file again is the same document, or the same job. */
  async addFile(scope: TenantScope, base: KnowledgeBase, label: DocumentLabel, file: FileToAdd): Promise<AddOutcome> {
    const { documents, files, recordings, jobs, inlineFileBytes = INLINE_FILE_BYTES } = this.#options;
    const isLarge = file.sizeBytes > inlineFileBytes;
    // Jobs first: one that ends in between has published its document by the time that it is looked for.
    const waiting = await documents.findWaiting(scope, base, label.source);
    const isAwaited = waiting?.sha256 === file.sha256;
    if (isAwaited && waiting.jobId !== undefined && (await jobs.isOpen(scope, waiting.jobId))) return { jobId: waiting.jobId };
    const there = await documents.findBySource(scope, base, label.source);
    const isLatest = waiting === undefined || isAwaited || (there !== undefined && waiting.no < there.no);
    const isSame = there?.sha256 === file.sha256 && isLatest;
    if (isSame && !(isUnheard(there) && (await recordings.canHear())))
      return { document: added(there, base, there.nChunks, false) };
    const byJob = () => {
      const source = { form: 'file' as const, title: label.title, parts: [file.fileName] };
      return this.#enqueue(scope, base, describe(label, 'file', file), source, label.owner);
    };
    if (isLarge) return await byJob();
    const read = await files.read(scope, file);
    // To hear takes longer than a request should.
    const isHeard = 'storedKind' in read && (read.storedKind === 'audio' || read.storedKind === 'video');
    if (isHeard && (await recordings.canHear())) return await byJob();
    if ('document' in read) return await this.addExtracted(scope, base, label, read.document, file);
    const document = describe(label, read.storedKind, file);
    await documents.insertReady(scope, base, document, [], Date.now());
    return { document: added(document, base, 0, true) };
  }

  /** Has recordings heard that were added when nothing here could. What the model has heard already costs nothing. */
  async hearAgain(scope: TenantScope, base: KnowledgeBase, owner: string | undefined): Promise<void> {
    const { documents, recordings } = this.#options;
    if (!(await recordings.canHear())) return;
    for (const { source, title, tags, datedAt, sha256, sizeBytes } of await documents.listUnheard(scope, base))
      await this.addFile(scope, base, { source, title, tags, datedAt, owner }, { fileName: source, sha256, sizeBytes });
  }

  /** A stored file is indexed by a job, whatever its size. One that is there already stays as it is, unless it failed. */
  async attach(scope: TenantScope, base: KnowledgeBase, { attachment, owner, ...file }: FileToAttach): Promise<void> {
    const { attached, documents, jobs } = this.#options;
    const document = { ...describe({ source: file.fileName }, 'file', file), attached: attachment };
    const source = { form: 'file' as const, title: undefined, parts: [file.fileName] };
    const placed = await attached.insert(scope, base, document, source, Date.now());
    if (placed === undefined) return;
    try {
      const jobId = await jobs.enqueue(scope, { id: document.id, namespace: base.namespace, source: placed.source }, owner);
      await documents.setJob(scope, placed.no, jobId);
    } catch (error) {
      if (!(error instanceof JobError) || error.code !== 'job_queue_full') throw error;
      await attached.fail(scope, document.id, { code: 'queue_full', message: `${error.message} ${error.remedy}` });
    }
  }

  async #add(
    scope: TenantScope,
    base: KnowledgeBase,
    document: NewDocument,
    source: DocumentSource,
    owner: string | undefined,
    signal: AbortSignal,
  ): Promise<AddOutcome> {
    const same = await this.#findSame(scope, base, document);
    if (same !== undefined) return { document: same };
    const sizeOfParts = source.parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    if (sizeOfParts > (this.#options.inlineBytes ?? INLINE_BYTES))
      return await this.#enqueue(scope, base, document, source, owner);
    const { bases, documents, embedding } = this.#options;
    const passages: EmbeddedPassage[] = [];
    let title = document.title;
    for await (const batch of embedding.embed(scope, base, document.id, source, 0, signal)) {
      passages.push(...batch.passages);
      title = batch.title;
    }
    if (passages.length === 0)
      throw knowledgeError('text_too_short', 'The text has nothing that could be found.', { param: 'text' });
    await bases.bindDimensions(scope, base, passages[0]?.embedding.length ?? 0);
    await documents.insertReady(scope, base, { ...document, title }, passages, Date.now());
    this.#options.onPublished?.(scope, base);
    return { document: added(document, base, passages.length, true) };
  }

  async #findSame(scope: TenantScope, base: KnowledgeBase, document: NewDocument): Promise<AddedDocument | undefined> {
    const { documents } = this.#options;
    const waiting = await documents.findWaiting(scope, base, document.source);
    const there = await documents.findBySource(scope, base, document.source);
    // A newer version that waits would take the place of what is there.
    if (there !== undefined && waiting !== undefined && waiting.no > there.no) return undefined;
    if (there === undefined || there.sha256 !== document.sha256) return undefined;
    if (document.title !== undefined && there.title !== document.title) return undefined;
    if (JSON.stringify(there.tags) !== JSON.stringify(document.tags) || there.kind !== document.kind) return undefined;
    return added({ ...document, id: there.id }, base, there.nChunks, false);
  }

  async #enqueue(
    scope: TenantScope,
    base: KnowledgeBase,
    document: NewDocument,
    source: PendingSource,
    owner: string | undefined,
  ): Promise<AddOutcome> {
    const { documents, jobs } = this.#options;
    const no = await documents.insertPending(scope, base, document, source, Date.now());
    try {
      const { id, source: name } = document;
      const jobId = await jobs.enqueue(scope, { id, namespace: base.namespace, source: shownSource(base, name) }, owner);
      await documents.setJob(scope, no, jobId);
      return { jobId };
    } catch (error) {
      if (!(error instanceof JobError) || error.code !== 'job_queue_full') throw error;
      throw knowledgeError('queue_full', `${error.message} ${error.remedy}`, { retryAfterMs: 60_000, cause: error });
    }
  }
}

function isUnheard({ kind }: Pick<NewDocument, 'kind'>): boolean {
  return UNHEARD_KINDS.includes(kind);
}

/** Throws `text_too_short`. */
export function requireText(text: string): void {
  const { length } = text.trim();
  if (length >= LEAST_TEXT) return;
  const detail = `The text has ${length} characters, and ${LEAST_TEXT} is the least that is indexed.`;
  throw knowledgeError('text_too_short', detail, { param: 'text' });
}

function describe(label: DocumentLabel, kind: string, { sha256, sizeBytes }: FileFacts): NewDocument {
  return {
    id: newTimeOrderedId(),
    source: label.source,
    title: label.title,
    sha256,
    kind,
    tags: [...new Set(label.tags ?? [])],
    datedAt: label.datedAt ?? Date.now(),
    sizeBytes,
  };
}

function added(document: NewDocument, base: KnowledgeBase, nChunks: number, isNew: boolean): AddedDocument {
  const { id, source, kind, warnings } = document;
  return { id, namespace: base.namespace, source, nChunks, embeddingModel: base.embeddingModel, isNew, kind, warnings };
}
