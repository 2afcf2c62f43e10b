/** Nodes of one database see each other, do what another asks them to, and agree on who leads. */
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ROLES, type Role } from '../../platform/module/module-names.ts';
import { openModules, standIn, statedCallers } from '../../platform/module/test-support/open-modules.ts';
import { scriptedNode } from '../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../platform/storage/index.ts';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { inference } from '../inference/index.ts';
import { cluster } from './index.ts';
import { NodeStore } from './node-store.ts';
import { WIRE_VERSION } from './protocol/wire-version.ts';
import { type ClusterTables, clusterMigrations } from './tables.ts';

const ROOT = { 'x-as': JSON.stringify({ kind: 'session', subject: 'root', roles: ['superadmin'], scopes: ['*'] }) };
const ADMIN = { 'x-as': JSON.stringify({ kind: 'session', subject: 'ann', roles: ['admin'], scopes: ['*'] }) };

/** A node with these roles, whose heartbeats and limits are short. */
async function openNode(t: Test, id: string, databaseUrl?: string, enabled: Role[] = ['controller'], heartbeatSeconds = 1) {
  const roles = new Set(enabled);
  const models: { id: string; backend?: string }[] = [{ id: 'tiny' }, { id: 'far', backend: 'b' }];
  const node = {
    ...scriptedNode,
    id,
    roles: () => ROLES.map((role) => ({ role, enabled: roles.has(role), modules: [] })),
    setRole: async (role: Role, on: boolean) => void (on ? roles.add(role) : roles.delete(role)),
  };
  const bed = await openModules(t, {
    modules: [
      standIn(inference, {
        service: { models: async () => models } as never,
        split: { models: [], programs: '', port: 0 },
      }),
      cluster,
    ],
    databaseUrl,
    services: { node },
    settings: { 'cluster.heartbeat_seconds': heartbeatSeconds, 'cluster.entry_seconds': 4 },
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, body?: unknown, headers = ROOT) =>
    bed.send(method, `/api/v1/cluster/${path}`, { headers, ...(body !== undefined && { body }) });
  const seen = async () => (await ask('GET', 'topology')).body;
  const module = bed.module(cluster);
  return {
    bed,
    ask,
    seen,
    roles,
    models,
    ready: () => module.ready(),
    leads: () => module.api.epoch,
    health: () => module.health(),
  };
}

const stateOf = (topology: { nodes: { id: string; state: string }[] }, id: string) =>
  topology.nodes.find((node) => node.id === id)?.state;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(50);
}

t.test('a node on SQLite is the whole cluster', async (t) => {
  const { ask, seen, roles, ready, leads, health } = await openNode(t, 'a1');
  t.match(await seen(), {
    cluster_id: 'a1',
    epoch: 1,
    leader: 'a1',
    nodes: [
      {
        id: 'a1',
        version: '1.2.3',
        roles: ['controller'],
        modules: ['system', 'data'],
        models: ['tiny'],
        state: 'ready',
        last_seen_seconds: 0,
        load: { cpu: Number, memory_free_bytes: Number },
        certificate_expires_at: null,
      },
    ],
  });
  t.match(await health(), { state: { map: { size: 1, age_seconds: 0, stale: false }, leads: true } });
  t.equal(leads(), 1);
  t.match(await ask('PUT', 'nodes/a1/roles/media', { enabled: true }), { status: 200, body: { roles: ['controller', 'media'] } });
  t.ok(roles.has('media'));
  t.match(await ask('POST', 'nodes/a1/drain'), { status: 200, body: { state: 'draining' } });
  t.match(ready(), { code: 'draining' });
  t.match(await ask('POST', 'nodes/a1/resume'), { status: 200, body: { state: 'ready' } });
  t.equal(ready(), undefined);
  for (const [method, path] of [
    ['POST', 'nodes/b2/drain'],
    ['PUT', 'nodes/b2/roles/media'],
    ['DELETE', 'nodes/b2'],
  ] as const)
    t.match(await ask(method, path, method === 'PUT' ? { enabled: true } : undefined), {
      status: 404,
      body: { error: 'node_not_found' },
    });
  t.match(await ask('DELETE', 'nodes/a1'), { status: 409, body: { error: 'node_is_running' } });
  t.equal((await ask('GET', 'topology', undefined, ADMIN)).status, 200);
  t.equal((await ask('POST', 'nodes/a1/drain', undefined, ADMIN)).status, 403);
  t.equal((await ask('POST', 'nodes/%00/drain')).status, 400);
});

