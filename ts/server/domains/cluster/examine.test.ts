/** `svc doctor` reads a cluster from the database of a controller, and from PostgreSQL with and without a standby. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../platform/http/self-signed.ts';
import { createStorage } from '../../platform/storage/index.ts';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { examineCluster } from './examine.ts';
import { NodeStore } from './node-store.ts';
import { WIRE_VERSION } from './protocol/wire-version.ts';
import { postgresReplicas } from './replica/database-copies.ts';
import { type ClusterTables, clusterMigrations } from './tables.ts';

const DAY_MS = 24 * 3_600_000;

async function openDatabase(t: Test, url: string) {
  const storage = createStorage({ url, modules: [{ module: 'cluster', migrations: clusterMigrations }] });
  await storage.open();
  t.teardown(() => storage.close());
  const access = storage.access<ClusterTables>();
  const store = new NodeStore(access);
  await store.open();
  return { access, store };
}

const told = (id: string, more: object = {}) => ({
  id,
  name: `name-${id}`,
  address: '127.0.0.1:1',
  version: '5.0.9',
  roles: '["controller"]',
  modules: '[]',
  models: '[]',
  load: '{}',
  draining: 0,
  ended: 0,
  heartbeat_ms: 30_000,
  wire: WIRE_VERSION,
  boot: 'x',
  ...more,
});

t.test('clocks, versions, silent nodes and the certificates of all', async (t) => {
  const folder = newFolder(t);
  t.equal(await examineCluster(folder, undefined), undefined, 'a node of its own');
  const { access, store } = await openDatabase(t, `sqlite:${join(folder, 'svc.db')}`);
  const own = join(folder, 'cluster');
  await createSelfSigned({ folder: own, names: ['a1'], isForClients: true, days: 5 });
  const certificate = (node: string, fingerprint: string, inDays: number) =>
    store.register({ node, fingerprint, pem: '', expires_at: Date.now() + inDays * DAY_MS, is_member: 0, is_standby: 0 });
  await store.beat(told('a1'));
  await store.beat(told('b2', { version: '5.0.10' }));
  await store.beat(told('c3', { wire: WIRE_VERSION + 2, roles: '[]' }));
  await store.beat(told('d4', { ended: 1 }));
  for (const [days, name] of [
    [3, 'old'],
    [29, 'new'],
  ] as const)
    await certificate('a1', name, days);
  await certificate('b2', 'b', 3);
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() - 60_000;
  const facts = await examineCluster(folder, access);
  Date.now = now;
  t.ok(Math.abs((facts?.clockOffsetMs ?? 0) - 60_000) < 5_000, 'the database is a minute ahead');
  t.equal(facts?.copies, undefined);
  t.strictSame(facts?.toUpdate, ['name-a1', 'name-c3'], 'the controller first');
  t.match(facts?.nodes, [
    { name: 'name-a1', version: '5.0.9', isForeign: false, silentMs: undefined },
    { name: 'name-b2', version: '5.0.10', isForeign: false },
    { name: 'name-c3', isForeign: true, certificateEnd: undefined },
  ]);
  const days = facts?.nodes.map(({ certificateEnd: end }) => end && Math.round((end.getTime() - now()) / DAY_MS));
  t.strictSame(days, [29, 3, undefined], 'of each the newest');
  await store.beat(told('a1', { heartbeat_ms: 1 }));
  await wait(10);
  const late = async () => (await examineCluster(folder, access))?.nodes[0]?.silentMs;
  while ((await late()) === undefined) await wait(100);
  t.ok(Number(await late()) > 2_000, 'it is late by a beat and a half and two seconds');
});

const skip = PostgresCluster.missing() ?? false;
t.test('whether a commit on PostgreSQL waits for a standby', { skip, timeout: 120_000 }, async (t) => {
  const server = await PostgresCluster.startOwn();
  t.teardown(() => server.remove());
  const folder = newFolder(t);
  const { access } = await openDatabase(t, await server.newDatabase());
  const copies = async () => (await examineCluster(folder, access))?.copies;
  const until = async (isTrue: () => Promise<boolean | undefined>) => {
    while (!(await isTrue())) await wait(50);
  };
  t.strictSame(await copies(), { isSynchronous: false, nStandbys: 0, nSynchronous: 0 });
  const standby = await server.startStandby();
  t.teardown(() => standby.remove());
  await until(async () => (await copies())?.isSynchronous);
  t.strictSame(await copies(), { isSynchronous: true, nStandbys: 1, nSynchronous: undefined }, 'the role may not read more');
  t.match(await postgresReplicas(access), [{ state: 'behind', lag_seconds: null, problem: /grant pg_monitor/ }]);
  await server.query('grant pg_monitor to svc');
  await until(async () => (await copies())?.nSynchronous === 1);
  await until(async () => (await postgresReplicas(access))[0]?.lag_seconds === 0);
  t.match(await postgresReplicas(access), [{ state: 'ok', problem: null, node: null }]);
  await server.query("alter system set synchronous_standby_names = ''");
  await server.query('select pg_reload_conf()');
  await until(async () => (await copies())?.isSynchronous === false);
  t.equal((await copies())?.nStandbys, 1);
});
