/** Indexes large documents in the background: a job goes on from its last batch after an interruption, and publishes all at once. */
import Type, { type Static } from 'typebox';
import type { JobContext, JobQueue, Jobs } from '../../../platform/jobs/index.ts';
import { hasEnded, JobError, JobFailedError } from '../../../platform/jobs/index.ts';
import { StorageError, type TenantScope } from '../../../platform/storage/index.ts';
import { extractionErrors, type FileReader, type ReadFile } from '../../files/index.ts';
import type { DocumentSource, ExtractedDocument, PassageEmbedding } from '../../retrieval/index.ts';
import { isKnowledgeError, knowledgeError } from '../errors.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import { LEAST_TEXT } from '../limits.ts';
import type { AttachedStore } from '../store/attached-store.ts';
import type { BaseStore } from '../store/base-store.ts';
import type { DocumentStore, PendingDocument } from '../store/document-store.ts';
import type { OwnedBaseStore } from '../store/owned-base-store.ts';
import { isStoredKind, stateOf, warningsOf } from '../stored-kinds.ts';
import type { Hearing, Recordings } from './recordings.ts';
import { blockParts } from './source-parts.ts';

type StoredKind = Extract<ReadFile, { storedKind: string }>['storedKind'];

const IndexInput = Type.Object({ document_id: Type.String(), namespace: Type.String(), source: Type.String() });
const IndexStep = Type.Object({ done: Type.Integer({ minimum: 0 }) });
type IndexInput = Static<typeof IndexInput>;
type IndexStep = Static<typeof IndexStep>;

/** The model is shared with everybody else; more at once would not be quicker. */
const MOST_AT_ONCE = 2;

/** With the pauses between them these last for some minutes, as an embedding service does that is started again. */
const MOST_ATTEMPTS = 15;
const BACKOFF_MS = { first: 2_000, longest: 60_000 };
/** Of failures that nobody expects to pass by themselves. */
const MOST_DEFECTS = 3;

const PASSING = ['embedding_failed', 'queue_full', 'index_unavailable', 'storage_unavailable'];

/** What another attempt would not change. */
const FINAL = [
  'embedding_dimension_mismatch',
  'embedding_model_not_found',
  'namespace_not_found',
  'document_not_found',
  'text_too_short',
  'file_elsewhere',
];

interface IndexJobsOptions {
  readonly jobs: Jobs;
  readonly bases: BaseStore;
  readonly ownedBases: OwnedBaseStore;
  readonly documents: DocumentStore;
  readonly attached: AttachedStore;
  readonly embedding: PassageEmbedding;
  readonly files: FileReader;
  readonly recordings: Recordings;
  /** The base has got a document that can be found. */
  onPublished?(scope: TenantScope, base: KnowledgeBase): void;
}

export class IndexJobs {
  readonly #options: IndexJobsOptions;
  readonly #queue: JobQueue<IndexInput>;

  constructor(options: IndexJobsOptions) {
    this.#options = options;
    this.#queue = options.jobs.define({
      name: 'data.index',
      input: IndexInput,
      step: IndexStep,
      concurrency: MOST_AT_ONCE,
      maxAttempts: MOST_ATTEMPTS,
      countsAttemptsFromStep: true,
      backoffMs: BACKOFF_MS,
      run: (context) => this.#run(context),
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** The id of the job; of the same one, when the document has one that has not ended. Throws JobError. */
  async enqueue(
    scope: TenantScope,
    document: { id: string; namespace: string; source: string },
    owner: string | undefined,
  ): Promise<string> {
    const { id, namespace, source } = document;
    const input = { document_id: id, namespace, source };
    const job = await this.#queue.enqueue(scope, input, { key: id, ...(owner === undefined ? {} : { owner }) });
    return job.id;
  }

  async isOpen(scope: TenantScope, id: string): Promise<boolean> {
    try {
      return !hasEnded(await this.#options.jobs.get(scope, id));
    } catch (error) {
      if (error instanceof JobError && error.code === 'job_not_found') return false;
      throw error;
    }
  }

  async #run(context: JobContext<IndexInput, IndexStep>): Promise<object> {
    try {
      return await this.#index(context);
    } catch (error) {
      const failure = context.signal.aborted ? undefined : finalFailure(error, context.attempt);
      if (failure !== undefined) await this.#noteFailure(context, failure);
      throw failure ?? error;
    }
  }

  /** A file that was attached stays as one that failed. */
  async #noteFailure({ scope, input, log }: JobContext<IndexInput, IndexStep>, failure: JobFailedError): Promise<void> {
    await this.#options.attached
      .fail(scope, input.document_id, { code: failure.code, message: `${failure.message} ${failure.remedy}` })
      .catch((error: unknown) => log.warn('the failure of a file was not noted', { error: String(error) }));
  }

