/** Recorded events: their order, and what may be deleted. */
import { type Kysely, sql } from 'kysely';
import { deleteInBatches, isSystemScope, type StorageAccess, type StorageScope, systemScope } from '../../storage/index.ts';
import type { Cursor, EventTables, PlacedEvent } from './event-tables.ts';

/** The statement that records an event, for a write of the caller's. */
export function recordQuery<Tables>(db: Kysely<Tables>, scope: StorageScope, type: string, payload: string, now: number) {
  const tenant = isSystemScope(scope) ? '' : scope.tenant;
  return (db as unknown as Kysely<EventTables>)
    .insertInto('events')
    .values({ tenant, type, payload, recorded_at: now, batch: null });
}

export class OutboxStore {
  readonly #access: StorageAccess<EventTables>;

  constructor(access: StorageAccess<EventTables>) {
    this.#access = access;
  }

  async record(scope: StorageScope, type: string, payload: string, now: number): Promise<void> {
    await this.#access.writeUnit(scope, (db) => [recordQuery(db, scope, type, payload, now)]);
  }

  /** Gives the events that have none yet a place in the order, behind all that have one. */
  async order(): Promise<void> {
    const waiting = await this.#access.read(systemScope(), (db) =>
      db.selectFrom('events').select('seq').where('batch', 'is', null).limit(1).execute(),
    );
    if (waiting.length === 0) return;
    await this.#access.writeUnit(systemScope(), (db) => [
      db.updateTable('event_batches').set((eb) => ({ last: eb('last', '+', 1) })),
      db
        .updateTable('events')
        .set((eb) => ({ batch: eb.selectFrom('event_batches').select('last') }))
        .where('batch', 'is', null),
    ]);
  }

  async listAfter({ batch, seq }: Cursor, limit: number): Promise<PlacedEvent[]> {
    const rows = await this.#access.read(systemScope(), (db) =>
      db
        .selectFrom('events')
        .selectAll()
        .where(sql<boolean>`(batch, seq) > (${batch}, ${seq})`)
        .orderBy('batch')
        .orderBy('seq')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({
      cursor: { batch: row.batch ?? 0, seq: row.seq },
      event: {
        type: row.type,
        tenant: row.tenant === '' ? undefined : row.tenant,
        payload: JSON.parse(row.payload) as unknown,
        seq: row.seq,
        recordedAt: row.recorded_at,
      },
    }));
  }

  /** Deletes events that every subscriber has and that are older than `time`. The number that was deleted. */
  async deleteDelivered(time: number): Promise<number> {
    const isDelivered = sql<boolean>`batch is not null and not exists (
      select 1 from event_subscribers where (events.batch, events.seq) > (cursor_batch, cursor_seq)
    )`;
    return await deleteInBatches(this.#access, (db, limit) =>
      db
        .deleteFrom('events')
        .where('seq', 'in', (old) =>
          old
            .selectFrom('events')
            .select('seq')
            .where('recorded_at', '<', time)
            .where(isDelivered)
            .orderBy('batch')
            .orderBy('seq')
            .limit(limit),
        ),
    );
  }
}
