/** Backups on an SFTP server. A connection that was cut is opened again once for each use. */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { backupError, backupErrors, damaged } from '../../errors.ts';
import { type BackupFiles, FILE_NAME, type ListedFile } from '../backup-files.ts';
import type { SftpLocation } from '../location.ts';
import { SftpSession } from './sftp-session.ts';
import { type SshOptions, startSsh } from './ssh-process.ts';

interface SftpFilesOptions extends Omit<SshOptions, 'address'> {
  readonly policy: AddressPolicy;
  /** Longest silence of the server. */
  readonly idleMs?: number;
}

export class SftpFiles implements BackupFiles {
  readonly shown: string;
  readonly parallel = 4;
  readonly #options: SftpFilesOptions;
  readonly #madeFolders = new Set<string>();
  #session: Promise<SftpSession> | undefined;

  constructor(options: SftpFilesOptions) {
    const { user, host, port, folder } = options.location;
    this.#options = options;
    this.shown = `sftp://${user}@${host.includes(':') ? `[${host}]` : host}:${port}${folder}`;
  }

  async read(path: string, maxBytes: number): Promise<Buffer | undefined> {
    return await this.#use(async (session) => {
      try {
        return await session.readFile(this.#at(path), maxBytes);
      } catch (error) {
        throw error instanceof RangeError ? damaged(`${path} is no file of a backup, or too large for one.`, error) : error;
      }
    });
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#use(async (session) => {
      await this.#makeFolders(session, path);
      const part = this.#at(`${path}.${randomUUID()}.part`);
      await session.writeFile(part, bytes);
      await session.rename(part, this.#at(path));
    });
  }

  async renew(path: string): Promise<boolean> {
    return await this.#use((session) => session.touch(this.#at(path), Date.now()));
  }

  async list(folder: string): Promise<ListedFile[]> {
    return await this.#use((session) => this.#listWith(session, folder, 0));
  }

  async delete(path: string): Promise<void> {
    await this.#use((session) => session.remove(this.#at(path)));
  }

  /** Each file is synced before it gets its name. */
  async sync(): Promise<void> {}

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    (await session?.catch(() => undefined))?.close();
  }

  #at(path: string): string {
    return `${this.#options.location.folder}/${path}`;
  }

  async #listWith(session: SftpSession, folder: string, depth: number): Promise<ListedFile[]> {
    const found: ListedFile[] = [];
    for (const { name, kind, modifiedAt = 0 } of (await session.list(this.#at(folder))) ?? []) {
      const path = `${folder}/${name}`;
      if (!FILE_NAME.test(name)) continue;
      if (kind === 'folder' && depth < 2) found.push(...(await this.#listWith(session, path, depth + 1)));
      if (kind === 'file') found.push({ path, modifiedAt });
    }
    return found;
  }

  async #makeFolders(session: SftpSession, path: string): Promise<void> {
    const names = this.#at(path).split('/').slice(1, -1);
    for (let n = 1; n <= names.length; n += 1) {
      const folder = `/${names.slice(0, n).join('/')}`;
      if (this.#madeFolders.has(folder)) continue;
      await session.makeFolder(folder);
      this.#madeFolders.add(folder);
    }
  }

  /** What is done can be done again: a part has a name of its own, and all else ends in the same state. */
  async #use<T>(work: (session: SftpSession) => Promise<T>): Promise<T> {
    const session = await this.#connected();
    try {
      return await work(session);
    } catch (error) {
      if (!session.isBroken || !backupErrors.has(error)) throw error;
      return await work(await this.#connected());
    }
  }

  async #connected(): Promise<SftpSession> {
    const current = await this.#session?.catch(() => undefined);
    if (current !== undefined && !current.isBroken) return current;
    this.#session = this.#connect();
    return await this.#session;
  }

  async #connect(): Promise<SftpSession> {
    const { policy, location, idleMs, ...ssh } = this.#options;
    const address = await judgedAddress(location, policy);
    return await SftpSession.open(startSsh({ ...ssh, location, address }), idleMs);
  }
}

/** The policy speaks of https alone, and SSH is as well protected. */
function judgedAddress({ host, port }: SftpLocation, policy: AddressPolicy): Promise<string> {
  const url = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
  policy.check(url);
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    policy.lookupFor(url)(host, {}, (error, address) => {
      if (error === null && typeof address === 'string') return resolve(address);
      if (backupErrors.has(error)) return reject(error);
      reject(backupError('destination_unusable', `The host ${host} cannot be found.`, 'Correct the destination.', error));
    });
  });
}
