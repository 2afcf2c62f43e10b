/** The steps of which changes of memories are made, each within a transaction of its caller, and rows as the module sees them. */
import type { Kysely, Selectable } from 'kysely';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type EmbeddingSource, floatBytes } from '../retrieval/index.ts';
import type { ChangeAction, Memory, MemoryCollection, MemoryKind, MemoryState, Origin, Trust } from './memory.ts';
import type { MemoryTable, MemoryTables } from './tables.ts';

export interface NewMemory {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly subject: string | undefined;
  readonly textHash: string;
  readonly attribute: string | undefined;
  readonly origin: Origin;
  readonly trust: Trust;
  readonly validFrom: number;
  /** Absent: it holds until something else is said. */
  readonly validTo?: number | undefined;
  readonly recordedAt: number;
  readonly embedding: Float32Array;
}

export type Db = Kysely<MemoryTables>;
export type Row = Selectable<MemoryTable>;

const FIRST_STRENGTH = 1;
export const MOST_STRENGTH = 100;
/** A memory that was said so often keeps the places of the first ones. */
const MOST_ORIGINS = 20;
/** SQLite takes 32,766 parameters in a statement. */
export const STEP = 500;

/** Also the lock under which changes of one collection come one after another. */
export async function nextVersion(
  tx: Db,
  { tenant }: TenantScope,
  { no }: MemoryCollection,
  dimensions?: number,
): Promise<number> {
  const { version } = await tx
    .updateTable('memory_collections')
    .set((eb) => ({ version: eb('version', '+', 1), ...(dimensions !== undefined && { dimensions }) }))
    .where('tenant', '=', tenant)
    .where('no', '=', no)
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}

/** Places in messages, so that nothing is made of them again. */
function placesOf({ origins }: Pick<Row, 'origins'>): string {
  const places = (JSON.parse(origins) as Origin[]).filter(({ messageId }) => messageId !== undefined);
  return JSON.stringify(places.map(({ messageId, start, end }) => ({ messageId, start, end })));
}

export async function bury(tx: Db, { tenant }: TenantScope, rows: readonly Row[], version: number, now: number): Promise<void> {
  for (const row of rows) {
    const { no, id, collection_no, owner } = row;
    const place = { tenant, no, id, collection_no, owner, version, places: placesOf(row), forgotten_at: now };
    await tx.insertInto('memory_forgotten').values(place).execute();
  }
}

