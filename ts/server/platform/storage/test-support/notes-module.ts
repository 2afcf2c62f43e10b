/** A small module for storage tests: notes of tenants, and parts of notes. */
import { column } from '../migrations/column.ts';
import type { ModuleMigrations } from '../migrations/migration.ts';

export interface NoteTables {
  notes: { tenant: string; id: string; text: string; version: number };
  note_parts: {
    tenant: string;
    id: string;
    note_id: string;
    size: number | null;
    weight: number | null;
    bytes: Uint8Array | null;
  };
  counters: { name: string; value: number };
  log_lines: { seq: number | undefined; line: string };
}

export const notesModule: ModuleMigrations = {
  module: 'notes',
  migrations: [
    {
      id: 1,
      name: 'create notes',
      up: async (schema) => {
        await schema.tenantTable('notes', {
          columns: { id: column.id(), text: column.text(), version: column.integer({ default: 1 }) },
          primaryKey: ['tenant', 'id'],
        });
        await schema.table('counters', { columns: { name: column.id(), value: column.integer() }, primaryKey: ['name'] });
      },
    },
    {
      id: 2,
      name: 'create parts of notes',
      up: async (schema) => {
        await schema.tenantTable('note_parts', {
          columns: {
            id: column.id(),
            note_id: column.id(),
            size: column.integer({ nullable: true }),
            weight: column.real({ nullable: true }),
            bytes: column.blob({ nullable: true }),
          },
          primaryKey: ['id'],
        });
        await schema.index('note_parts_by_note', 'note_parts', ['tenant', 'note_id']);
        await schema.table('log_lines', { columns: { seq: column.identity(), line: column.text() } });
        await schema.db<NoteTables>().insertInto('counters').values({ name: 'parts', value: 0 }).execute();
      },
    },
  ],
};
