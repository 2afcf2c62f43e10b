/** The manifests of a backup folder. A backup is there when its manifest is, and that appears whole, after all its chunks. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import Type from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import type { BackupFiles } from '../destinations/backup-files.ts';
import { backupError, damaged } from '../errors.ts';
import { BACKUP_ID, type Manifest, type ManifestBody, ManifestHead, readManifestBody } from './manifest.ts';
import type { Sealing } from './sealing.ts';

const MAX_FILE_BYTES = 256 * 2 ** 20;
const MAX_BODY_BYTES = 512 * 2 ** 20;

const checkFile = compileLazily(Type.Object({ head: ManifestHead, body: Type.String() }));
const compress = promisify<Uint8Array, Buffer>(gzip);
const expand = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

export class ManifestStore {
  readonly #files: BackupFiles;

  constructor(files: BackupFiles) {
    this.#files = files;
  }

  async put(head: ManifestHead, body: ManifestBody, sealing: Sealing): Promise<void> {
    const sealed = sealing.seal(await compress(Buffer.from(JSON.stringify(body))), contextOf(head));
    await this.#files.write(pathOf(head.id), Buffer.from(JSON.stringify({ head, body: sealed.toString('base64') })));
    await this.#files.sync();
  }

  /** Oldest first, as their ids sort. Throws DomainError for a folder that cannot be read. */
  async listIds(): Promise<string[]> {
    return (await this.#files.list('manifests'))
      .map(({ path }) => path.slice('manifests/'.length))
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .filter((id) => BACKUP_ID.test(id))
      .sort();
  }

  /** What is to be read without a key: not proven by it either. Throws DomainError. */
  async getHead(id: string): Promise<ManifestHead> {
    return (await this.#read(id)).head;
  }

  /** Throws `backup_not_found` or `backup_damaged`. */
  async get(id: string, sealing: Sealing): Promise<Manifest> {
    const { head, body } = await this.#read(id);
    const compressed = sealing.open(Buffer.from(body, 'base64'), contextOf(head));
    const text = await expand(compressed, { maxOutputLength: MAX_BODY_BYTES }).catch((cause: unknown) => {
      throw damaged(`The manifest of ${id} cannot be expanded.`, cause);
    });
    return { ...head, ...readManifestBody(parseJson(text.toString('utf8'))) };
  }

  async delete(id: string): Promise<void> {
    await this.#files.delete(pathOf(id));
    await this.#files.sync();
  }

  async #read(id: string): Promise<{ head: ManifestHead; body: string }> {
    const bytes = BACKUP_ID.test(id) ? await this.#files.read(pathOf(id), MAX_FILE_BYTES) : undefined;
    if (bytes === undefined)
      throw backupError('backup_not_found', `There is no backup ${JSON.stringify(id.slice(0, 60))}.`, 'List the backups.');
    const file = parseJson(bytes.toString('utf8'));
    if (checkFile.Check(file) && file.head.id === id) return file;
    throw damaged(`The manifest of ${id} is not what svc writes.`);
  }
}

function pathOf(id: string): string {
  return `manifests/${id}.json`;
}

/** Everything in the head is sealed with the body. */
function contextOf({ format, id, created_at, version, key_id, size_bytes, stored_bytes }: ManifestHead): string {
  return `manifest of ${id} ${JSON.stringify([format, created_at, version, key_id, size_bytes, stored_bytes])}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
