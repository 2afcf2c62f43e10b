/** The tables of the security module, step by step. What was released never changes. */
import { column, type Migration } from '../../platform/storage/index.ts';

export const securityMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create modes and decisions of role enforcement',
    up: async (schema) => {
      await schema.table('security_enforcement', {
        columns: { kind: column.text(), id: column.id(), mode: column.text() },
        primaryKey: ['kind', 'id'],
      });
      await schema.tenantTable('security_decisions', {
        columns: {
          seq: column.identity(),
          at: column.timestamp(),
          node: column.id(),
          mode: column.text(),
          tool: column.text(),
          actor: column.text(),
          role: column.text(),
          needed_role: column.text(),
        },
      });
      await schema.index('security_decisions_by_tenant', 'security_decisions', ['tenant', 'seq']);
    },
  },
];
