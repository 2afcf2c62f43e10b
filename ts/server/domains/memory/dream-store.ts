/** Dreams on disk: each with what it was asked and what it did, and its changes, which can be undone. */
import type { Selectable, Updateable } from 'kysely';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { floatsOf } from '../retrieval/index.ts';
import type { DreamOptions, DreamStep, DreamtMembers, DreamtMemory, PlannedUnit } from './dream-plan.ts';
import { type ChangeAction, FILE, MASTER, type Memory, type MemoryCollection, type Origin } from './memory.ts';
import { bury, type Db, type NewMemory, newRow, nextVersion, noteChange, type Row, renumber, toMemory } from './memory-rows.ts';
import type { MemoryStorage, MemoryTables } from './tables.ts';

export const DREAM_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
type DreamState = (typeof DREAM_STATES)[number];

export interface DreamRequest extends DreamOptions {
  readonly steps: readonly DreamStep[];
  readonly isDry: boolean;
  readonly maxSeconds: number;
}

/** The report says what a dream did. */
export interface DreamReport {
  /** Changes by step, applied or, of a dry run, planned. */
  readonly changed: Readonly<Partial<Record<DreamStep, number>>>;
  readonly skipped: readonly { readonly step: DreamStep; readonly reason: string }[];
  /** How many slots were learned. */
  readonly slots?: number;
  /** A dry run says here what would be changed. */
  readonly planned?: readonly {
    readonly memory: string;
    readonly action: string;
    readonly reason: string;
    readonly score: number;
  }[];
}

export interface Dream {
  readonly id: string;
  readonly owner: string;
  readonly state: DreamState;
  readonly request: DreamRequest;
  /** Undefined: it waits to be enqueued. */
  readonly jobId: string | undefined;
  readonly report: DreamReport | undefined;
  readonly beganAt: number;
  readonly endedAt: number | undefined;
}

export interface DreamChange {
  readonly id: string;
  readonly memoryId: string;
  readonly at: number;
  readonly action: ChangeAction;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly score: number;
  readonly isUndone: boolean;
}

const COLUMNS: Readonly<Record<keyof DreamtMembers, string>> = {
  state: 'state',
  supersededBy: 'superseded_by',
  validTo: 'valid_to',
  strength: 'strength',
  origins: 'origins',
  decayedAt: 'decayed_at',
};

export class DreamStore {
  readonly #storage: MemoryStorage;

  constructor(storage: MemoryStorage) {
    this.#storage = storage;
  }

  async add(scope: TenantScope, owner: string, request: DreamRequest, now: number): Promise<Dream> {
    const row = {
      tenant: scope.tenant,
      id: `drm_${newTimeOrderedId()}`,
      owner,
      state: 'queued',
      request: JSON.stringify(request),
      job_id: null,
      report: null,
      began_at: now,
      ended_at: null,
    };
    await this.#storage.writeUnit(scope, (db) => [db.insertInto('memory_dreams').values(row)]);
    return toDream(row);
  }

  /** Newest first, those behind the id `after`. */
  async list(
    scope: TenantScope,
    owners: readonly string[],
    { after, limit }: { after: string; limit: number },
  ): Promise<Dream[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_dreams')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('owner', 'in', [...owners])
        .$if(after !== '', (query) => query.where('id', '<', after))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map(toDream);
  }

