/** How far each durable subscriber has read, and which node delivers to it. */
import { sql } from 'kysely';
import { databaseTime, type StorageAccess, systemScope } from '../../storage/index.ts';
import type { Cursor, EventTables } from './event-tables.ts';

export class SubscriberStore {
  readonly #access: StorageAccess<EventTables>;

  constructor(access: StorageAccess<EventTables>) {
    this.#access = access;
  }

  /** A subscriber that is new begins behind all events that have a place by now. */
  async register(name: string, now: number): Promise<void> {
    await this.#access.writeUnit(systemScope(), (db) => [
      db
        .insertInto('event_subscribers')
        .columns(['name', 'cursor_batch', 'cursor_seq', 'seen_at'])
        .expression((from) =>
          from
            .selectFrom('event_batches')
            .select((eb) => [
              sql<string>`cast(${name} as text)`.as('name'),
              eb.ref('last').as('cursor_batch'),
              sql<number>`cast(${Number.MAX_SAFE_INTEGER} as bigint)`.as('cursor_seq'),
              sql<number>`cast(${now} as bigint)`.as('seen_at'),
            ])
            // SQLite takes ON CONFLICT behind a SELECT for a join without this.
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ seen_at: now })),
    ]);
  }

  async cursor(name: string): Promise<Cursor | undefined> {
    return await this.#access.read(systemScope(), (db) =>
      db
        .selectFrom('event_subscribers')
        .select(['cursor_batch as batch', 'cursor_seq as seq'])
        .where('name', '=', name)
        .executeTakeFirst(),
    );
  }

  /** Takes or renews the right to deliver. Undefined while another node has it. */
  async acquire(name: string, node: string, leaseMs: number): Promise<Cursor | undefined> {
    const time = databaseTime(this.#access.dialect);
    const [acquired] = await this.#access.writeUnit(systemScope(), (db) => [
      db
        .updateTable('event_subscribers')
        .set({ holder: node, lease_until: sql<number>`${time} + ${leaseMs}` })
        .where('name', '=', name)
        .where((where) => where.or([where('holder', 'is', null), where('holder', '=', node), where('lease_until', '<', time)]))
        .returning(['cursor_batch as batch', 'cursor_seq as seq']),
    ]);
    return acquired?.rows[0] as Cursor | undefined;
  }

  /** Saves how far it has read, and renews the lease. False when another node delivers now. */
  async advance(name: string, node: string, { batch, seq }: Cursor, leaseMs: number): Promise<boolean> {
    const time = databaseTime(this.#access.dialect);
    const [advanced] = await this.#access.writeUnit(systemScope(), (db) => [
      db
        .updateTable('event_subscribers')
        .set({ cursor_batch: batch, cursor_seq: seq, lease_until: sql<number>`${time} + ${leaseMs}` })
        .where('name', '=', name)
        .where('holder', '=', node),
    ]);
    return advanced?.affectedRows === 1;
  }

  async release(name: string, node: string): Promise<void> {
    await this.#access.writeUnit(systemScope(), (db) => [
      db.updateTable('event_subscribers').set({ holder: null }).where('name', '=', name).where('holder', '=', node),
    ]);
  }

  /** Forgets subscribers that no node has had since `time`, so that events need not be kept for them. Their names. */
  async forget(time: number): Promise<string[]> {
    const [forgotten] = await this.#access.writeUnit(systemScope(), (db) => [
      db.deleteFrom('event_subscribers').where('seen_at', '<', time).returning('name'),
    ]);
    return (forgotten?.rows ?? []).map(({ name }) => String(name));
  }
}
