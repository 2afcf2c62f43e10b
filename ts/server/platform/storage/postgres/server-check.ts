/** What must hold of a PostgreSQL server and of the role before anything is written there. */
import type pg from 'pg';
import { StorageError } from '../storage-error.ts';

const MIN_VERSION = 150_000;

interface ServerFacts {
  version: number;
  encoding: string;
  role: string;
  superuser: number;
  bypassrls: number;
  standby: number;
}

const QUERY = `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
  rolname as role, rolsuper as superuser, rolbypassrls as bypassrls, pg_is_in_recovery() as standby
  from pg_roles where rolname = current_user`;

/** Throws a StorageError that says what the operator has to change. */
export async function checkServer(client: pg.ClientBase): Promise<void> {
  const facts = (await client.query<ServerFacts>(QUERY)).rows[0];
  if (!facts) throw new Error('PostgreSQL does not know the role that it let in');
  if (facts.version < MIN_VERSION) throw refuse('is older than version 15', 'Use PostgreSQL 15 or newer.');
  if (facts.encoding !== 'UTF8')
    throw refuse(`stores text as ${facts.encoding}`, "Create the database with ENCODING 'UTF8' TEMPLATE template0.");
  if (facts.standby)
    throw refuse(
      'is a standby, which takes no writes',
      'Name the primary in database.url, or all servers: postgres://USER:PASSWORD@ONE,TWO/DATABASE.',
    );
  if (facts.superuser || facts.bypassrls) throw roleBypassesRls(facts);
}

/** Row-level security does not hold for such a role, so one forgotten WHERE would show a tenant the rows of another. */
function roleBypassesRls({ role, superuser }: ServerFacts): StorageError {
  const what = superuser ? 'is a superuser' : 'has BYPASSRLS';
  return new StorageError(
    'role_bypasses_rls',
    `The PostgreSQL role ${role} ${what}, so row-level security would not separate tenants.`,
    {
      remedy:
        'CREATE ROLE svc LOGIN NOSUPERUSER NOBYPASSRLS; ALTER DATABASE ... OWNER TO svc; and name that role in database.url.',
    },
  );
}

function refuse(what: string, remedy: string): StorageError {
  return new StorageError('storage_unavailable', `The PostgreSQL server of database.url ${what}.`, { remedy });
}
