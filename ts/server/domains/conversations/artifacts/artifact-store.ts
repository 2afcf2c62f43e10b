/** Artifacts and their versions in the database. What was made in a conversation is gone with it. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import { type ConversationError, conversationError } from '../errors.ts';
import { MAX_ARTIFACT_VERSIONS, MAX_ARTIFACTS } from '../limits.ts';
import type { Owner } from '../owner.ts';
import { lockRow } from '../store/conversation-store.ts';
import type { ArtifactTable, ConversationTables } from '../store/tables.ts';
import { bytesOfTexts, type TenantSpace } from '../store/tenant-space.ts';
import type { Dialect } from '../store/term-index.ts';
import type {
  Artifact,
  ArtifactContent,
  ArtifactCursor,
  ArtifactKind,
  ArtifactVersion,
  NewArtifact,
  NewVersion,
} from './artifact.ts';

type ArtifactRow = Selectable<ArtifactTable> & { readonly conversation_id: string | null };

export class ArtifactStore {
  readonly #access: StorageAccess<ConversationTables>;

  readonly #space: TenantSpace;

  constructor(storage: Storage, space: TenantSpace) {
    this.#access = storage.access<ConversationTables>();
    this.#space = space;
  }

  /** One that the owner has already under this id is left as it is. Throws `conversation_not_found`, `too_many_artifacts` and the quota's refusal. */
  async insert(owner: Owner, given: NewArtifact): Promise<{ artifact: Artifact; isNew: boolean }> {
    return await this.#access.write(owner, async (tx) => {
      const before = await artifactsOf(tx, owner).where('a.id', '=', given.id).executeTakeFirst();
      if (before !== undefined) return { artifact: toArtifact(before), isNew: false };
      await checkCount(tx, owner);
      await this.#space.require(tx, owner, bytesOfFirst(given));
      const no = await insertRow(tx, this.#access.dialect, owner, given);
      await insertVersion(tx, owner, no, 1, given);
      const row = await artifactsOf(tx, owner).where('a.no', '=', no).executeTakeFirstOrThrow();
      return { artifact: toArtifact(row), isNew: true };
    });
  }

  /** The content of the last version is no new one. Throws `artifact_not_found`, `artifact_full` and the quota's refusal. */
  async addVersion(owner: Owner, id: string, given: NewVersion): Promise<{ artifact: Artifact; isNew: boolean }> {
    return await this.#access.write(owner, async (tx) => {
      const row = await lockArtifact(tx, this.#access.dialect, owner, id);
      const last = await versionOf(tx, owner, row.no, row.last_version);
      if (last?.content === given.content) return { artifact: toArtifact(row), isNew: false };
      if (row.last_version >= MAX_ARTIFACT_VERSIONS)
        throw conversationError(
          'artifact_full',
          `The artifact has ${row.last_version} versions, which is the limit. Save a new one.`,
        );
      const version = row.last_version + 1;
      const more = bytesOfTexts(given.content);
      await this.#space.require(tx, owner, more);
      await insertVersion(tx, owner, row.no, version, given);
      const updatedAt = Math.max(given.createdAt, row.updated_at);
      const change = { last_version: version, updated_at: updatedAt, bytes: row.bytes + more };
      await tx.updateTable('artifacts').set(change).where('tenant', '=', owner.tenant).where('no', '=', row.no).execute();
      return { artifact: toArtifact({ ...row, ...change }), isNew: true };
    });
  }

  /** Newest first. */
  async list(owner: Owner, limit: number, after?: ArtifactCursor, conversationId?: string): Promise<Artifact[]> {
    const rows = await this.#access.read(owner, (db) =>
      artifactsOf(db, owner)
        .$if(conversationId !== undefined, (query) => query.where('c.id', '=', conversationId ?? ''))
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(a.updated_at, a.id) < (${after?.updatedAt ?? 0}, ${after?.id ?? ''})`),
        )
        .orderBy('a.updated_at', 'desc')
        .orderBy('a.id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map(toArtifact);
  }

  /** The version, or the last one, and a list of all. Undefined: the owner has no such artifact or version. */
  async find(owner: Owner, id: string, version?: number) {
    return await this.#access.read(owner, async (db) => {
      const row = await artifactsOf(db, owner).where('a.id', '=', id).executeTakeFirst();
      if (row === undefined) return undefined;
      const shown = await versionOf(db, owner, row.no, version ?? row.last_version);
      const versions = await versionsOf(db, owner, row.no).orderBy('version').execute();
      return shown && { artifact: toArtifact(row), shown, versions: versions.map(toVersion) };
    });
  }

  /** False: there was none. */
  async remove(owner: Owner, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(owner, (db) => [
      db.deleteFrom('artifacts').where('tenant', '=', owner.tenant).where('subject', '=', owner.subject).where('id', '=', id),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }
}

export function artifactsOf(db: Kysely<ConversationTables>, owner: Owner) {
  return db
    .selectFrom('artifacts as a')
    .leftJoin('conversations as c', 'c.no', 'a.conversation_no')
    .selectAll('a')
    .select('c.id as conversation_id')
    .where('a.tenant', '=', owner.tenant)
    .where('a.subject', '=', owner.subject);
}

/** The row, kept from other writers until the transaction ends. Throws `artifact_not_found`. */
export async function lockArtifact(
  tx: Kysely<ConversationTables>,
  dialect: Dialect,
  owner: Owner,
  id: string,
): Promise<ArtifactRow> {
  // PostgreSQL locks no row of an outer join's missing side.
  const locking = tx.selectFrom('artifacts').select('no').where('tenant', '=', owner.tenant);
  const own = locking.where('subject', '=', owner.subject).where('id', '=', id);
  const locked = await own.$if(dialect === 'postgres', (query) => query.forUpdate()).executeTakeFirst();
  if (locked === undefined) throw artifactNotFound();
  return await artifactsOf(tx, owner).where('a.no', '=', locked.no).executeTakeFirstOrThrow();
}

export async function versionOf(
  db: Kysely<ConversationTables>,
  owner: Pick<Owner, 'tenant'>,
  no: number,
  version: number,
): Promise<ArtifactContent | undefined> {
  const row = await versionsOf(db, owner, no).select('content').where('version', '=', version).executeTakeFirst();
  return row && { ...toVersion(row), content: row.content };
}

function versionsOf(db: Kysely<ConversationTables>, { tenant }: Pick<Owner, 'tenant'>, no: number) {
  return db
    .selectFrom('artifact_versions')
    .select(['version', 'message_id', 'created_at'])
    .where('tenant', '=', tenant)
    .where('artifact_no', '=', no);
}

/** Of the artifact and its first version. */
function bytesOfFirst({ title, content }: NewArtifact): number {
  return bytesOfTexts(title) + bytesOfTexts(content);
}

async function insertRow(tx: Kysely<ConversationTables>, dialect: Dialect, owner: Owner, given: NewArtifact): Promise<number> {
  const { conversationId } = given;
  const conversation = conversationId === undefined ? undefined : await lockRow(tx, dialect, owner, conversationId);
  const { no } = await tx
    .insertInto('artifacts')
    .values({
      tenant: owner.tenant,
      subject: owner.subject,
      id: given.id,
      conversation_no: conversation?.no ?? null,
      title: given.title,
      kind: given.kind,
      language: given.language ?? null,
      created_at: given.createdAt,
      updated_at: given.createdAt,
      last_version: 1,
      bytes: bytesOfFirst(given),
    })
    .returning('no')
    .executeTakeFirstOrThrow();
  return no;
}

async function insertVersion(
  tx: Kysely<ConversationTables>,
  { tenant }: Owner,
  no: number,
  version: number,
  { content, messageId, createdAt }: NewVersion,
): Promise<void> {
  const row = { tenant, artifact_no: no, version, content, message_id: messageId ?? null, created_at: createdAt };
  await tx.insertInto('artifact_versions').values(row).execute();
}

async function checkCount(db: Kysely<ConversationTables>, { tenant, subject }: Owner): Promise<void> {
  const { n } = await db
    .selectFrom('artifacts')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('tenant', '=', tenant)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow();
  if (n < MAX_ARTIFACTS) return;
  const detail = `You have ${n} artifacts, and no more than ${MAX_ARTIFACTS} are kept. Delete some first.`;
  throw conversationError('too_many_artifacts', detail);
}

export function toArtifact(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    title: row.title,
    kind: row.kind as ArtifactKind,
    language: row.language ?? undefined,
    conversationId: row.conversation_id ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastVersion: row.last_version,
  };
}

function toVersion(row: { version: number; message_id: string | null; created_at: number }): ArtifactVersion {
  return { version: row.version, messageId: row.message_id ?? undefined, createdAt: row.created_at };
}

export function artifactNotFound(): ConversationError {
  return conversationError('artifact_not_found', 'You have no artifact with this id, or not this version of it.');
}
