/** Stored files in the database. */
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { FileRow, FileTables } from '../tables.ts';
import type { Purpose, StoredFile } from './stored-file.ts';

export interface FilePage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of the last one of the page before. */
  readonly after?: string | undefined;
  readonly purpose?: string | undefined;
  /** Only those of this uploader. */
  readonly subject?: string | undefined;
}

export class FileStore {
  readonly #access: StorageAccess<FileTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<FileTables>();
  }

  async insert(scope: TenantScope, file: StoredFile): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [db.insertInto('data_files').values(toRow(scope, file))]);
  }

  /** Does nothing where it is there already. */
  async insertOnce(scope: TenantScope, file: StoredFile): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [
      db
        .insertInto('data_files')
        .values(toRow(scope, file))
        .onConflict((conflict) => conflict.columns(['tenant', 'id']).doNothing()),
    ]);
  }

  async find(scope: TenantScope, id: string, now: number): Promise<StoredFile | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_files')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toFile(row);
  }

  async list(scope: TenantScope, { limit, order, after, purpose, subject }: FilePage, now: number): Promise<StoredFile[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_files')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
        .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
        .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose ?? ''))
        .$if(after !== undefined, (query) => query.where('id', order === 'asc' ? '>' : '<', after ?? ''))
        .orderBy('id', order)
        .limit(limit)
        .execute(),
    );
    return rows.map(toFile);
  }

  /** False: it is not there. */
  async remove(scope: TenantScope, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(scope, (db) => [
      db.deleteFrom('data_files').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }

  async removeAll(scope: TenantScope): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [db.deleteFrom('data_files').where('tenant', '=', scope.tenant)]);
  }

  /** Of the given hashes, those that files of the tenant have. */
  async listUsedHashes(scope: TenantScope, hashes: readonly string[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set();
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_files')
        .select('sha256')
        .distinct()
        .where('tenant', '=', scope.tenant)
        .where('sha256', 'in', [...hashes])
        .execute(),
    );
    return new Set(rows.map(({ sha256 }) => sha256));
  }

  /** Some of those that expired, whosever they are. */
  async listExpired(scope: SystemScope, now: number): Promise<{ tenant: string; id: string; sha256: string }[]> {
    return await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_files')
        .select(['tenant', 'id', 'sha256'])
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(200)
        .execute(),
    );
  }
}

function toRow({ tenant }: TenantScope, file: StoredFile): FileRow {
  return {
    tenant,
    id: file.id,
    subject: file.subject,
    credential: file.credential ?? null,
    file_name: file.fileName,
    purpose: file.purpose,
    bytes: file.sizeBytes,
    sha256: file.sha256,
    created_at: file.createdAt,
    expires_at: file.expiresAt ?? null,
  };
}

function toFile(row: FileRow): StoredFile {
  return {
    id: row.id,
    subject: row.subject,
    credential: row.credential ?? undefined,
    fileName: row.file_name,
    purpose: row.purpose as Purpose,
    sizeBytes: row.bytes,
    sha256: row.sha256,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  };
}
