/** The tables of webhooks, step by step. What was released never changes. */
import { column, type Migration } from '../../../platform/storage/index.ts';

export const webhookMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create webhooks and deliveries',
    up: async (schema) => {
      await schema.tenantTable('webhooks', {
        columns: {
          id: column.id(),
          url: column.text(),
          events: column.json(),
          description: column.text(),
          secret: column.text(),
          of_node: column.flag({ default: 0 }),
          created_at: column.timestamp(),
          disabled_at: column.timestamp({ nullable: true }),
          disabled_reason: column.text({ nullable: true }),
          failing_since: column.timestamp({ nullable: true }),
        },
        primaryKey: ['id'],
      });
      await schema.index('webhooks_by_tenant', 'webhooks', ['tenant', 'id']);
      await schema.tenantTable('webhook_deliveries', {
        columns: {
          id: column.id(),
          webhook_id: column.id({ references: { table: 'webhooks', column: 'id', onDelete: 'cascade' } }),
          event_seq: column.integer(),
          type: column.text(),
          body: column.text(),
          state: column.text(),
          attempts: column.integer({ default: 0 }),
          created_at: column.timestamp(),
          tried_since: column.timestamp(),
          next_attempt_at: column.timestamp(),
          holder: column.id({ nullable: true }),
          lease_until: column.timestamp({ default: 0 }),
          ended_at: column.timestamp({ nullable: true }),
          last_status: column.integer({ nullable: true }),
          last_error: column.text({ nullable: true }),
        },
        primaryKey: ['id'],
        unique: [['webhook_id', 'event_seq']],
      });
      await schema.index('webhook_deliveries_due', 'webhook_deliveries', ['state', 'next_attempt_at']);
      await schema.index('webhook_deliveries_by_webhook', 'webhook_deliveries', ['webhook_id', 'id']);
      await schema.index('webhook_deliveries_ended', 'webhook_deliveries', ['ended_at']);
    },
  },
  {
    id: 2,
    name: 'keep the secret before for a while',
    up: async (schema) => {
      await schema.addColumn('webhooks', 'previous_secret', column.text({ nullable: true }));
      await schema.addColumn('webhooks', 'previous_secret_until', column.timestamp({ nullable: true }));
    },
  },
];
