/** Two PostgreSQL servers of which one takes writes, as Patroni and etcd have it: with a synchronous standby, on free ports of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  type Account,
  findAccount,
  findBinaries,
  PostgresCluster,
  withParent,
} from '../../../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { freePort } from '../../child-server.ts';

const PROGRAMS = { patroni: '/usr/bin/patroni', etcd: '/usr/bin/etcd' };
const START_LIMIT_MS = 120_000;
/** How long the lock of a primary that died lasts: Patroni allows no less. Another one has it within about two seconds more. */
const TTL_SECONDS = 20;

interface Server {
  readonly name: string;
  readonly port: number;
  /** Patroni's own interface listens there. */
  readonly restPort: number;
  readonly data: string;
  process: ChildProcess;
}

export class Patroni {
  readonly servers: readonly Server[];
  readonly #folder: string;
  readonly #etcd: ChildProcess;

  /** Why it cannot run here, and what to do; undefined where it can. */
  static missing(): string | undefined {
    const isThere = existsSync(PROGRAMS.patroni) && existsSync(PROGRAMS.etcd);
    return (
      PostgresCluster.missing() ??
      (isThere ? undefined : 'Patroni and etcd are not installed (Debian: apt-get install patroni etcd-server)')
    );
  }

  /** Makes the folder, and an empty database `svc` of the role `svc`. */
  static async start(folder: string): Promise<Patroni> {
    mkdirSync(folder, { recursive: true });
    own(folder);
    const etcdPort = await freePort();
    const patroni = new Patroni(folder, await startEtcd(folder, etcdPort), [
      await startServer(folder, 'one', etcdPort),
      await startServer(folder, 'two', etcdPort),
    ]);
    try {
      await patroni.whole();
      const { port } = await patroni.primary();
      for (const sql of ['create role svc login nosuperuser nobypassrls', 'create database svc owner svc'])
        await query(port, sql);
      return patroni;
    } catch (error) {
      await patroni.stop();
      throw error;
    }
  }

  private constructor(folder: string, etcd: ChildProcess, servers: readonly Server[]) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.servers = servers;
  }

  /** Waits for the server that takes writes. */
  async primary(): Promise<Server> {
    const isPrimary = await this.#until(async () => {
      for (const server of this.servers) if ((await this.#ask(server, 'primary'))?.status === 200) return server;
      return undefined;
    });
    return isPrimary;
  }

  /** Waits until there is a synchronous standby, which can take over without a loss. */
  async whole(): Promise<void> {
    await this.#until(async () => {
      const answers = await Promise.all(this.servers.map((server) => this.#ask(server, 'synchronous')));
      return answers.some((answer) => answer?.status === 200) || undefined;
    });
  }

  /** Kills the primary with its Patroni, and waits until the other server is the primary. Returns what starts the first one again. */
  async killPrimary(): Promise<() => Promise<void>> {
    const server = await this.primary();
    server.process.kill('SIGKILL');
    process.kill(postmasterOf(server), 'SIGKILL');
    await this.primary();
    return async () => {
      server.process = run(this.#folder, server.name, [PROGRAMS.patroni, configOf(this.#folder, server.name)]);
      await this.whole();
    };
  }

  /** Stops the processes of the primary and of its Patroni, so that its connections hang, until another one has taken over. Returns what lets them go on. */
  async stopPrimary(): Promise<() => Promise<void>> {
    const server = await this.primary();
    const pids = [server.process.pid ?? 0, ...postgresOf(server)];
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await this.primary();
    return async () => {
      for (const pid of pids) signal(pid, 'SIGCONT');
      await this.whole();
    };
  }

  /** Has the standby take over while both work. */
  async switchOver(): Promise<void> {
    const { name, restPort } = await this.primary();
    const response = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: name }),
    });
    if (!response.ok) throw new Error(`Patroni does not switch over: ${await response.text()}`);
    await this.whole();
  }

  /** The processes on which the failover of the database depends. */
  get pids(): number[] {
    const ofServers = this.servers.flatMap((server) => [server.process.pid ?? 0, ...postgresOf(server)]);
    return [this.#etcd.pid ?? 0, ...ofServers];
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      const [postmaster, ...others] = postgresOf(server);
      await end(server.process, 'SIGKILL');
      // Stopped processes hear of it once they go on.
      if (postmaster !== undefined) signal(postmaster, 'SIGQUIT');
      for (const pid of [postmaster ?? 0, ...others]) if (pid > 0) signal(pid, 'SIGCONT');
    }
    await end(this.#etcd, 'SIGKILL');
  }

  async #ask({ restPort }: Server, path: string): Promise<Response | undefined> {
    try {
      const response = await fetch(`http://127.0.0.1:${restPort}/${path}`, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      return response;
    } catch {
      return undefined;
    }
  }

  async #until<T>(find: () => Promise<T | undefined>): Promise<T> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error(`Patroni's servers are not ready: see ${this.#folder}`);
      await wait(250);
    }
  }
}

