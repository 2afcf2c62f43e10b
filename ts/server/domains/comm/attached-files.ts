/** Files that go out with a message: stored files of whoever sends it, by the hash of their content, read when it is sent. */
import { readFile } from 'node:fs/promises';
import type { Principal } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { type FilesApi, uploaderOf } from '../files/index.ts';
import type { Attachment, Channel } from './channels/channel.ts';
import { commError } from './errors.ts';

/** A file as the sealed body of a message names it. */
export interface AttachedFile {
  readonly name: string;
  readonly sha256: string;
}

const MAX_ATTACHED_BYTES = 10 * 1024 * 1024;

type UsedFiles = Pick<FilesApi, 'stored' | 'blobs' | 'intake'>;

export class AttachedFiles {
  readonly #files: () => UsedFiles;
  readonly #now: () => number;

  constructor(files: () => UsedFiles, now: () => number) {
    this.#files = files;
    this.#now = now;
  }

  /** Throws `attachment_refused`. */
  async find(caller: Principal, { takesFiles }: Channel, ids: readonly string[]): Promise<AttachedFile[]> {
    if (ids.length === 0) return [];
    if (!takesFiles) throw refusal('The account takes no files.');
    return await this.#own(caller, ids);
  }

  /** The bytes of a file of the caller. Throws `attachment_refused`. */
  async readOwn(caller: Principal, id: string): Promise<Buffer> {
    const [file] = await this.read(uploaderOf(caller), await this.#own(caller, [id]));
    return file?.content ?? Buffer.alloc(0);
  }

  /** Stores a file for the caller, and says its id. */
  async keep(caller: Principal, name: string, content: Buffer): Promise<string> {
    const { intake } = this.#files();
    const uploader = uploaderOf(caller);
    const arrived = await intake.receive(uploader, name, content.length, pieces(content));
    const terms = { purpose: 'user_data', expiresAfterMs: undefined, credential: caller.keyId } as const;
    return (await intake.keep(uploader, arrived, terms)).id;
  }

  async #own(caller: Principal, ids: readonly string[]): Promise<AttachedFile[]> {
    const uploader = uploaderOf(caller);
    const { stored } = this.#files();
    const found = await Promise.all(ids.map((id) => stored.find(uploader, id, this.#now())));
    const own = found.filter((file) => file?.subject === uploader.subject).filter((file) => file !== undefined);
    if (own.length < ids.length) throw refusal('One of the files is none of yours.');
    if (own.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MAX_ATTACHED_BYTES)
      throw refusal('The files are larger than 10 MiB together.');
    return own.map(({ fileName, sha256 }) => ({ name: fileName, sha256 }));
  }

  /** Throws where one was removed since. */
  read(scope: TenantScope, attached: readonly AttachedFile[]): Promise<Attachment[]> {
    return Promise.all(
      attached.map(async ({ name, sha256 }) => ({
        name,
        content: await readFile(await this.#files().blobs.open(scope, sha256)),
      })),
    );
  }
}

async function* pieces(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

function refusal(sentence: string) {
  return commError('attachment_refused', sentence, { param: 'file_ids' });
}
