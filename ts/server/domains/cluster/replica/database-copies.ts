/** The copies of the database, as PostgreSQL reports them. */
import { type Kysely, sql } from 'kysely';
import { type StorageAccess, systemScope } from '../../../platform/storage/index.ts';
import type { ReplicaBody } from '../schemas.ts';
import type { ClusterTables } from '../tables.ts';

interface ReplicaRow {
  name: string;
  state: string | null;
  lag_seconds: number | null;
  is_current: boolean;
}

/** The servers that follow this one, and whether a commit waits for one of them. */
export interface DatabaseCopies {
  /** A commit waits for a standby, as the settings of the server say. */
  readonly isSynchronous: boolean;
  readonly nStandbys: number;
  /** Those of them that commits wait for now; undefined: the role of `database.url` may not read it. */
  readonly nSynchronous: number | undefined;
}

const MOST_LAG_SECONDS = 120;
const UNREADABLE = 'The role of database.url may not read it: `grant pg_monitor to ROLE` lets it.';

export async function postgresReplicas(storage: StorageAccess<ClusterTables>): Promise<ReplicaBody[]> {
  const { rows } = await storage.read(systemScope(), (db) =>
    sql<ReplicaRow>`select coalesce(nullif(application_name, ''), host(client_addr), 'replica') as name, state,
      extract(epoch from replay_lag)::float8 as lag_seconds,
      coalesce(replay_lsn >= pg_current_wal_lsn(), false) as is_current
      from pg_stat_replication order by 1`.execute(db),
  );
  return rows.map(({ name, state, lag_seconds: lag, is_current: isCurrent }) => {
    // A lag that was not measured of late is that of a server that had nothing to replay.
    const seconds = isCurrent || (state === 'streaming' && lag === null) ? 0 : lag;
    return {
      node: null,
      name,
      state: seconds === null || seconds > MOST_LAG_SECONDS ? ('behind' as const) : ('ok' as const),
      commit: null,
      lag_commits: null,
      lag_seconds: seconds,
      synced_at: null,
      problem: state === null ? UNREADABLE : null,
    };
  });
}

export async function readCopies(db: Kysely<ClusterTables>): Promise<DatabaseCopies> {
  const { rows } = await sql<{ names: string; waits: string; standbys: number; hidden: number; synchronous: number }>`select
    current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as waits,
    count(*)::int as standbys, (count(*) - count(sync_state))::int as hidden,
    (count(*) filter (where sync_state in ('sync', 'quorum')))::int as synchronous
    from pg_stat_replication`.execute(db);
  const { names = '', waits = '', standbys = 0, hidden = 0, synchronous = 0 } = rows[0] ?? {};
  return {
    // The module platform/storage raises `off` to `on` for what it acknowledges, and leaves `local`.
    isSynchronous: names !== '' && waits !== 'local',
    nStandbys: standbys,
    nSynchronous: hidden > 0 ? undefined : synchronous,
  };
}
