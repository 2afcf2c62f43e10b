/** The steps by which a document comes and goes, each within a transaction of its caller. */
import { type Kysely, sql } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { DocumentSource, EmbeddedPassage } from '../../retrieval/index.ts';
import { knowledgeError, namespaceNotFound } from '../errors.ts';
import type { KnowledgeBase, NewDocument } from '../knowledge-base.ts';
import { toChunkRow, warningsText } from './rows.ts';
import type { KnowledgeTables } from './tables.ts';

/** Rows of one statement: SQLite takes 32,766 parameters. */
const INSERT_ROWS = 200;

/** `file`: the one part is the file's name, and its bytes are the blob of the document's hash. */
export type PendingSource = DocumentSource | (Omit<DocumentSource, 'form'> & { readonly form: 'file' });

/** What is known of a document once it is cut. */
export interface PublishedFacts {
  readonly nChunks: number;
  readonly title: string | undefined;
  readonly now: number;
}

export function readyOf(db: Kysely<KnowledgeTables>, tenant: string, base: KnowledgeBase) {
  return db
    .selectFrom('data_documents')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('base_no', '=', base.no)
    .where('state', '=', sql.lit('ready'));
}

/** Also the lock under which changes of one base come one after another. */
export async function nextVersion(tx: Kysely<KnowledgeTables>, { tenant }: TenantScope, base: KnowledgeBase): Promise<number> {
  const row = await tx
    .updateTable('data_bases')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('tenant', '=', tenant)
    .where('no', '=', base.no)
    .where('removed', '=', 0)
    .returning('version')
    .executeTakeFirst();
  if (row === undefined) throw namespaceNotFound(base.namespace);
  return row.version;
}

/** Changes of one base come one after another, as under nextVersion(), and nothing changes yet. Throws `namespace_not_found`. */
export async function lockBase(tx: Kysely<KnowledgeTables>, { tenant }: TenantScope, base: KnowledgeBase): Promise<void> {
  const row = await tx
    .updateTable('data_bases')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('tenant', '=', tenant)
    .where('no', '=', base.no)
    .where('removed', '=', 0)
    .returning('version')
    .executeTakeFirst();
  if (row === undefined) throw namespaceNotFound(base.namespace);
}

export async function insertParts(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  no: number,
  { form, parts }: PendingSource,
): Promise<void> {
  for (const [seq, content] of parts.entries())
    await tx.insertInto('data_blocks').values({ tenant, document_no: no, seq, form, content }).execute();
}

export async function insertDocument(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  base: KnowledgeBase,
  document: NewDocument,
  now: number,
): Promise<number> {
  const { no } = await tx
    .insertInto('data_documents')
    .values({
      tenant,
      base_no: base.no,
      id: document.id,
      source: document.source,
      title: document.title ?? null,
      sha256: document.sha256,
      kind: document.kind,
      tags: JSON.stringify(document.tags),
      dated_at: document.datedAt,
      bytes: document.sizeBytes,
      n_chunks: 0,
      state: 'pending',
      version: 0,
      job_id: null,
      changed_at: now,
      file_id: document.attached?.fileId ?? null,
      attributes: document.attached === undefined ? null : JSON.stringify(document.attached.attributes),
      batch_id: document.attached?.batchId ?? null,
      failure: null,
      warnings: warningsText(document.warnings),
    })
    .returning('no')
    .executeTakeFirstOrThrow();
  return no;
}

export async function insertChunks(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  base: KnowledgeBase,
  no: number,
  chunks: readonly EmbeddedPassage[],
): Promise<void> {
  for (let at = 0; at < chunks.length; at += INSERT_ROWS) {
    const rows = chunks.slice(at, at + INSERT_ROWS).map((chunk) => toChunkRow(tenant, base.no, no, chunk));
    await tx
      .insertInto('data_chunks')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['document_no', 'seq']).doNothing())
      .execute();
  }
}

/** What became of a document that was to be published: of versions of one source, the one that arrived last stays. */
export type Publication = 'published' | 'superseded';

export async function publish(
  tx: Kysely<KnowledgeTables>,
  scope: TenantScope,
  base: KnowledgeBase,
  no: number,
  { nChunks, title, now }: PublishedFacts,
): Promise<Publication> {
  const version = await nextVersion(tx, scope, base);
  const own = await tx
    .selectFrom('data_documents')
    .select(['source', 'state'])
    .where('tenant', '=', scope.tenant)
    .where('no', '=', no)
    .executeTakeFirst();
  if (own?.state !== 'pending')
    throw knowledgeError('document_not_found', 'The document was deleted while it was being indexed.');
  const before = await readyOf(tx, scope.tenant, base).where('source', '=', own.source).execute();
  if (before.some((row) => row.no > no)) {
    await forget(tx, scope, [no]);
    return 'superseded';
  }
  await bury(
    tx,
    scope,
    before.map((row) => row.no),
    version,
    now,
  );
  await tx
    .updateTable('data_documents')
    .set({ state: 'ready', version, n_chunks: nChunks, title: title ?? null, changed_at: now, job_id: null })
    .where('tenant', '=', scope.tenant)
    .where('no', '=', no)
    .execute();
  await tx.deleteFrom('data_blocks').where('tenant', '=', scope.tenant).where('document_no', '=', no).execute();
  await forget(tx, scope, await listOlderPending(tx, scope, base, own.source, no));
  return 'published';
}

/** Versions of the source that wait still, although a newer one is published: were that deleted, they would come back in its place. */
async function listOlderPending(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  base: KnowledgeBase,
  source: string,
  no: number,
): Promise<number[]> {
  const rows = await tx
    .selectFrom('data_documents')
    .select('no')
    .where('tenant', '=', tenant)
    .where('base_no', '=', base.no)
    .where('version', '=', 0)
    .where('state', '=', sql.lit('pending'))
    .where('source', '=', source)
    .where('no', '<', no)
    .execute();
  return rows.map((row) => row.no);
}

/** Documents that nobody has ever found, so they leave no tombstone. */
export async function forget(tx: Kysely<KnowledgeTables>, { tenant }: TenantScope, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return;
  await tx
    .updateTable('data_documents')
    .set({ state: 'deleted', ...ERASED })
    .where('tenant', '=', tenant)
    .where('no', 'in', [...numbers])
    .execute();
}

/** What a deleted document's row says no more. */
export const ERASED = {
  source: '',
  title: null,
  tags: '[]',
  sha256: '',
  file_id: null,
  attributes: null,
  batch_id: null,
  failure: null,
  warnings: null,
} as const;

/** What stays tells indexes that the document is gone, and nothing of what it said. */
export async function bury(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  numbers: readonly number[],
  version: number,
  now: number,
): Promise<void> {
  if (numbers.length === 0) return;
  await tx
    .updateTable('data_documents')
    .set({ state: 'deleted', version, changed_at: now, ...ERASED })
    .where('tenant', '=', tenant)
    .where('no', 'in', [...numbers])
    .execute();
}