t.test('nodes on PostgreSQL', { skip: PostgresCluster.missing() ?? false, timeout: 60_000 }, async (t) => {
  const server = await PostgresCluster.start();
  t.teardown(() => server.remove());
  const url = await server.newDatabase();
  const one = await openNode(t, 'a1', url);
  const two = await openNode(t, 'b2', url);
  const worker = await openNode(t, 'c3', url, ['inference']);

  await t.test('see each other from any of them, and have one leader', async (t) => {
    const shown = await worker.seen();
    t.match(shown, { leader: 'a1', epoch: 1, nodes: [{ id: 'a1' }, { id: 'b2' }, { id: 'c3', roles: ['inference'] }] });
    t.strictSame([one.leads(), two.leads(), worker.leads()], [1, undefined, undefined]);
    t.strictSame(
      shown.nodes.map((node: { state: string }) => node.state),
      ['ready', 'ready', 'ready'],
    );
    await until(async () => ((await one.health()).state as { map: { size: number } }).map.size === 3);
  });

  await t.test('do what is asked of them elsewhere, and it has been done when the answer comes', async (t) => {
    const { map_version: before } = await one.seen();
    t.match(await one.ask('PUT', 'nodes/c3/roles/media', { enabled: true }), {
      status: 200,
      body: { id: 'c3', roles: ['inference', 'media'] },
    });
    t.ok(worker.roles.has('media'));
    t.match(await two.ask('POST', 'nodes/c3/drain'), { status: 200, body: { id: 'c3', state: 'draining' } });
    t.match(worker.ready(), { code: 'draining' });
    t.match(await two.ask('POST', 'nodes/c3/resume'), { status: 200, body: { state: 'ready' } });
    t.ok((await one.seen()).map_version >= before + 3);
  });

  await t.test('a leader that ends or is drained is followed by another, in a new epoch', async (t) => {
    t.match(await two.ask('POST', 'nodes/a1/drain'), { body: { state: 'draining' } });
    // It gives its lease up only when that ends; a drained node renews it no more.
    t.equal(one.leads(), undefined);
    await one.bed.stop();
    await until(async () => two.leads() !== undefined);
    t.match(await worker.seen(), { leader: 'b2', epoch: 2 });
    t.equal(stateOf(await worker.seen(), 'a1'), 'gone', 'at once, since it ended in order');
    t.match(await two.ask('POST', 'nodes/a1/drain'), { status: 503, body: { error: 'node_unreachable' } });
    t.match(await two.ask('DELETE', 'nodes/c3'), { status: 409, body: { error: 'node_is_running' } });
    t.equal((await two.ask('DELETE', 'nodes/a1')).status, 204);
    t.equal((await two.ask('DELETE', 'nodes/a1')).status, 404);
    t.strictSame(
      (await two.seen()).nodes.map((node: { id: string }) => node.id),
      ['b2', 'c3'],
    );
  });

  await t.test(
    'a node that tells nothing is suspect, then gone, and does not do later what it was asked meanwhile',
    async (t) => {
      const store = new NodeStore(two.bed.storage.access<ClusterTables>());
      const [entry] = await store.nodes();
      const { seenMsAgo: _, ...lost } = entry as NonNullable<typeof entry>;
      await store.beat({ ...lost, id: 'd4', heartbeat_ms: 100, version: '1.2.2', wire: 1 });
      const { nodes } = await two.seen();
      t.match(
        nodes.find((node: { id: string }) => node.id === 'd4'),
        { state: 'ready', version: '1.2.2', wire_version: 1, update: 'next' },
      );
      t.match(nodes[0], { version: '1.2.3', wire_version: WIRE_VERSION, update: null });
      await until(async () => stateOf(await two.seen(), 'd4') === 'suspect');
      await until(async () => stateOf(await two.seen(), 'd4') === 'gone');
      t.equal(await store.forget(1, 0), 0, 'a leader of an earlier epoch changes nothing');
      t.ok(stateOf(await two.seen(), 'd4'));
      t.ok((await store.forget(2, 3_900)) >= 1);
      t.equal(stateOf(await two.seen(), 'd4'), undefined);
      const order = await store.order('d4', { kind: 'drain' });
      t.strictSame([await store.take(order), await store.take(order)], [true, false]);
    },
  );

  await t.test('a node tells at once that it has another model, or another role', async (t) => {
    const rare = await openNode(t, 'e5', url, ['inference'], 600);
    const told = async () => (await two.seen()).nodes.find(({ id }: { id: string }) => id === 'e5');
    t.match(await told(), { models: ['tiny'], roles: ['inference'] });
    rare.models.push({ id: 'large' });
    await until(async () => (await told()).models.length === 2);
    t.strictSame((await told()).models, ['large', 'tiny']);
    rare.roles.add('media');
    await until(async () => (await told()).roles.length === 2);
    await rare.bed.stop();
  });

  await t.test('most of the others fall silent at once: the map stays, and says that it is stale', async (t) => {
    const store = new NodeStore(two.bed.storage.access<ClusterTables>());
    const [entry] = await store.nodes();
    const { seenMsAgo: _, ...lost } = entry as NonNullable<typeof entry>;
    const ids = ['f6', 'f7', 'f8'];
    const isStale = async () => ((await two.health()).state as { map: { stale: boolean } }).map.stale;
    for (const id of ids) await store.beat({ ...lost, id, ended: 0, heartbeat_ms: 100 });
    for (const id of ids) t.equal(stateOf(await two.seen(), id), 'ready');
    t.equal(await isStale(), false);
    await until(isStale);
    for (const id of ids) t.equal(stateOf(await two.seen(), id), 'ready', 'the list is at fault, and not these');
    for (const id of ids) await store.remove(id);
    await until(async () => !(await isStale()));
  });

  await t.test('of many that would lead at once, one does', async (t) => {
    const storage = createStorage({
      url: await server.newDatabase(),
      modules: [{ module: 'cluster', migrations: clusterMigrations }],
    });
    await storage.open();
    t.teardown(() => storage.close());
    const store = new NodeStore(storage.access<ClusterTables>());
    await Promise.all(Array.from({ length: 5 }, () => store.open()));
    for (let round = 1; round <= 2; round += 1) {
      const epochs = await Promise.all(Array.from({ length: 8 }, (_, i) => store.lead(`n${i}`, 1_500, undefined)));
      t.strictSame(
        epochs.filter((epoch) => epoch !== undefined),
        [round],
      );
      await wait(1_600);
    }
  });
});

t.test('on PostgreSQL its replicas are listed, as it reports them', { skip: PostgresCluster.missing() ?? false }, async (t) => {
  const server = await PostgresCluster.start();
  t.teardown(() => server.remove());
  const { ask } = await openNode(t, 'a1', await server.newDatabase());
  t.strictSame((await ask('GET', 'storage')).body, { database: 'postgres', commit: null, replicas: [] });
  t.match(await ask('POST', 'storage/b2/sync', {}), { status: 409, body: { error: 'not_a_standby' } });
});