  async find(scope: TenantScope, owners: readonly string[], id: string): Promise<Dream | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_dreams')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('owner', 'in', [...owners])
        .where('id', '=', id)
        .executeTakeFirst(),
    );
    return row && toDream(row);
  }

  /** It never began. */
  async remove(scope: TenantScope, id: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('memory_dreams').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  async setJob(scope: TenantScope, id: string, jobId: string): Promise<void> {
    await this.#set(scope, id, { job_id: jobId });
  }

  async begin(scope: TenantScope, id: string, jobId: string): Promise<void> {
    await this.#set(scope, id, { state: 'running', job_id: jobId });
  }

  /** One that has ended stays as it is. */
  async end(scope: TenantScope, id: string, state: DreamState, endedAt: number, report?: DreamReport): Promise<void> {
    await this.#set(scope, id, { state, ended_at: endedAt, ...(report && { report: JSON.stringify(report) }) });
  }

  async #set(scope: TenantScope, id: string, set: Updateable<MemoryTables['memory_dreams']>): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('memory_dreams')
        .set(set)
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id)
        .where('ended_at', 'is', null),
    ]);
  }

  /** Current memories with their vectors. */
  async load(scope: TenantScope, { no }: MemoryCollection): Promise<DreamtMemory[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('collection_no', '=', no)
        .where('state', '=', 'current')
        .orderBy('no')
        .execute(),
    );
    return rows.map((row) => ({ memory: toMemory(row), embedding: floatsOf(row.embedding) }));
  }

  /** Makes all changes of a unit, or none: when one of its memories is not any more as it was planned. How many it were. */
  async apply(
    scope: TenantScope,
    collection: MemoryCollection,
    dreamId: string,
    unit: PlannedUnit,
    summary: NewMemory | undefined,
    now: number,
  ): Promise<number> {
    return await this.#storage.write(scope, async (tx) => {
      const rows = await unchangedRows(tx, scope, unit);
      if (rows === undefined) return 0;
      const version = await nextVersion(tx, scope, collection);
      let madeId: string | undefined;
      if (summary !== undefined) {
        const made = await tx
          .insertInto('memories')
          .values(newRow(scope, collection, summary, version))
          .returningAll()
          .executeTakeFirstOrThrow();
        madeId = made.id;
        const after = toMemory(made);
        const about = { action: 'made', reason: 'The episodes of a week, as one.', at: now, dreamId, score: 1 } as const;
        await noteChange(tx, scope, { ...after, state: 'archived' }, after, about);
      }
      for (const { memory, action, after, reason, score } of unit.changes) {
        const members = madeId === undefined ? after : { ...after, supersededBy: madeId };
        await tx
          .updateTable('memories')
          .set({
            ...columnsOf(members),
            changed_at: Math.max(now, memory.changedAt + 1),
            ...(members.state !== undefined && { version }),
          })
          .where('tenant', '=', scope.tenant)
          .where('no', '=', memory.no)
          .execute();
        await noteChange(tx, scope, memory, { ...memory, ...members }, { action, reason, at: now, dreamId, score });
      }
      return unit.changes.length + (summary === undefined ? 0 : 1);
    });
  }

  /** Reads the changes in the order in which they were made. */
  async changes(scope: TenantScope, dreamId: string): Promise<DreamChange[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_changes')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('dream_id', '=', dreamId)
        .orderBy('id')
        .execute(),
    );
    return rows.map((row) => ({
      id: row.id,
      memoryId: row.memory_id,
      at: row.at,
      action: row.action as ChangeAction,
      before: JSON.parse(row.before) as Record<string, unknown>,
      after: JSON.parse(row.after) as Record<string, unknown>,
      reason: row.reason,
      score: row.score ?? 1,
      isUndone: row.undone === 1,
    }));
  }

  /** False: the memory is not any more as the change left it. */
  async undo(scope: TenantScope, collection: MemoryCollection, change: DreamChange, now: number): Promise<boolean> {
    return await this.#storage.write(scope, async (tx) => {
      const row = await tx
        .selectFrom('memories')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('id', '=', change.memoryId)
        .executeTakeFirst();
      if (row === undefined || !isAsLeft(row, change.after)) return false;
      const version = await nextVersion(tx, scope, collection);
      if (change.action === 'made') {
        await bury(tx, scope, [row], version, now);
        await tx.deleteFrom('memories').where('tenant', '=', scope.tenant).where('no', '=', row.no).execute();
      } else {
        const changedAt = Math.max(now, row.changed_at + 1);
        const restored = await tx
          .updateTable('memories')
          .set({ ...columnsOf(change.before as Partial<DreamtMembers>), changed_at: changedAt })
          .where('tenant', '=', scope.tenant)
          .where('no', '=', row.no)
          .returningAll()
          .executeTakeFirstOrThrow();
        if (restored.state !== row.state) await renumber(tx, scope, restored, version, now);
      }
      await tx
        .updateTable('memory_changes')
        .set({ undone: 1 })
        .where('tenant', '=', scope.tenant)
        .where('id', '=', change.id)
        .execute();
      return true;
    });
  }

  /** Owners of all tenants that have memories which are no file's, with when each last dreamt. */
  async listDue(everyone: Parameters<MemoryStorage['read']>[0]): Promise<{ tenant: string; owner: string; dreamtAt: number }[]> {
    const rows = await this.#storage.read(everyone, (db) =>
      db
        .selectFrom('memory_collections as c')
        .leftJoin('memory_dreams as d', (join) => join.onRef('d.tenant', '=', 'c.tenant').onRef('d.owner', '=', 'c.owner'))
        .where('c.owner', 'not like', `${FILE}%`)
        .where('c.owner', '<>', MASTER)
        .select(['c.tenant', 'c.owner', ({ fn }) => fn.max<number | null>('d.began_at').as('dreamt_at')])
        .groupBy(['c.tenant', 'c.owner'])
        .execute(),
    );
    return rows.map(({ tenant, owner, dreamt_at: at }) => ({ tenant, owner, dreamtAt: Number(at ?? 0) }));
  }
}

/** Undefined: one of them was changed since. */
async function unchangedRows(tx: Db, { tenant }: TenantScope, { changes }: PlannedUnit): Promise<Row[] | undefined> {
  const planned = new Map(changes.map(({ memory }) => [memory.no, memory]));
  const rows = await tx
    .selectFrom('memories')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('no', 'in', [...planned.keys()])
    .execute();
  const isSame = (row: Row) => row.changed_at === planned.get(row.no)?.changedAt && row.state === 'current';
  return rows.length === planned.size && rows.every(isSame) ? rows : undefined;
}

function columnsOf(members: Partial<DreamtMembers>): Record<string, string | number | null> {
  const entries = Object.entries(members).map(([name, value]) => [
    COLUMNS[name as keyof DreamtMembers],
    Array.isArray(value) ? JSON.stringify(value) : (value ?? null),
  ]);
  return Object.fromEntries(entries) as Record<string, string | number | null>;
}

/** Whether the members that a change has set are still as it left them. */
function isAsLeft(row: Row, after: Readonly<Record<string, unknown>>): boolean {
  const memory: Memory = toMemory(row);
  return Object.entries(after).every(([name, value]) => {
    const now: unknown = memory[name as keyof Memory] ?? null;
    return JSON.stringify(now) === JSON.stringify(value);
  });
}

function toDream(row: Omit<Selectable<MemoryTables['memory_dreams']>, 'tenant'>): Dream {
  return {
    id: row.id,
    owner: row.owner,
    state: row.state as DreamState,
    request: JSON.parse(row.request) as DreamRequest,
    jobId: row.job_id ?? undefined,
    report: row.report === null ? undefined : (JSON.parse(row.report) as DreamReport),
    beganAt: row.began_at,
    endedAt: row.ended_at ?? undefined,
  };
}

/** The origin of a memory that a dream made. */
export function dreamOrigin(at: number): Origin {
  return { type: 'dream', at };
}