/** Under its number the index has the memory as it was, or has removed it, so the memory gets another one. */
export async function renumber(tx: Db, scope: TenantScope, row: Row, version: number, now: number): Promise<Row> {
  const { no: _, ...values } = row;
  await tx.deleteFrom('memories').where('tenant', '=', scope.tenant).where('no', '=', row.no).execute();
  await bury(tx, scope, [{ ...row, origins: '[]' }], version, now);
  return await tx
    .insertInto('memories')
    .values({ ...values, version })
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface ChangeNote {
  readonly action: ChangeAction;
  readonly reason: string;
  readonly at: number;
  readonly dreamId?: string;
  readonly score?: number;
}

/** Keeps what of the memory is otherwise than before. */
export async function noteChange(
  tx: Db,
  { tenant }: TenantScope,
  before: Memory,
  after: Memory,
  { action, reason, at, dreamId, score }: ChangeNote,
): Promise<void> {
  const names = KEPT.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const some = (memory: Memory) => JSON.stringify(Object.fromEntries(names.map((name) => [name, memory[name] ?? null])));
  await tx
    .insertInto('memory_changes')
    .values({
      tenant,
      id: `mch_${newTimeOrderedId()}`,
      memory_id: after.id,
      owner: after.owner,
      at,
      action,
      before: some(before),
      after: some(after),
      reason,
      dream_id: dreamId ?? null,
      score: score ?? null,
      undone: 0,
    })
    .execute();
}

const KEPT = [
  'text',
  'kind',
  'subject',
  'validFrom',
  'validTo',
  'supersededBy',
  'isPinned',
  'state',
  'strength',
  'origins',
  'decayedAt',
] as const;

export function newRow({ tenant }: TenantScope, { no, owner }: MemoryCollection, draft: NewMemory, version: number) {
  return {
    tenant,
    id: `mem_${newTimeOrderedId()}`,
    collection_no: no,
    owner,
    kind: draft.kind,
    text: draft.text,
    text_hash: draft.textHash,
    subject: draft.subject ?? null,
    attribute: draft.attribute ?? null,
    origins: JSON.stringify([draft.origin]),
    trust: draft.trust,
    valid_from: draft.validFrom,
    valid_to: draft.validTo ?? null,
    recorded_at: draft.recordedAt,
    changed_at: draft.recordedAt,
    superseded_by: null,
    strength: FIRST_STRENGTH,
    recalled_at: null,
    decayed_at: null,
    pinned: 0,
    edited: 0,
    state: 'current',
    version,
    embedding: floatBytes(draft.embedding),
  };
}

export function toMemory(row: Omit<Row, 'embedding' | 'text_hash' | 'attribute'>): Memory {
  return {
    no: row.no,
    id: row.id,
    owner: row.owner,
    kind: row.kind as MemoryKind,
    text: row.text,
    subject: row.subject ?? undefined,
    origins: JSON.parse(row.origins) as Origin[],
    trust: row.trust as Trust,
    validFrom: row.valid_from,
    validTo: row.valid_to ?? undefined,
    recordedAt: row.recorded_at,
    changedAt: row.changed_at,
    supersededBy: row.superseded_by ?? undefined,
    strength: row.strength,
    recalledAt: row.recalled_at ?? undefined,
    decayedAt: row.decayed_at ?? undefined,
    isPinned: row.pinned === 1,
    isEdited: row.edited === 1,
    state: row.state as MemoryState,
  };
}

export function toCollection(row: Selectable<MemoryTables['memory_collections']>): MemoryCollection {
  return {
    no: row.no,
    id: row.id,
    owner: row.owner,
    embeddingModel: row.embedding_model,
    embeddingSource: row.embedding_source as EmbeddingSource,
    prefixes: row.embedding_prefixes,
    dimensions: row.dimensions ?? undefined,
    version: row.version,
    // What is forgotten stays known by its number.
    sweptVersion: 0,
    usedAt: 0,
  };
}

export function allOf(db: Db, { tenant }: TenantScope, { no }: MemoryCollection) {
  return db.selectFrom('memories').selectAll().where('tenant', '=', tenant).where('collection_no', '=', no);
}

function currentOf(db: Db, scope: TenantScope, collection: MemoryCollection) {
  return allOf(db, scope, collection).where('state', '=', 'current');
}

export function ofIds(db: Db, { tenant }: TenantScope, ids: readonly string[]) {
  return db
    .selectFrom('memories')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('id', 'in', [...ids]);
}

export function statedOf({ text, subject, text_hash: textHash }: Row) {
  return { text, subject: subject ?? undefined, textHash };
}

/** The memory that is there in the same words, strengthened unless it comes from a file again; undefined: none is. */
export async function repeatOne(
  tx: Db,
  scope: TenantScope,
  collection: MemoryCollection,
  draft: NewMemory,
): Promise<Memory | undefined> {
  const isImported = draft.trust === 'imported';
  const same = await (isImported ? allOf(tx, scope, collection) : currentOf(tx, scope, collection))
    .where('text_hash', '=', draft.textHash)
    .where('kind', '=', draft.kind)
    .executeTakeFirst();
  if (same === undefined) return undefined;
  return isImported ? toMemory(same) : await repeat(tx, scope, same, draft);
}

export async function insertOne(
  tx: Db,
  scope: TenantScope,
  collection: MemoryCollection,
  draft: NewMemory,
  version: number,
): Promise<Memory> {
  const row = await tx
    .insertInto('memories')
    .values(newRow(scope, collection, draft, version))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toMemory(await settle(tx, scope, collection, row, version));
}

async function repeat(tx: Db, { tenant }: TenantScope, row: Row, { origin, recordedAt }: NewMemory): Promise<Memory> {
  const origins = [...(JSON.parse(row.origins) as Origin[]), origin].slice(0, MOST_ORIGINS);
  const changed = await tx
    .updateTable('memories')
    .set({
      origins: JSON.stringify(origins),
      strength: Math.min(MOST_STRENGTH, row.strength + 1),
      changed_at: Math.max(recordedAt, row.changed_at + 1),
    })
    .where('tenant', '=', tenant)
    .where('no', '=', row.no)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toMemory(changed);
}

/** Ends the validity of whichever of the statements about the same attribute holds earlier. */
async function settle(tx: Db, scope: TenantScope, collection: MemoryCollection, row: Row, version: number): Promise<Row> {
  if (row.attribute === null) return row;
  const others = await currentOf(tx, scope, collection)
    .where('attribute', '=', row.attribute)
    .where('no', '<>', row.no)
    .where('pinned', '=', 0)
    .orderBy('valid_from', 'desc')
    .execute();
  const later = others.find((other) => holdsOver(other, row));
  for (const other of others) if (!holdsOver(other, row)) await supersede(tx, scope, other, row, version);
  return later === undefined ? row : await supersede(tx, scope, row, later, version);
}

/** Whatever a person said holds over what a file said, whenever that was; else what holds later. */
function holdsOver(one: Row, other: Row): boolean {
  const [isOneImported, isOtherImported] = [one.trust === 'imported', other.trust === 'imported'];
  return isOneImported === isOtherImported ? one.valid_from > other.valid_from : isOtherImported;
}

async function supersede(tx: Db, scope: TenantScope, old: Row, by: Row, version: number): Promise<Row> {
  const now = Math.max(by.recorded_at, old.changed_at + 1);
  const ended = { state: 'superseded', superseded_by: by.id, valid_to: Math.max(by.valid_from, old.valid_from), version };
  const row = await tx
    .updateTable('memories')
    .set({ ...ended, changed_at: now })
    .where('tenant', '=', scope.tenant)
    .where('no', '=', old.no)
    .returningAll()
    .executeTakeFirstOrThrow();
  const reason = 'A statement about the same subject and attribute holds later.';
  await noteChange(tx, scope, toMemory(old), toMemory(row), { action: 'superseded', reason, at: now });
  return row;
}

export async function remove(
  tx: Db,
  scope: TenantScope,
  collection: MemoryCollection,
  rows: readonly Row[],
  now: number,
): Promise<string[]> {
  if (rows.length === 0) return [];
  const { tenant } = scope;
  const version = await nextVersion(tx, scope, collection);
  await bury(tx, scope, rows, version, now);
  // A centre may be near to what is gone.
  await tx.deleteFrom('memory_slots').where('tenant', '=', tenant).where('owner', '=', collection.owner).execute();
  for (let at = 0; at < rows.length; at += STEP) {
    const ids = rows.slice(at, at + STEP).map(({ id }) => id);
    await tx.deleteFrom('memories').where('tenant', '=', tenant).where('id', 'in', ids).execute();
    await tx.deleteFrom('memory_changes').where('tenant', '=', tenant).where('memory_id', 'in', ids).execute();
    await tx
      .updateTable('memories')
      .set({ superseded_by: null })
      .where('tenant', '=', tenant)
      .where('superseded_by', 'in', ids)
      .execute();
  }
  return rows.map(({ id }) => id);
}
