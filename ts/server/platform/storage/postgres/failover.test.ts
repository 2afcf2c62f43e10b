/** A database on two servers: the standby takes over when the primary dies. */
import t from 'tap';
import { createStorage } from '../create-storage.ts';
import type { StorageError } from '../storage-error.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import { PostgresCluster } from '../test-support/postgres-cluster.ts';
import { hostOf, urlsOfHosts } from './hosts.ts';

t.setTimeout(120_000);
const red = tenantScope('red');

t.test('hosts are listed as libpq has them', async (t) => {
  const split = (url: string, urls: string[]) => t.strictSame(urlsOfHosts(url), urls, url);
  split('postgres://svc:a,b@one/svc', ['postgres://svc:a,b@one/svc']);
  split('postgres://svc:p%40@one:5432,[::1]:5433/svc?sslmode=require', [
    'postgres://svc:p%40@one:5432/svc?sslmode=require',
    'postgres://svc:p%40@[::1]:5433/svc?sslmode=require',
  ]);
  split('postgres:///svc?host=/a,/b&user=svc', ['postgres:///svc?host=%2Fa&user=svc', 'postgres:///svc?host=%2Fb&user=svc']);
  split('postgresql:///svc?host=/a,/b&port=1,2', ['postgresql:///svc?host=%2Fa&port=1', 'postgresql:///svc?host=%2Fb&port=2']);
  split('postgres:///svc', ['postgres:///svc']);
  t.equal(urlsOfHosts(`postgres://${Array(100).fill('x').join(',')}/svc`).length, 16);
  for (const [url, host] of [
    ['postgres://svc:secret@one:5432/svc', 'one:5432'],
    ['postgres:///svc?host=%2Fa&password=secret', '/a'],
    ['postgres:///svc', 'localhost'],
  ] as const)
    t.equal(hostOf(url), host);
});

t.test('a URL that cannot be read is refused without its password', async (t) => {
  const storage = createStorage({ url: 'postgres://svc:secret@one:port/svc', modules: [] });
  await t.rejects(storage.open(), { code: 'invalid_url', message: /^(?!.*secret)/ });
});

const missing = PostgresCluster.missing();
t.test('a failover', { skip: missing ?? false }, async (t) => {
  const primary = await PostgresCluster.startOwn();
  t.teardown(() => primary.remove());
  const name = new URL((await primary.newDatabase()).replace('postgres:///', 'postgres://x/')).pathname.slice(1);
  const standby = await primary.startStandby();
  t.teardown(() => standby.remove());
  const urlOf = (...clusters: PostgresCluster[]) =>
    `postgres:///${name}?host=${clusters.map(({ folder }) => folder).join(',')}&user=svc`;
  const open = async (waitMs: number) => {
    const storage = createStorage({ url: urlOf(standby, primary), modules: [notesModule], waitMs });
    t.teardown(() => storage.close());
    await storage.open();
    return { storage, notes: storage.access<NoteTables>() };
  };
  const patient = await open(60_000);
  const other = await open(0);
  const write = ({ notes }: typeof patient, id: string) =>
    notes.writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id, text: '', version: 1 })]);
  const list = ({ notes }: typeof patient) => notes.read(red, (db) => db.selectFrom('notes').select('id').execute());

  await t.rejects(createStorage({ url: urlOf(standby), modules: [] }).open(), { code: 'storage_unavailable', remedy: /ONE,TWO/ });
  await t.rejects(createStorage({ url: urlOf(standby, standby), modules: [] }).open(), {
    code: 'storage_unavailable',
    message: new RegExp(`^None of the 2 servers of database.url takes writes. ${standby.folder}: .* is a standby`),
  });

  const heard: string[] = [];
  const listener = other.storage.listen('bell', {
    onListening: async () => void heard.push('listening'),
    onNotification: (payload) => heard.push(payload),
    onLost: (error) => heard.push(`lost: ${(error as Error).message}`),
  });
  listener?.start();
  t.teardown(() => listener?.stop());

  const [acknowledged, refused, unread]: [string[], StorageError[], StorageError[]] = [[], [], []];
  let nRead = 0;
  let isOver = false;
  const work = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; !isOver; n += 1) {
      const id = `${worker}-${n}`;
      await write(patient, id).then(
        () => acknowledged.push(id),
        (error: StorageError) => refused.push(error),
      );
      await list(patient).then(
        () => (nRead += 1),
        (error: StorageError) => unread.push(error),
      );
    }
  });
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await until(() => acknowledged.length > 50 && listener?.isLive === true);
  await primary.stopServer('immediate');
  await until(() => patient.storage.notReady() !== undefined);
  await t.rejects(write(other, 'other'), { code: 'storage_unavailable' }, 'who may not wait is refused');
  const before = acknowledged.length;
  const late = open(60_000);
  await standby.promote();
  t.ok(await late, 'a node that starts meanwhile waits as well');
  await until(() => acknowledged.length > before + 50 && nRead > 100);
  isOver = true;
  await Promise.all(work);
  t.strictSame(unread, [], 'whatever only reads is served');
  t.strictSame(
    refused.filter(({ outcome }) => outcome !== 'unknown'),
    [],
    'whatever waited was served; only a COMMIT without an answer may be refused',
  );
  const stored = new Set((await list(patient)).map(({ id }) => id));
  t.strictSame(
    acknowledged.filter((id) => !stored.has(id)),
    [],
    'no acknowledged write is lost',
  );
  await until(() => other.storage.notReady() === undefined && listener?.isLive === true);
  await standby.query(`select pg_notify('bell', 'ring')`, name);
  await until(() => heard.includes('ring'));
  t.match(
    heard.find((line) => line.startsWith('lost')),
    /^lost: (?!All promises)/,
  );

  await standby.stopServer('immediate');
  await until(() => patient.storage.notReady() !== undefined);
  const waiting = t.rejects(write(patient, 'late'), { code: 'storage_unavailable' });
  await patient.storage.close();
  await waiting;
});
