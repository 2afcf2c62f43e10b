/** `svc node`: the nodes of a cluster, asked of any of them. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../../client/client.ts';
import { databaseOptions } from '../../server/database.ts';
import { openReplication } from '../../server/domains/backup/index.ts';
import { cluster, joinStopped, loadStandby } from '../../server/domains/cluster/index.ts';
import { holdsDocuments } from '../../server/domains/data/index.ts';
import { modules } from '../../server/modules.ts';
import { valuesOf } from '../../server/platform/config/config.ts';
import { DomainError } from '../../server/platform/errors/domain-error.ts';
import { writeFileAtomically } from '../../server/platform/files/atomic-file.ts';
import { RemovalHold } from '../../server/platform/files/removal-hold.ts';
import { ROLES } from '../../server/platform/module/module-names.ts';
import { createStorage, DataDirLock, StorageError } from '../../server/platform/storage/index.ts';
import { VERSION } from '../../server/product.ts';
import { stateFilesOf } from '../../server/state-files.ts';
import { CliError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';
import { command } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { type Columns, tableOf } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';
import { forceRole, readRole, readState } from './roles.ts';

const ANSWER_POLL_MS = 200;
/** The node may have to lay the snapshot out first. */
const ANSWER_POLLS = 600;

const id = { name: 'ID', help: 'id of the node, as `svc node list` shows it' };

type NodeRow = Answer<'GET /api/v1/cluster/topology'>['nodes'][number];

const nodeColumns: Columns<NodeRow> = {
  VERSION: ({ version, update }) => (update === null ? version : `${version} (update ${update})`),
  SEEN: ({ last_seen_seconds: seconds }) => `${Math.round(seconds)} s ago`,
  LOAD: ({ load }) => load.cpu.toFixed(2),
  ROLES: ({ roles }) => roles.join(' '),
  ID: ({ id }) => id,
};

export const nodeList = requestCommand({
  words: ['node', 'list'],
  summary: 'List the nodes of the cluster, how they are, and which one leads',
  examples: ['svc node list'],
  route: 'GET /api/v1/cluster/topology',
  record: ({ nodes }) => nodes,
  text: ({ nodes, leader }) => {
    const stateOf = ({ id, state }: NodeRow): string => (nodes.length > 1 && id === leader ? `${state}, leads` : state);
    return tableOf({ NAME: ({ name }) => name, STATE: stateOf, ...nodeColumns }, nodes);
  },
});

