/** Takes uploaded recordings and films as stored files, and hands all else to whoever takes it. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { uploadError } from '../errors.ts';
import type { FileStore } from '../stored/file-store.ts';
import { fileIdOf } from '../stored/stored-file.ts';
import type { Uploader } from '../uploader.ts';
import { MEDIA_NAMESPACE } from './given-file.ts';
import type { UploadedFile, UploadOutcome, UploadTarget } from './upload.ts';

/** Says what a file is by its content. Throws a DomainError `invalid_media` for what is neither recording nor film. */
export type InspectMedia = (path: string) => Promise<{ kind: 'audio' | 'video'; duration: number }>;

interface MediaTargetOptions {
  files: FileStore;
  /** Undefined: no module of this node does. */
  inspect: InspectMedia | undefined;
  now(): number;
  others: UploadTarget;
}

type Admitted = Parameters<UploadTarget['admit']>[2];

export class MediaTarget implements UploadTarget {
  readonly #options: MediaTargetOptions;

  constructor(options: MediaTargetOptions) {
    this.#options = options;
  }

  async admit(caller: Principal, scope: TenantScope, file: Admitted): Promise<void> {
    if (file.namespace === MEDIA_NAMESPACE) this.#inspection();
    else await this.#options.others.admit(caller, scope, file);
  }

  async reaches(caller: Principal, namespace: string): Promise<boolean> {
    return namespace === MEDIA_NAMESPACE || (await this.#options.others.reaches(caller, namespace));
  }

  /** The file's id is made of the upload's, so that a second time makes no second file. */
  async accept(uploader: Uploader, file: UploadedFile): Promise<UploadOutcome> {
    if (file.namespace !== MEDIA_NAMESPACE) return await this.#options.others.accept(uploader, file);
    const { kind, duration } = await this.#inspection()(file.path);
    const { uploadId, fileName, sizeBytes, sha256 } = file;
    const id = fileIdOf(uploadId);
    const terms = { subject: uploader.subject, credential: undefined, purpose: 'media', expiresAt: undefined } as const;
    await this.#options.files.insertOnce(uploader, { id, fileName, sizeBytes, sha256, createdAt: this.#options.now(), ...terms });
    return { status: 201, body: { file_id: id, bytes: sizeBytes, kind, duration } };
  }

  #inspection(): InspectMedia {
    if (this.#options.inspect !== undefined) return this.#options.inspect;
    throw uploadError('media_unavailable', 'This node has no module that reads recordings; switch the role media on.');
  }
}