  async #index({
    input,
    scope,
    owner,
    checkpoint,
    signal,
    progress,
    saveStep,
  }: JobContext<IndexInput, IndexStep>): Promise<object> {
    const { bases, documents, embedding } = this.#options;
    const document = await documents.findPending(scope, input.document_id);
    const base = document === undefined ? undefined : await this.#baseOf(scope, document.namespace);
    if (document === undefined || base === undefined) return await this.#alreadyDone(scope, input);
    const pending = await documents.readSource(scope, document);
    const shown = shownSource(base, document.source);
    if (pending.form === 'file') progress({ done: 0, unit: 'passages', message: `${shown} is being read` });
    let done = checkpoint?.done ?? 0;
    let heard = Promise.resolve();
    // What was heard is kept, so that each window is a way towards the end: however often the process ends, the job goes on.
    const onSeconds = (seconds: number): void => {
      progress({ done: seconds, unit: 'seconds', message: `${shown} is being heard` });
      heard = heard.then(() => saveStep({ done })).catch(() => undefined);
    };
    const { source, kind, warnings } =
      pending.form === 'file'
        ? await this.#readFile(scope, document, pending.parts[0] ?? '', { owner, signal, onSeconds })
        : { ...document, source: pending };
    await heard;
    let total = done;
    let title = source.title;
    for await (const batch of embedding.embed(scope, base, document.id, source, done, signal)) {
      total = batch.nPassages;
      title = batch.title;
      await bases.bindDimensions(scope, base, batch.passages[0]?.embedding.length ?? 0);
      if (!(await documents.addChunks(scope, base, document.no, batch.passages))) return await this.#alreadyDone(scope, input);
      done = batch.from + batch.passages.length;
      await saveStep({ done });
      progress({ done, total, unit: 'passages', message: shown });
    }
    if (total === 0 && !isStoredKind(kind)) throw knowledgeError('text_too_short', 'The file has nothing that could be found.');
    const facts = { nChunks: total, title, now: Date.now() };
    if ((await documents.publish(scope, base, document.no, facts)) === 'superseded')
      return supersededResult(document, base.embeddingModel);
    this.#options.onPublished?.(scope, base);
    return resultOf({ ...document, source: shown, kind, warnings }, total, base.embeddingModel);
  }

  async #baseOf(scope: TenantScope, namespace: string): Promise<KnowledgeBase | undefined> {
    const { bases, ownedBases } = this.#options;
    return (await bases.find(scope, namespace)) ?? (await ownedBases.findAny(scope, namespace));
  }

  /** What was read is stored, so that a run that goes on later need not read it again. */
  async #readFile(
    scope: TenantScope,
    { no, title, sha256 }: PendingDocument,
    fileName: string,
    hearing: Hearing,
  ): Promise<{ source: DocumentSource } & Pick<PendingDocument, 'kind' | 'warnings'>> {
    const { documents, files } = this.#options;
    const read = await files.read(scope, { sha256, fileName }, hearing.signal);
    const found: ExtractedDocument =
      'document' in read ? read.document : await this.#hear(scope, sha256, read.storedKind, hearing);
    const source: DocumentSource = {
      form: 'blocks',
      title: title ?? found.title,
      parts: blockParts(found.blocks),
    };
    await documents.setSource(scope, no, found, source);
    return { source, kind: found.kind, warnings: found.warnings };
  }

  /** A recording or film becomes what is said in it, each piece with its seconds; where nothing is, it stays a file without text. */
  async #hear(scope: TenantScope, sha256: string, storedKind: StoredKind, hearing: Hearing): Promise<ExtractedDocument> {
    const nothing = { kind: storedKind, blocks: [] };
    if (storedKind !== 'audio' && storedKind !== 'video') return nothing;
    const pieces = (await this.#options.recordings.hear(scope, sha256, hearing)) ?? [];
    const blocks = pieces.map(({ text, begin, end }) => ({
      type: 'paragraph' as const,
      text: text.trim(),
      startSeconds: begin,
      endSeconds: end,
    }));
    const said = blocks.filter(({ text }) => text !== '');
    const length = said.reduce((sum, { text }) => sum + text.length, 0);
    return length < LEAST_TEXT ? nothing : { kind: `${storedKind}-transcript`, blocks: said };
  }

  /** A run that was interrupted behind its last write has published the document; a newer version may have taken its place. */
  async #alreadyDone(scope: TenantScope, { document_id: id, namespace, source }: IndexInput): Promise<object> {
    const { documents } = this.#options;
    const base = await this.#baseOf(scope, namespace);
    const document = base && (await documents.find(scope, base, id));
    if (base !== undefined && document !== undefined)
      return resultOf(
        { ...document, source: shownSource(base, document.source), namespace },
        document.nChunks,
        base.embeddingModel,
      );
    if (base !== undefined && (await documents.findBySource(scope, base, source)) !== undefined)
      return supersededResult({ id, namespace, source }, base.embeddingModel);
    throw new JobFailedError(
      'document_not_found',
      'The document or its knowledge base was deleted meanwhile.',
      'Add it again if it is still wanted.',
    );
  }
}

