/** A download that is not complete yet: the bytes so far, their running hash, and which remote file they belong to. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { Type } from 'typebox';
import { writeFileAtomically } from '../../../../platform/files/atomic-file.ts';
import { compileLazily } from '../../../../platform/schema/compile-lazily.ts';
import { feedHash } from '../files/hash-file.ts';

/** The properties of a remote file that must stay the same for the rest of the bytes to fit. */
export interface RemoteIdentity {
  /** The URL without its query: signatures change, the file does not. */
  url: string;
  /** ETag of the server, else its Last-Modified, as it stands in the header. */
  validator?: string;
  sizeBytes?: number;
  sha256?: string;
}

const schema = compileLazily(
  Type.Object({
    url: Type.String(),
    validator: Type.Optional(Type.String()),
    sizeBytes: Type.Optional(Type.Number()),
    sha256: Type.Optional(Type.String()),
  }),
);

export class PartialFile {
  readonly path: string;
  identity: RemoteIdentity;
  receivedBytes = 0;
  #hash: Hash = createHash('sha256');
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle, identity: RemoteIdentity) {
    this.path = path;
    this.#file = file;
    this.identity = identity;
  }

  /** Opens what an earlier run left for the same URL (and hashes it again), or starts with nothing. */
  static async open(path: string, url: string, signal?: AbortSignal): Promise<PartialFile> {
    const identity = await readIdentity(statePath(path));
    const partial = new PartialFile(path, await open(path, 'a+', 0o644), identity ?? { url });
    if (identity?.url === url) partial.receivedBytes = await feedHash(partial.#hash, path, signal ? { signal } : {});
    else await partial.restart({ url });
    return partial;
  }

  async restart(identity: RemoteIdentity): Promise<void> {
    await this.#file.truncate(0);
    this.receivedBytes = 0;
    this.#hash = createHash('sha256');
    await this.identify(identity);
  }

  /** Remembers on disk whose bytes these are; done before the first byte, so that no byte is ever without its origin. */
  async identify(identity: RemoteIdentity): Promise<void> {
    this.identity = identity;
    await writeFileAtomically(statePath(this.path), JSON.stringify(identity));
  }

  /** The file is open for appending, so the bytes land behind the last ones. */
  async append(chunk: Buffer): Promise<void> {
    await this.#file.appendFile(chunk);
    this.#hash.update(chunk);
    this.receivedBytes += chunk.length;
  }

  /** SHA-256 of everything so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async forgetIdentity(): Promise<void> {
    await rm(statePath(this.path), { force: true });
  }

  async discard(): Promise<void> {
    await rm(this.path, { force: true });
    await this.forgetIdentity();
  }
}

const statePath = (path: string) => `${path}.json`;

async function readIdentity(path: string): Promise<RemoteIdentity | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return schema.Check(value) ? (value as RemoteIdentity) : undefined;
  } catch {
    return undefined;
  }
}
