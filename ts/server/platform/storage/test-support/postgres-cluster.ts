/** A PostgreSQL server for tests: a private cluster in a temporary folder that only a Unix socket in it leads to. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const execute = promisify(execFile);
const START_LIMIT_MS = 60_000;
/** Names the folder of a cluster that test files share, one after the other. */
export const SHARED_CLUSTER = 'SVC_TEST_POSTGRES';

/** PostgreSQL refuses to run as root, so under root it runs as the user of Debian's package. */
export interface Account {
  uid?: number;
  gid?: number;
}

export class PostgresCluster {
  /** Its socket is in it. */
  readonly folder: string;
  readonly #binaries: string;
  readonly #account: Account;
  #server: ChildProcess | undefined;
  readonly #databases: string[] = [];

  private constructor(folder: string, binaries: string, account: Account) {
    this.folder = folder;
    this.#binaries = binaries;
    this.#account = account;
  }

  /** Why no server can be started here; undefined when one can. */
  static missing(): string | undefined {
    if (!findBinaries()) return 'PostgreSQL is not installed (Debian: apt-get install postgresql)';
    return findAccount() ? undefined : 'tests run as root, and there is no user postgres to run PostgreSQL as';
  }

  /** The one that is shared, or one of the test's own. */
  static async start(): Promise<PostgresCluster> {
    const [shared, binaries, account] = [process.env[SHARED_CLUSTER], findBinaries(), findAccount()];
    if (shared === undefined || !binaries || !account) return await PostgresCluster.startOwn();
    return new PostgresCluster(shared, binaries, account);
  }

  /** For a test that stops the server, or changes what belongs to all databases. */
  static async startOwn(): Promise<PostgresCluster> {
    const binaries = findBinaries();
    const account = findAccount();
    if (!binaries || !account) throw new Error(PostgresCluster.missing());
    const folder = await mkdtemp(join(tmpdir(), 'svc-pg-'));
    if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid);
    const cluster = new PostgresCluster(folder, binaries, account);
    await cluster.#run('initdb', [
      '-D',
      cluster.#data,
      '-U',
      'admin',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ]);
    await cluster.startServer();
    await cluster.query('create role svc login nosuperuser nobypassrls');
    return cluster;
  }

  /** A copy that follows this one and takes no writes; a commit here waits for it from now on. */
  async startStandby(): Promise<PostgresCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-pg-'));
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const standby = new PostgresCluster(folder, this.#binaries, this.#account);
    await this.#run('pg_basebackup', ['-h', this.folder, '-U', 'admin', '-D', standby.#data, '-R', '-c', 'fast', '--no-sync']);
    await standby.startServer();
    await this.query("alter system set synchronous_standby_names = '*'");
    await this.query('select pg_reload_conf()');
    return standby;
  }

  /** Makes the primary of a standby. */
  async promote(): Promise<void> {
    await this.#run('pg_ctl', ['promote', '-D', this.#data, '-w']);
  }

  async startServer(): Promise<void> {
    // Only the process is ever killed, and what it wrote outlives that: nothing waits for the disk.
    const settings = ['listen_addresses=', 'max_connections=50', 'fsync=off'].flatMap((setting) => ['-c', setting]);
    const options = ['-D', this.#data, '-k', this.folder, ...settings];
    // A test that is killed takes its server with it: the kernel tells it when its parent has died.
    const [program = '', ...before] = [...withParent(), join(this.#binaries, 'postgres')];
    this.#server = spawn(program, [...before, ...options], { ...this.#account, cwd: this.folder, stdio: 'ignore' });
    const deadline = performance.now() + START_LIMIT_MS;
    while (!(await this.#answers())) {
      if (performance.now() > deadline || this.#server.exitCode !== null) throw new Error('PostgreSQL did not start');
      await wait(20);
    }
  }

  /** `immediate` is as abrupt as a crash: the server recovers from its log at the next start. */
  async stopServer(mode: 'fast' | 'immediate'): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null) return;
    const exited = once(server, 'exit');
    await this.#run('pg_ctl', ['stop', '-D', this.#data, '-m', mode, '-w']);
    await exited;
  }

  /** Where it is shared, the databases alone go. */
  async remove(): Promise<void> {
    if (this.#server === undefined) {
      for (const name of this.#databases) await this.query(`drop database ${name} with (force)`);
      return;
    }
    await this.stopServer('immediate');
    await rm(this.folder, { recursive: true });
  }

  /** A new database of the role `svc`, by its URL; its files lie in the cluster's folder, or in another empty one. */
  async newDatabase(folder?: string): Promise<string> {
    // A process that was killed leaves its databases in a shared cluster, and its number comes again.
    const name = `db_${randomUUID().replaceAll('-', '')}`;
    this.#databases.push(name);
    if (folder !== undefined) await this.#newTablespace(name, folder);
    await this.query(`create database ${name} owner svc${folder === undefined ? '' : ` tablespace ${name}`}`);
    return this.url(name, 'svc');
  }

  url(database: string, role: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.folder)}&user=${role}`;
  }

  /** Runs a statement as a superuser. */
  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database, 'admin') });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async #newTablespace(name: string, folder: string): Promise<void> {
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    await this.query(`create tablespace ${name} location '${folder}'`);
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  async #answers(): Promise<boolean> {
    return await this.query('select 1').then(
      () => true,
      () => false,
    );
  }

  async #run(program: string, args: string[]): Promise<void> {
    await execute(join(this.#binaries, program), args, { ...this.#account, cwd: this.folder });
  }
}

/** The start of a command whose process gets the signal when this one dies. */
export function withParent(signal: 'INT' | 'TERM' = 'INT'): string[] {
  return existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', signal] : [];
}

/** The newest of Debian's versions that is at least 15. */
export function findBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number) : [];
  const newest = Math.max(...versions.filter((version) => version >= 15 && existsSync(`${root}/${version}/bin/initdb`)));
  return Number.isFinite(newest) ? `${root}/${newest}/bin` : undefined;
}

export function findAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