/** Administrators see the jobs of their tenant, and the files of a conversation are nobody's but its owner's. */
export function shownSource({ owner }: Pick<KnowledgeBase, 'owner'>, source: string): string {
  return owner === undefined ? source : 'A file of a conversation';
}

/** Undefined: another attempt may succeed. */
function finalFailure(error: unknown, attempt: number): JobFailedError | undefined {
  if (error instanceof JobFailedError) return error;
  if (extractionErrors.has(error)) return new JobFailedError(error.code, error.sentence, error.remedy ?? '', error);
  if (isKnowledgeError(error) && FINAL.includes(error.code))
    return new JobFailedError(error.code, error.message, 'Correct what the sentence names, then add the document again.', error);
  const isPassing = error instanceof StorageError || (isKnowledgeError(error) && PASSING.includes(error.code));
  if (attempt < (isPassing ? MOST_ATTEMPTS : MOST_DEFECTS)) return undefined;
  if (isKnowledgeError(error))
    return new JobFailedError(error.code, error.message, 'Add the document again when the cause is gone.', error);
  const defect = 'The document could not be indexed because of a defect of the server.';
  return new JobFailedError('internal', defect, 'The log of the node says more.', error);
}

/** No failure: what was asked for last is there. */
function supersededResult(
  { id, namespace, source }: Pick<PendingDocument, 'id' | 'namespace' | 'source'>,
  model: string,
): object {
  const detail = 'A newer version of this source was added meanwhile and is indexed in its place.';
  return { id, namespace, source, chunks: 0, embedding_model: model, state: 'superseded', detail };
}

function resultOf(
  { id, namespace, source, kind, warnings }: Pick<PendingDocument, 'id' | 'namespace' | 'source' | 'kind' | 'warnings'>,
  chunks: number,
  model: string,
): object {
  return { id, namespace, source, chunks, embedding_model: model, ...stateOf(kind), ...warningsOf(warnings) };
}
