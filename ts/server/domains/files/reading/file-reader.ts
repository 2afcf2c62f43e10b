/** Reads files among the blobs: their text, or that they are of a kind that has none. */

import type { ExtractedDocument } from '../../../extraction/extracted-document.ts';
import { PoolError } from '../../../platform/pool/pool-error.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { uploadError } from '../errors.ts';
import { extractionErrors } from './extraction-errors.ts';
import type { ExtractionOutcome, Extractor } from './extractor.ts';

const RETRY_MS = 10_000;

/** `storedKind`: it is kept and not indexed. */
export type ReadFile = { readonly document: ExtractedDocument } | { readonly storedKind: 'rtf' | 'image' | 'audio' | 'video' };

interface FileReaderOptions {
  /** Called when the first file is read. */
  newExtractor(): Pick<Extractor, 'extract' | 'close'>;
  /** The path of a blob that is there. */
  open(scope: TenantScope, sha256: string): Promise<string>;
}

export class FileReader {
  readonly #options: FileReaderOptions;
  #extractor: Pick<Extractor, 'extract' | 'close'> | undefined;

  constructor(options: FileReaderOptions) {
    this.#options = options;
  }

  /** Ends what is being read. It can be used again. */
  async close(): Promise<void> {
    await this.#extractor?.close();
    this.#extractor = undefined;
  }

  /** Throws what extraction refuses, and `queue_full` where too many files wait. */
  async read(
    scope: TenantScope,
    { sha256, fileName }: { readonly sha256: string; readonly fileName: string },
    signal?: AbortSignal,
  ): Promise<ReadFile> {
    const path = await this.#options.open(scope, sha256);
    return outcomeOf(await this.#extract(path, fileName, scope.tenant, signal));
  }

  /** The same of bytes that are not stored. */
  async readBytes(
    { tenant }: TenantScope,
    { bytes, fileName }: { readonly bytes: Uint8Array; readonly fileName: string },
    signal: AbortSignal,
  ): Promise<ReadFile> {
    return outcomeOf(await this.#extract(bytes, fileName, tenant, signal));
  }

  async #extract(path: string | Uint8Array, fileName: string, tenant: string, signal: AbortSignal | undefined) {
    try {
      this.#extractor ??= this.#options.newExtractor();
      return await this.#extractor.extract(path, { fileName, tenant, signal });
    } catch (error) {
      if (!(error instanceof PoolError)) throw error;
      throw uploadError('queue_full', 'Too many files wait to be read; retry in a moment.', {
        retryAfterMs: RETRY_MS,
        cause: error,
      });
    }
  }
}

function outcomeOf(result: ExtractionOutcome): ReadFile {
  switch (result.outcome) {
    case 'extracted':
      return { document: result.document };
    case 'stored':
      return { storedKind: result.reason === 'rtf' ? 'rtf' : 'image' };
    case 'media':
      return { storedKind: result.media };
    case 'refused':
      throw extractionErrors.error(result.code, result.detail, { remedy: result.remedy, extra: { remedy: result.remedy } });
  }
}