async function startEtcd(folder: string, port: number): Promise<ChildProcess> {
  const peer = `http://127.0.0.1:${await freePort()}`;
  const client = `http://127.0.0.1:${port}`;
  const data = ['--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync', '--enable-v2'];
  const clients = ['--listen-client-urls', client, '--advertise-client-urls', client];
  const peers = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`];
  return run(folder, 'etcd', [PROGRAMS.etcd, ...data, ...clients, ...peers]);
}

async function startServer(folder: string, name: string, etcdPort: number): Promise<Server> {
  const [port, restPort, data] = [await freePort(), await freePort(), join(folder, name, 'data')];
  mkdirSync(join(folder, name));
  own(join(folder, name));
  const local = (at: number) => `127.0.0.1:${at}`;
  // Only processes are killed, and what they wrote outlives that: nothing waits for the disk.
  const dcs = {
    ttl: TTL_SECONDS,
    loop_wait: 2,
    retry_timeout: 5,
    synchronous_mode: true,
    postgresql: { use_pg_rewind: true, parameters: { fsync: 'off', max_connections: 200 } },
  };
  const postgresql = {
    listen: local(port),
    connect_address: local(port),
    data_dir: data,
    bin_dir: findBinaries(),
    pgpass: join(folder, name, 'pgpass'),
    authentication: { superuser: { username: 'admin' }, replication: { username: 'replicator' }, rewind: { username: 'admin' } },
    parameters: { unix_socket_directories: join(folder, name) },
    pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
  };
  const config = {
    scope: 'svc',
    name,
    restapi: { listen: local(restPort), connect_address: local(restPort) },
    // Over etcd's third interface Patroni 3.0 takes its lock back unseen when it was stopped for longer than that lasted.
    etcd: { host: local(etcdPort) },
    bootstrap: { dcs, initdb: ['no-sync', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }] },
    postgresql,
  };
  // JSON is YAML.
  writeFileSync(configOf(folder, name), JSON.stringify(config));
  return { name, port, restPort, data, process: run(folder, name, [PROGRAMS.patroni, configOf(folder, name)]) };
}

function configOf(folder: string, name: string): string {
  return join(folder, `${name}.yml`);
}

/** Its output goes to a file of the folder. */
function run(folder: string, name: string, command: readonly string[]): ChildProcess {
  const output = openSync(join(folder, `${name}.log`), 'a');
  const [program = '', ...rest] = [...withParent('TERM'), ...command];
  const child = spawn(program, rest, { ...account(), cwd: folder, stdio: ['ignore', output, output] });
  closeSync(output);
  return child;
}

function account(): Account {
  return findAccount() ?? {};
}

function own(path: string): void {
  const { uid, gid } = account();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function postmasterOf({ data }: Server): number {
  return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** The server's process and those that it started. */
function postgresOf(server: Server): number[] {
  try {
    const pid = postmasterOf(server);
    return [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)];
  } catch {
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function end(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(name);
  await exited;
}

async function query(port: number, sql: string): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'admin', database: 'postgres' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
