/** `svc node`: the nodes of a cluster, asked of any of them. */

import { databaseOptions } from '../../server/database.ts';
import { cluster, joinStopped } from '../../server/domains/cluster/index.ts';
import { holdsDocuments } from '../../server/domains/data/index.ts';
import { modules } from '../../server/modules.ts';
import { valuesOf } from '../../server/platform/config/config.ts';
import { DomainError } from '../../server/platform/errors/domain-error.ts';
import { ROLES } from '../../server/platform/module/module-names.ts';
import { createStorage, DataDirLock, StorageError } from '../../server/platform/storage/index.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

const id = { name: 'ID', help: 'id of the node, as `svc node list` shows it' };

export const nodeList = listCommand({
  words: ['node', 'list'],
  summary: 'List the nodes of the cluster, and how they are',
  examples: ['svc node list'],
  route: 'GET /api/v1/cluster/topology',
  columns: {
    NAME: ({ name }) => name,
    STATE: ({ state }) => state,
    VERSION: ({ version }) => version,
    SEEN: ({ last_seen_seconds: seconds }) => `${Math.round(seconds)} s ago`,
    LOAD: ({ load }) => load.cpu.toFixed(2),
    ROLES: ({ roles }) => roles.join(' '),
    ID: ({ id }) => id,
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

export const nodeRole = requestCommand({
  words: ['node', 'role'],
  summary: 'Switch a role of any node on or off, at once and for later starts',
  positionals: [id, { name: 'ROLE', help: `one of ${ROLES.join(', ')}` }, { name: 'on|off', help: 'the new state' }],
  examples: ['svc node role 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11 inference off'],
  route: 'PUT /api/v1/cluster/nodes/{id}/roles/{role}',
  given: ({ positionals: [id = '', given = '', state] }) => {
    const role = ROLES.find((each) => each === given);
    if (role === undefined) throw usageError(`"${given}" is no role`, `give one of ${ROLES.join(', ')}`);
    if (state !== 'on' && state !== 'off') throw usageError(`"${state}" is no state`, 'give on or off behind the role');
    return { params: { id, role }, body: { enabled: state === 'on' } };
  },
  text: ({ name, roles }) => `${name} has ${roles.join(' ') || 'no role'}`,
});

export const nodeToken = requestCommand({
  words: ['node', 'token'],
  summary: 'Make a token by which one other machine joins the cluster',
  examples: ['svc node token'],
  route: 'POST /api/v1/cluster/join-tokens',
  given: () => ({ body: {} }),
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
  const storage = createStorage(databaseOptions(values, modules));
  try {
    return await joinStopped(token, {
      ...given,
      dataDir: values.data_dir,
      isListening: valuesOf(config, cluster.settings)['cluster.listen'] !== '',
      isShared: storage.dialect !== 'sqlite',
      holdsDocuments: async () => {
        const { pending } = await storage.planMigrations();
        const isNew = pending.length === modules.reduce((sum, { migrations = [] }) => sum + migrations.length, 0);
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
  examples: ['svc node leave'],
  route: 'POST /api/v1/cluster/leave',
  text: () => 'left the cluster',
});

export const nodeRm = requestCommand({
  words: ['node', 'rm'],
  summary: 'Forget a node that is gone',
  positionals: [id],
  examples: ['svc node rm 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'DELETE /api/v1/cluster/nodes/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: () => 'forgotten',
});
