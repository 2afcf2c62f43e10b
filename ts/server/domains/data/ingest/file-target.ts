/** Takes uploaded files into knowledge bases, under the rules of text that is added. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { UploadedFile, Uploader, UploadOutcome, UploadTarget } from '../../files/index.ts';
import type { Embedders } from '../../retrieval/index.ts';
import { knowledgeError } from '../errors.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import { toIngested } from '../schemas.ts';
import type { KnowledgeService } from '../service.ts';
import { NAMESPACE_PATTERN } from './ingest-body.ts';
import type { Ingestion } from './ingestion.ts';

const NAMESPACE = new RegExp(NAMESPACE_PATTERN, 'u');
const USER = 'user:';

export interface FileTargetOptions {
  readonly service: Pick<KnowledgeService, 'find' | 'baseFor'>;
  readonly ingestion: Pick<Ingestion, 'addFile'>;
  readonly embedders: Pick<Embedders, 'choose'>;
  readonly access: Pick<KnowledgeAccess, 'scopeFor' | 'filterOf' | 'requireAdding'>;
  /** Rows of the document that was replaced can be removed. */
  onReplaced(): void;
}

export class FileTarget implements UploadTarget {
  readonly #options: FileTargetOptions;

  constructor(options: FileTargetOptions) {
    this.#options = options;
  }

  /** A base that is not there is made when the file is whole; that it can be made is known before. */
  async admit(caller: Principal, _: TenantScope, { namespace }: { namespace: string }): Promise<void> {
    const { service, embedders, access } = this.#options;
    if (!NAMESPACE.test(namespace))
      throw knowledgeError('invalid_request', '`namespace` has to have 1 to 128 characters, without slashes.', {
        param: 'namespace',
      });
    const scope = await access.scopeFor(caller, caller.tenant, namespace);
    access.requireAdding();
    if ((await service.find(scope, namespace)) === undefined) await embedders.choose(undefined);
  }

  async reaches(caller: Principal, namespace: string): Promise<boolean> {
    return (await this.#options.access.filterOf(caller))(namespace);
  }

  async accept(uploader: Uploader, { namespace, fileName, source, sha256, sizeBytes }: UploadedFile): Promise<UploadOutcome> {
    const { service, ingestion, access, onReplaced } = this.#options;
    access.requireAdding();
    const { base, note } = await service.baseFor(uploader, namespace);
    const owner = uploader.subject.startsWith(USER) ? uploader.subject.slice(USER.length) : undefined;
    const outcome = await ingestion.addFile(uploader, base, { source: source.trim(), owner }, { fileName, sha256, sizeBytes });
    onReplaced();
    const noted = note === undefined ? {} : { note };
    if ('jobId' in outcome) return { status: 202, body: { job_id: outcome.jobId, ...noted } };
    return { status: 201, body: { ...toIngested(outcome.document), ...noted } };
  }
}
