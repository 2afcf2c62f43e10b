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
];
