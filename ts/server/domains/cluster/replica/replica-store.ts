/** The replicas of the database, as PostgreSQL reports them. */
import { sql } from 'kysely';
import { type StorageAccess, systemScope } from '../../../platform/storage/index.ts';
import type { ReplicaBody } from '../schemas.ts';
import type { ClusterTables } from '../tables.ts';

interface ReplicaRow {
  name: string;
  lag_seconds: number | null;
  is_current: boolean;
}

const MOST_LAG_SECONDS = 120;

/** A role that may not read the activity of others sees the names alone. */
export async function postgresReplicas(storage: StorageAccess<ClusterTables>): Promise<ReplicaBody[]> {
  const { rows } = await storage.read(systemScope(), (db) =>
    sql<ReplicaRow>`select coalesce(nullif(application_name, ''), host(client_addr), 'replica') as name,
      extract(epoch from replay_lag)::float8 as lag_seconds,
      coalesce(replay_lsn >= pg_current_wal_lsn(), false) as is_current
      from pg_stat_replication order by 1`.execute(db),
  );
  return rows.map(({ name, lag_seconds: lag, is_current: isCurrent }) => {
    const seconds = isCurrent ? 0 : lag;
    return {
      node: null,
      name,
      state: seconds === null || seconds > MOST_LAG_SECONDS ? ('behind' as const) : ('ok' as const),
      commit: null,
      lag_commits: null,
      lag_seconds: seconds,
      synced_at: null,
      problem: null,
    };
  });
}
