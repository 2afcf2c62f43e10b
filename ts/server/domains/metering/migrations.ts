/** The tables of metering, step by step. What was released never changes. */
import { column, type Migration } from '../../platform/storage/index.ts';

const usageKey = { user_id: column.id(), key_id: column.id(), model: column.text(), operation: column.text() };

export const meteringMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create usage, open requests and quotas',
    up: async (schema) => {
      await schema.tenantTable('metering_open', {
        columns: {
          id: column.id(),
          node: column.id(),
          ...usageKey,
          started_at: column.timestamp(),
          touched_at: column.timestamp(),
          prompt_tokens: column.integer(),
          completion_tokens: column.integer(),
        },
        primaryKey: ['id'],
      });
      await schema.tenantTable('metering_usage', {
        columns: {
          hour: column.timestamp(),
          node: column.id(),
          ...usageKey,
          requests: column.integer(),
          prompt_tokens: column.integer(),
          cached_tokens: column.integer(),
          completion_tokens: column.integer(),
          milliseconds: column.integer(),
        },
        primaryKey: ['tenant', 'hour', 'node', 'user_id', 'key_id', 'model', 'operation'],
        clustered: true,
      });
      await schema.table('metering_nodes', { columns: { node: column.id(), batch: column.integer() }, primaryKey: ['node'] });
      const limit = column.integer({ nullable: true });
      await schema.tenantTable('metering_quotas', {
        columns: {
          kind: column.text(),
          subject: column.id(),
          requests_per_minute: limit,
          tokens_per_minute: limit,
          requests_per_month: limit,
          tokens_per_month: limit,
        },
        primaryKey: ['tenant', 'kind', 'subject'],
      });
      await schema.tenantTable('metering_recent', {
        columns: {
          kind: column.text(),
          subject: column.id(),
          node: column.id(),
          slot: column.timestamp(),
          requests: column.integer(),
          tokens: column.integer(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'kind', 'subject', 'node', 'slot'],
      });
    },
  },
  {
    id: 2,
    name: 'count what providers bill',
    up: async (schema) => {
      const older = {
        hour: column.timestamp(),
        node: column.id(),
        ...usageKey,
        requests: column.integer(),
        prompt_tokens: column.integer(),
        cached_tokens: column.integer(),
        completion_tokens: column.integer(),
        milliseconds: column.integer(),
      };
      const counter = column.integer({ default: 0 });
      const newer = {
        ...older,
        backend: column.id({ default: '' }),
        currency: column.text({ default: '' }),
        estimated: column.flag({ default: 0 }),
        cost_micros: counter,
        reasoning_tokens: counter,
        cache_write_5m_tokens: counter,
        cache_write_1h_tokens: counter,
        audio_tokens: counter,
        image_tokens: counter,
      };
      const key = ['tenant', 'hour', 'node', 'user_id', 'key_id', 'model', 'operation'];
      // A primary key cannot be changed: the rows go through a table that is there for a moment.
      const names = ['tenant', ...Object.keys(older)];
      const db = schema.db<Record<'metering_usage' | 'metering_usage_before', Record<string, unknown>>>();
      const move = async (from: 'metering_usage' | 'metering_usage_before', to: typeof from) => {
        await db
          .insertInto(to)
          .columns(names)
          .expression(db.selectFrom(from).select(names as never[]))
          .execute();
        await schema.dropTable(from);
      };
      await schema.tenantTable('metering_usage_before', { columns: older, primaryKey: key });
      await move('metering_usage', 'metering_usage_before');
      await schema.tenantTable('metering_usage', {
        columns: newer,
        primaryKey: [...key, 'backend', 'currency', 'estimated'],
        clustered: true,
      });
      await move('metering_usage_before', 'metering_usage');
      await schema.addColumn('metering_quotas', 'cost_micro_per_month', column.integer({ nullable: true }));
    },
  },
  {
    id: 3,
    name: 'count sound and what is read aloud',
    up: async (schema) => {
      await schema.addColumn('metering_usage', 'audio_ms', column.integer({ default: 0 }));
      await schema.addColumn('metering_usage', 'characters', column.integer({ default: 0 }));
    },
  },
];
