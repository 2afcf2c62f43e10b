/** The tables of the license module, step by step. What was released never changes. */
import { randomUUID } from 'node:crypto';
import { column, type Migration } from '../../platform/storage/index.ts';
import type { LicenseTables } from './installation-store.ts';

export const licenseMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create the id of the installation',
    up: async (schema) => {
      await schema.table('license_installation', {
        columns: { id: column.id(), created_at: column.timestamp() },
        primaryKey: ['id'],
      });
      const made = { id: randomUUID(), created_at: Date.now() };
      await schema.db<LicenseTables>().insertInto('license_installation').values(made).execute();
    },
  },
];
