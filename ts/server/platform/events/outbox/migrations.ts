import { column, type ModuleMigrations } from '../../storage/index.ts';
import type { EventTables } from './event-tables.ts';

/** The outbox, and how far each durable subscriber has read it. */
export const eventsMigrations: ModuleMigrations = {
  module: 'events',
  // A subscriber that had read further is told the rest once more, as after any crash.
  transient: ['event_subscribers'],
  migrations: [
    {
      id: 1,
      name: 'create outbox',
      up: async (schema) => {
        await schema.tenantTable('events', {
          columns: {
            seq: column.identity(),
            type: column.text(),
            payload: column.json(),
            recorded_at: column.timestamp(),
            batch: column.integer({ nullable: true }),
          },
        });
        await schema.index('events_by_batch', 'events', ['batch', 'seq']);
        await schema.table('event_batches', {
          columns: { name: column.id(), last: column.integer() },
          primaryKey: ['name'],
        });
        await schema.db<EventTables>().insertInto('event_batches').values({ name: 'events', last: 0 }).execute();
        await schema.table('event_subscribers', {
          columns: {
            name: column.id(),
            cursor_batch: column.integer(),
            cursor_seq: column.integer(),
            holder: column.id({ nullable: true }),
            lease_until: column.timestamp({ default: 0 }),
            seen_at: column.timestamp(),
          },
          primaryKey: ['name'],
        });
      },
    },
  ],
};
