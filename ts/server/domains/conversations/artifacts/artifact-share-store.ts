/** Links to versions of artifacts in the database. */
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { Owner } from '../owner.ts';
import type { ConversationTables } from '../store/tables.ts';
import type { Artifact, ArtifactContent, ArtifactShare } from './artifact.ts';
import { artifactNotFound, artifactsOf, lockArtifact, toArtifact, versionOf } from './artifact-store.ts';

export class ArtifactShareStore {
  readonly #access: StorageAccess<ConversationTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
  }

  /** A version that is shared already keeps its link. Throws `artifact_not_found`. */
  async insert(
    owner: Owner,
    artifactId: string,
    version: number | undefined,
    { id, createdAt }: Omit<ArtifactShare, 'version'>,
  ): Promise<{ share: ArtifactShare; isNew: boolean }> {
    return await this.#access.write(owner, async (tx) => {
      const artifact = await lockArtifact(tx, this.#access.dialect, owner, artifactId);
      const shared = version ?? artifact.last_version;
      if (shared > artifact.last_version) throw artifactNotFound();
      const before = await tx
        .selectFrom('artifact_shares')
        .select(['id', 'created_at'])
        .where('tenant', '=', owner.tenant)
        .where('artifact_no', '=', artifact.no)
        .where('version', '=', shared)
        .executeTakeFirst();
      if (before !== undefined) return { share: { id: before.id, version: shared, createdAt: before.created_at }, isNew: false };
      const row = { tenant: owner.tenant, id, artifact_no: artifact.no, version: shared, created_at: createdAt };
      await tx.insertInto('artifact_shares').values(row).execute();
      return { share: { id, version: shared, createdAt }, isNew: true };
    });
  }

  async list(owner: Owner, artifactId: string): Promise<ArtifactShare[]> {
    const rows = await this.#access.read(owner, (db) =>
      db
        .selectFrom('artifact_shares')
        .select(['id', 'version', 'created_at'])
        .where('tenant', '=', owner.tenant)
        .where('artifact_no', 'in', artifactsOf(db, owner).clearSelect().select('a.no').where('a.id', '=', artifactId))
        .orderBy('version')
        .execute(),
    );
    return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
  }

  /** For any caller of the tenant. */
  async find(scope: TenantScope, id: string): Promise<{ artifact: Artifact; shown: ArtifactContent } | undefined> {
    return await this.#access.read(scope, async (db) => {
      const row = await db
        .selectFrom('artifact_shares as s')
        .innerJoin('artifacts as a', 'a.no', 's.artifact_no')
        .selectAll('a')
        .select('s.version')
        .where('s.tenant', '=', scope.tenant)
        .where('a.tenant', '=', scope.tenant)
        .where('s.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const shown = await versionOf(db, scope, row.no, row.version);
      // Readers are not told which conversation it comes from.
      return shown && { artifact: toArtifact({ ...row, conversation_id: null }), shown: { ...shown, messageId: undefined } };
    });
  }

  /** False: the owner has shared nothing under this id. */
  async remove(owner: Owner, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(owner, (db) => [
      db
        .deleteFrom('artifact_shares')
        .where('tenant', '=', owner.tenant)
        .where('id', '=', id)
        .where('artifact_no', 'in', artifactsOf(db, owner).clearSelect().select('a.no')),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }
}
