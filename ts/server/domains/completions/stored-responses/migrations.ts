import { column, type Migration } from '../../../platform/storage/index.ts';

export const responseMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create responses',
    up: async (schema) => {
      await schema.tenantTable('responses', {
        columns: {
          id: column.id(),
          status: column.text(),
          model: column.text(),
          owner: column.text({ nullable: true }),
          created_at: column.timestamp(),
          expires_at: column.timestamp(),
          previous_id: column.id({ nullable: true }),
          head: column.json(),
          input: column.json(),
          output: column.json(),
          usage: column.json({ nullable: true }),
          error: column.json({ nullable: true }),
          n_bytes: column.integer(),
          is_background: column.flag(),
          request: column.json({ nullable: true }),
          job_id: column.id({ nullable: true }),
          n_runs: column.integer({ default: 0 }),
          end_sequence: column.integer({ default: 0 }),
        },
        primaryKey: ['id'],
      });
      await schema.index('responses_by_expiry', 'responses', ['expires_at']);
      await schema.index('responses_by_previous', 'responses', ['previous_id'], { where: 'previous_id is not null' });
      await schema.tenantTable('response_events', {
        columns: {
          response_id: column.id({ references: { table: 'responses', column: 'id', onDelete: 'cascade' } }),
          first_sequence: column.integer(),
          last_sequence: column.integer(),
          frames: column.text(),
        },
        primaryKey: ['response_id', 'first_sequence'],
      });
    },
  },
];
