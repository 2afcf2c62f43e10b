import { column, type ModuleMigrations } from '../../storage/index.ts';

/** The tables of jobs and of the processes that run them. */
export const jobsMigrations: ModuleMigrations = {
  module: 'jobs',
  transient: ['job_runners', 'job_nodes'],
  migrations: [
    {
      id: 1,
      name: 'create jobs',
      up: async (schema) => {
        await schema.tenantTable('jobs', {
          columns: {
            id: column.id(),
            kind: column.text(),
            owner: column.id({ nullable: true }),
            dedupe_key: column.text({ nullable: true }),
            state: column.text(),
            input: column.json(),
            result: column.json({ nullable: true }),
            error: column.json({ nullable: true }),
            progress: column.json({ nullable: true }),
            step: column.json({ nullable: true }),
            open_step: column.text({ nullable: true }),
            failures: column.integer({ default: 0 }),
            max_attempts: column.integer(),
            interruptions: column.integer({ default: 0 }),
            cancel_requested: column.flag({ default: 0 }),
            runner: column.id({ nullable: true }),
            claim: column.integer({ default: 0 }),
            run_after: column.timestamp(),
            created_at: column.timestamp(),
            started_at: column.timestamp({ nullable: true }),
            ended_at: column.timestamp({ nullable: true }),
          },
          primaryKey: ['id'],
        });
        await schema.index('jobs_by_tenant', 'jobs', ['tenant', 'id']);
        await schema.index('jobs_by_state', 'jobs', ['state', 'tenant', 'run_after', 'id', 'kind']);
        await schema.index('jobs_by_end', 'jobs', ['ended_at']);
        await schema.index('jobs_open_keys', 'jobs', ['tenant', 'kind', 'dedupe_key'], {
          unique: true,
          where: `dedupe_key is not null and state in ('queued', 'running')`,
        });
        await schema.table('job_runners', {
          columns: { id: column.id(), node: column.id(), lease_until: column.timestamp() },
          primaryKey: ['id'],
        });
      },
    },
    {
      id: 2,
      name: 'jobs of one node',
      up: async (schema) => {
        await schema.addColumn('jobs', 'node', column.id({ nullable: true }));
        await schema.dropIndex('jobs_by_state');
        await schema.index('jobs_by_state', 'jobs', ['state', 'tenant', 'run_after', 'id', 'kind', 'node']);
        await schema.table('job_nodes', { columns: { node: column.id(), seen_at: column.timestamp() }, primaryKey: ['node'] });
      },
    },
  ],
};