export const nodeDrain = requestCommand({
  words: ['node', 'drain'],
  summary: 'Have a node get no new work: its /readyz says so, and what runs goes on',
  positionals: [id],
  examples: ['svc node drain 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'POST /api/v1/cluster/nodes/{id}/drain',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: ({ name, state }) => `${name} is ${state}`,
});

export const nodeResume = requestCommand({
  words: ['node', 'resume'],
  summary: 'Have a drained node take work again',
  positionals: [id],
  examples: ['svc node resume 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'POST /api/v1/cluster/nodes/{id}/resume',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: ({ name, state }) => `${name} is ${state}`,
});

export const nodeRoles = serverCommand({
  words: ['node', 'roles'],
  summary: 'Show the roles of any node, or switch one on or off, at once and for later starts',
  positionals: [
    id,
    { name: 'ROLE', help: `one of ${ROLES.join(', ')}`, optional: true },
    { name: 'on|off', help: 'the new state', optional: true },
  ],
  options: forceRole,
  examples: [
    'svc node roles 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11',
    'svc node roles 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11 inference off',
  ],
  async run({ positionals: [id = '', role, state], options: { force }, client, terminal }) {
    const node =
      role === undefined
        ? (await client.call('GET /api/v1/cluster/topology')).nodes.find((each) => each.id === id)
        : await client.call('PUT /api/v1/cluster/nodes/{id}/roles/{role}', {
            params: { id, role: readRole(role) },
            body: { enabled: readState(state), ...(force && { force }) },
          });
    if (node === undefined)
      throw new CliError('failed', 'node_not_found', `no node of this cluster has the id ${id}`, 'list the nodes: svc node list');
    terminal.result(node.roles, `${node.name} has ${node.roles.join(' ') || 'no role'}`);
    return 'ok';
  },
});

export const nodeToken = requestCommand({
  words: ['node', 'token'],
  summary: 'Make a token by which one other machine joins the cluster',
  options: {
    roles: {
      kind: 'text',
      value: 'ROLES',
      help: 'what the machine does, with commas between (inference; data makes it a standby)',
    },
    hours: { kind: 'integer', value: 'N', min: 1, max: 24, help: 'how long it can be used (1)' },
  },
  examples: ['svc node token', 'svc node token --roles data,inference --hours 24'],
  route: 'POST /api/v1/cluster/join-tokens',
  given: ({ options: { roles, hours } }) => ({
    body: {
      ...(roles !== undefined && { roles: roles.split(',').map((role) => readRole(role)) }),
      ...(hours !== undefined && { expires_in_seconds: hours * 3600 }),
    },
  }),
  text: ({ token, expires_at }) => `On the other machine, until ${expires_at}:\n  svc node join ${token}`,
});

export const nodeJoin = serverCommand({
  words: ['node', 'join'],
  summary: 'Have this node, which may run or not, work for the cluster of a token',
  positionals: [{ name: 'TOKEN', help: 'from `svc node token` on a controller' }],
  options: {
    address: { kind: 'text', value: 'HOST:PORT', help: 'by which the others reach this node' },
    force: { kind: 'flag', help: 'also where it has knowledge bases, which stay on its disk unused' },
  },
  examples: ['svc node join svcj_...', 'svc node join svcj_... --address gpu2.example:8881'],
  async run(invocation) {
    const { positionals, client, terminal, options, env } = invocation;
    const { address, force, url } = options;
    const given = { ...(address !== undefined && { address }), ...(force === true && { force }) };
    const token = positionals[0] ?? '';
    const isOfThisMachine = url === undefined && env['SVC_URL'] === undefined;
    const answer =
      (isOfThisMachine ? await joinWhereStopped(invocation, token, given) : undefined) ??
      (await client.call('POST /api/v1/cluster/join', { body: { token, ...given } }));
    terminal.result(answer, `joined the cluster of ${answer.controllers.join(', ')}`);
    return 'ok';
  },
});

/** Undefined: the node runs. */
async function joinWhereStopped(invocation: Invocation, token: string, given: { address?: string; force?: boolean }) {
  const config = readConfig(invocation);
  const { values } = config;
  const lock = await DataDirLock.acquire(values.data_dir, 'svc node join').catch((error: unknown) => {
    if (error instanceof StorageError && error.code === 'data_dir_locked') return undefined;
    throw error;
  });
  if (lock === undefined) return undefined;
  const options = databaseOptions(values, modules);
  const storage = createStorage(options);
  try {
    return await joinStopped(token, {
      ...given,
      name: values['node.name'],
      dataDir: values.data_dir,
      isListening: valuesOf(config, cluster.settings)['cluster.listen'] !== '',
      isShared: storage.dialect !== 'sqlite',
      holdsDocuments: async () => {
        const { pending } = await storage.planMigrations();
        const isNew = pending.length === options.modules.reduce((sum, { migrations = [] }) => sum + migrations.length, 0);
        if (isNew) return false;
        await storage.open();
        return await holdsDocuments(storage);
      },
    });
  } catch (error) {
    if (error instanceof DomainError)
      throw new CliError('failed', error.code, error.message, 'see `docs/operate/cluster.md`', error);
    throw error;
  } finally {
    await storage.close();
    lock.release();
  }
}

export const nodeLeave = requestCommand({
  words: ['node', 'leave'],
  summary: 'Have this node leave the cluster that it joined with a token; it restarts',
  options: { force: { kind: 'flag', help: 'also where no controller can be told, as after `svc node rm`' } },
  examples: ['svc node leave', 'svc node leave --force'],
  route: 'POST /api/v1/cluster/leave',
  given: ({ options: { force } }) => ({ body: { ...(force && { force }) } }),
  text: () => 'left the cluster',
});

export const nodeRm = requestCommand({
  words: ['node', 'rm'],
  summary: 'Forget a node that is gone, or put one out that joined with a token: its certificate ends within a second',
  positionals: [id],
  examples: ['svc node rm 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'DELETE /api/v1/cluster/nodes/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: () => 'removed',
});

export const nodeStorage = listCommand({
  words: ['node', 'storage'],
  summary: 'List the copies of the data, and how far behind they are',
  examples: ['svc node storage'],
  route: 'GET /api/v1/cluster/storage',
  columns: {
    NAME: ({ name }) => name,
    STATE: ({ state }) => state,
    LAG: ({ lag_seconds: seconds }) => (seconds === null ? null : `${seconds} s`),
    COMMITS: ({ lag_commits: commits }) => commits,
    SYNCED: ({ synced_at: at }) => at,
    PROBLEM: ({ problem }) => problem,
    NODE: ({ node }) => node,
  },
  empty: 'there is no copy of the data on another node',
});

export const nodeSync = requestCommand({
  words: ['node', 'sync'],
  summary: 'Bring a standby up to date now, and wait for it',
  positionals: [id],
  examples: ['svc node sync 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'POST /api/v1/cluster/storage/{node}/sync',
  given: ({ positionals: [node = ''] }) => ({ params: { node } }),
  text: ({ name, lag_commits: commits }) => `${name} lacks ${commits ?? 0} commits`,
});

export const nodePromote = command({
  words: ['node', 'promote'],
  summary: 'Have this machine, a standby, take the place of its primary: it restarts as the primary',
  options: { force: { kind: 'flag', help: 'also where the primary had commits that are missing here; they are lost' } },
  examples: ['svc node promote', 'svc node promote --force'],
  async run(invocation) {
    const { terminal, options, signal } = invocation;
    const dataDir = readConfig(invocation).values.data_dir;
    const { promoted, isRunning } = await promote(dataDir, options.force === true, signal);
    const next = isRunning ? 'it restarts now' : 'start it';
    terminal.result(promoted, `this node is the primary, with all commits up to ${promoted.commit}; ${next}`);
    return 'ok';
  },
});

type Promoted = { commit: number };

async function promote(
  dataDir: string,
  isForced: boolean,
  signal: AbortSignal,
): Promise<{ promoted: Promoted; isRunning: boolean }> {
  const { promoteReplica, readState, REPLICA_FOLDER } = await loadStandby();
  const lock = await DataDirLock.acquire(dataDir, 'svc node promote').catch((error: unknown) => {
    if (error instanceof StorageError && error.code === 'data_dir_locked') return undefined;
    throw error;
  });
  if (lock === undefined) return { promoted: await askRunning(dataDir, isForced, signal), isRunning: true };
  try {
    const stateFiles = stateFilesOf(modules);
    const replication = await openReplication({
      node: { dataDir, stateFiles, version: VERSION, removals: new RemovalHold() },
      storage: undefined,
    });
    const state = await readState(join(dataDir, REPLICA_FOLDER));
    return { promoted: await promoteReplica(replication, dataDir, state, isForced), isRunning: false };
  } catch (error) {
    if (error instanceof DomainError) throw refused(error.code, error.sentence);
    throw error;
  } finally {
    lock.release();
  }
}

/** A node that runs looks for the file, which whoever may write in its folder can make. */
async function askRunning(dataDir: string, isForced: boolean, signal: AbortSignal): Promise<Promoted> {
  const { ANSWER_FILE, ASKED_FILE, FORCED } = await loadStandby();
  const answerFile = join(dataDir, ANSWER_FILE);
  await rm(answerFile, { force: true });
  await writeFileAtomically(join(dataDir, ASKED_FILE), isForced ? FORCED : '', 0o600);
  for (let i = 0; i < ANSWER_POLLS; i++) {
    await wait(ANSWER_POLL_MS, undefined, { signal });
    const text = await readFile(answerFile, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    await rm(answerFile, { force: true });
    const answer = JSON.parse(text) as Promoted | { code: string; detail: string };
    if ('commit' in answer) return answer;
    throw refused(answer.code, answer.detail);
  }
  await rm(join(dataDir, ASKED_FILE), { force: true });
  throw refused('not_a_standby', 'The node that works on this folder is no standby.');
}

function refused(code: string, sentence: string): CliError {
  const remedy =
    code === 'replica_behind'
      ? 'bring it up to date with `svc node sync` on the primary, or give --force and lose those commits'
      : 'join it for the role data: `svc node token --roles data` on the primary';
  return new CliError('conflict', code, sentence, remedy);
}
