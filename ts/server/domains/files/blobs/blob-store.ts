/**
 * Files by the hash of their content, each tenant's for itself: what one tenant stores must not be quicker because another has it. A file is
 * there before its row is, so a row that is found has its bytes: on this node, or in the database that several nodes share.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { moveIntoPlace, syncFolder } from '../../../platform/files/atomic-file.ts';
import { RemovalHold } from '../../../platform/files/removal-hold.ts';
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { uploadError } from '../errors.ts';
import type { BlobTables } from '../tables.ts';
import { BlobParts } from './blob-parts.ts';
import { blobPath, ownerOf } from './blob-path.ts';

interface Blob {
  /** Lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
}

export interface StoredBlob extends Blob {
  tenant: string;
  storedAtMs: number;
}

interface StoredBetween {
  afterMs: number;
  beforeMs: number;
  limit: number;
}

const SHA256 = /^[0-9a-f]{64}$/;

export class BlobStore {
  readonly #access: StorageAccess<BlobTables>;
  readonly #folder: string;
  readonly #derived: string;
  /** Storing and removing the same file take turns: a removal must not take the file that was stored meanwhile. */
  readonly #busy = new Map<string, Promise<unknown>>();
  /** Undefined: the bytes lie on the node that got them alone. */
  readonly #parts: BlobParts | undefined;
  readonly #hold: RemovalHold;

  /**
   * @param folder `data_dir/blobs`; it is made when the first file comes. What is made of files lies in `data_dir/cache/derived`.
   * @param isShared other nodes use the database, so the bytes go there as well. SQLite has no other nodes.
   * @param hold what a backup reads is removed after it.
   */
  constructor(storage: Storage, folder: string, isShared = true, hold = new RemovalHold()) {
    this.#hold = hold;
    this.#access = storage.access<BlobTables>();
    this.#folder = folder;
    this.#derived = join(dirname(folder), 'cache', 'derived');
    this.#parts = isShared && storage.dialect === 'postgres' ? new BlobParts(storage) : undefined;
  }

  /** Of a blob that find() knows; brought here from the database where another node got it. Throws DomainError `file_elsewhere`. */
  async open(scope: TenantScope, sha256: string): Promise<string> {
    const path = this.pathOf(scope, sha256);
    if (await isFile(path)) return path;
    await this.#inTurn(path, async () => {
      if (!(await isFile(path))) await this.#fetch(scope, sha256, path);
    });
    return path;
  }

  /** Where this node has a blob, or would have it. Throws a RangeError for what is no hash. */
  pathOf({ tenant }: { tenant: string }, sha256: string): string {
    if (!SHA256.test(sha256)) throw new RangeError('a blob is named by its SHA-256 in lowercase hexadecimal');
    return join(this.#folder, blobPath(tenant, sha256));
  }

  /**
   * The folder for what took long to make of a blob, as what is said in a recording. It goes with the blob; nothing else may depend on it, since the
   * cache is no part of backups. Whoever writes makes it.
   */
  derivedFolder({ tenant }: { tenant: string }, sha256: string): string {
    if (!SHA256.test(sha256)) throw new RangeError('a blob is named by its SHA-256 in lowercase hexadecimal');
    return join(this.#derived, blobPath(tenant, sha256));
  }

  /** Takes a file whose bytes are synced and were hashed. On return it is on disk under its new name, and known. */
  async store(scope: TenantScope, from: string, { sha256, sizeBytes }: Blob, nowMs: number): Promise<void> {
    const path = this.pathOf(scope, sha256);
    await this.#inTurn(path, async () => {
      if (await this.#makeFolder(dirname(path))) await syncFolder(this.#folder);
      await moveIntoPlace(from, path);
      await this.#parts?.write(scope, sha256, path);
      await this.#access.writeUnit(scope, (db) => [
        db
          .insertInto('data_blobs')
          .values({ tenant: scope.tenant, sha256, bytes: sizeBytes, stored_at: nowMs })
          .onConflict((conflict) => conflict.columns(['tenant', 'sha256']).doUpdateSet({ stored_at: nowMs })),
      ]);
      // Another node may have removed the same blob while its parts were written; now that the row is new, nobody does.
      await this.#parts?.write(scope, sha256, path);
    });
  }

  async find(scope: TenantScope, sha256: string): Promise<Blob | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_blobs')
        .select('bytes')
        .where('tenant', '=', scope.tenant)
        .where('sha256', '=', sha256)
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : { sha256, sizeBytes: row.bytes };
  }

  /** Whosever they are, in the order in which they were stored; those of one millisecond are listed together. */
  async listStored(scope: SystemScope, { afterMs, beforeMs, limit }: StoredBetween): Promise<StoredBlob[]> {
    const rows = await this.#access.read(scope, async (db) => {
      const between = db.selectFrom('data_blobs').selectAll().where('stored_at', '>', afterMs).where('stored_at', '<', beforeMs);
      const some = await between.orderBy('stored_at').limit(limit).execute();
      const last = some.at(-1)?.stored_at;
      if (last === undefined || some.length < limit) return some;
      const rest = await between.where('stored_at', '=', last).execute();
      return [...some.filter(({ stored_at }) => stored_at < last), ...rest];
    });
    return rows.map(({ tenant, sha256, bytes, stored_at }) => ({ tenant, sha256, sizeBytes: bytes, storedAtMs: stored_at }));
  }

  /** Hashes of some of the tenant's. */
  async listOf(scope: TenantScope, limit: number): Promise<string[]> {
    const rows = await this.#access.read(scope, (db) =>
      db.selectFrom('data_blobs').select('sha256').where('tenant', '=', scope.tenant).limit(limit).execute(),
    );
    return rows.map(({ sha256 }) => sha256);
  }

  /** @param storedBeforeMs one that was stored again since stays. */
  async remove(scope: TenantScope, sha256: string, storedBeforeMs = Number.MAX_SAFE_INTEGER): Promise<void> {
    const path = this.pathOf(scope, sha256);
    await this.#inTurn(path, async () => {
      const [result] = await this.#access.writeUnit(scope, (db) => [
        db
          .deleteFrom('data_blobs')
          .where('tenant', '=', scope.tenant)
          .where('sha256', '=', sha256)
          .where('stored_at', '<', storedBeforeMs),
        // Parts without a row are of a blob that is being stored, or was never whole.
        db
          .deleteFrom('data_blob_parts')
          .where('tenant', '=', scope.tenant)
          .where('sha256', '=', sha256)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(selectFrom('data_blobs').select('sha256').where('tenant', '=', scope.tenant).where('sha256', '=', sha256)),
            ),
          ),
      ]);
      if ((result?.affectedRows ?? 0) === 0) return;
      await this.#removeDerived(scope, sha256);
      await this.#hold.remove(
        () => rm(path, { force: true }),
        () => this.#removeUnknown(scope, sha256),
      );
    });
  }

  async #removeDerived(scope: TenantScope, sha256: string): Promise<void> {
    await rm(this.derivedFolder(scope, sha256), { recursive: true, force: true });
  }

  /** The file of a blob whose row is gone; it may have been stored again. */
  async #removeUnknown(scope: TenantScope, sha256: string): Promise<void> {
    const path = this.pathOf(scope, sha256);
    await this.#inTurn(path, async () => {
      if ((await this.find(scope, sha256)) === undefined) await rm(path, { force: true });
    });
  }

  /** Files of this node whose blobs were removed by another one, and what a crash left behind. */
  async removeOrphans(scope: SystemScope, olderThanMs: number): Promise<void> {
    if (!this.#hold.isHeld) await this.#removeUnowned(this.#folder, scope, olderThanMs);
    await this.#removeUnowned(this.#derived, scope, olderThanMs);
  }

  async #removeUnowned(root: string, scope: SystemScope, olderThanMs: number): Promise<void> {
    for (const owner of await names(root))
      for (const start of await names(join(root, owner))) {
        const folder = join(root, owner, start);
        const files = await names(folder);
        const known = await this.#findOwners(scope, files);
        for (const file of files) {
          if (known.has(`${owner} ${file}`)) continue;
          const found = await stat(join(folder, file)).catch(() => undefined);
          if (found !== undefined && found.mtimeMs < olderThanMs && found.ctimeMs < olderThanMs)
            await rm(join(folder, file), { recursive: true, force: true });
        }
      }
  }

  /** Written beside, verified, and moved into its place: a file that is there is whole. */
  async #fetch(scope: TenantScope, sha256: string, path: string): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined || (await this.find(scope, sha256)) === undefined) throw elsewhere();
    if (await this.#makeFolder(dirname(path))) await syncFolder(this.#folder);
    const temporary = join(dirname(path), `${basename(path)}.${newTimeOrderedId()}`);
    const hash = createHash('sha256');
    const file = await open(temporary, 'wx', 0o600);
    try {
      for await (const part of parts.read(scope, sha256)) {
        hash.update(part);
        await file.write(part);
      }
      await file.datasync();
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    if (hash.digest('hex') === sha256) return await moveIntoPlace(temporary, path);
    await rm(temporary, { force: true });
    throw elsewhere();
  }

  async #findOwners(scope: SystemScope, hashes: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (let at = 0; at < hashes.length; at += 500) {
      const some = hashes.slice(at, at + 500);
      const rows = await this.#access.read(scope, (db) =>
        db.selectFrom('data_blobs').select(['tenant', 'sha256']).where('sha256', 'in', some).execute(),
      );
      for (const { tenant, sha256 } of rows) known.add(`${ownerOf(tenant)} ${sha256}`);
    }
    return known;
  }

  /** True: it was not there. */
  async #makeFolder(path: string): Promise<boolean> {
    if (await stat(path).catch(() => undefined)) return false;
    await mkdir(path, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(path));
    return true;
  }

  async #inTurn(key: string, act: () => Promise<void>): Promise<void> {
    const before = this.#busy.get(key) ?? Promise.resolve();
    const done = before.then(act, act);
    this.#busy.set(key, done);
    try {
      await done;
    } finally {
      if (this.#busy.get(key) === done) this.#busy.delete(key);
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Empty for a folder that is not there. */
async function names(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

function elsewhere(): Error {
  return uploadError('file_elsewhere', 'The bytes of the file lie on another node. Ask the node that it was sent to.');
}
