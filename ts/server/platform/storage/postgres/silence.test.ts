/** A PostgreSQL server that stops answering without closing a connection, as behind a firewall that forgets, or on a host that hangs. */
import { sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { createStorage } from '../create-storage.ts';
import type { Storage } from '../storage.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import { PostgresCluster } from '../test-support/postgres-cluster.ts';
import { SilentRelay } from '../test-support/silent-relay.ts';

t.setTimeout(60_000);
const red = tenantScope('red');
/** Ready says so within 5 s; the rest is for a busy machine. */
const NOTICED_MS = 8_000;
const AT_ONCE_MS = 500;
const BACK_MS = 4_000;

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testSilence(await PostgresCluster.start());

async function testSilence(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());

  const open = async (t: Test, waitMs = 0): Promise<{ storage: Storage; relay: SilentRelay }> => {
    const url = await cluster.newDatabase();
    const relay = await SilentRelay.start(url);
    const storage = createStorage({ url: relay.urlOf(url), modules: [notesModule], poolSize: 3, waitMs });
    t.teardown(async () => {
      await storage.close();
      relay.close();
    });
    await storage.open();
    return { storage, relay };
  };
  const write = (storage: Storage, id: string) =>
    storage
      .access<NoteTables>()
      .writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id, text: '', version: 1 })]);
  const list = (storage: Storage) =>
    storage.access<NoteTables>().read(red, (db) => db.selectFrom('notes').select('id').orderBy('id').execute());
  const took = async (work: Promise<unknown>) => {
    const startedAt = performance.now();
    await work.catch(() => undefined);
    return performance.now() - startedAt;
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  /** Until a write works. */
  const back = async (storage: Storage) => {
    for (let i = 0; ; i += 1) {
      const done = await write(storage, `back-${i}`).then(
        () => true,
        () => false,
      );
      if (done) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  t.test(
    'what runs and waits is refused soon, what comes later at once, and all goes on with the first new connection',
    async (t) => {
      const { storage, relay } = await open(t);
      await write(storage, 'a');
      const heard: string[] = [];
      const listener = storage.listen('bell', {
        onListening: async () => undefined,
        onNotification: (payload) => heard.push(payload),
        onLost: () => undefined,
      });
      listener?.start();
      t.teardown(() => listener?.stop());
      await until(() => listener?.isLive === true);
      relay.fallSilent();
      const works: Promise<unknown>[] = [
        write(storage, 'b'),
        list(storage),
        ...['c', 'd', 'e', 'f'].map((id) => write(storage, id)),
      ];
      const refused = works.map((work) => t.rejects(work, { code: 'storage_unavailable' }));
      const noticed = await took(Promise.all([...refused, until(() => storage.notReady() !== undefined)]));
      t.ok(noticed < NOTICED_MS, `refused and not ready after ${Math.round(noticed)} ms`);
      for (const work of [(): Promise<unknown> => write(storage, 'g'), () => list(storage)]) {
        const ms = await took(t.rejects(work(), { code: 'storage_unavailable' }));
        t.ok(ms < AT_ONCE_MS, `refused at once: ${Math.round(ms)} ms`);
      }
      const before = relay.nSwallowed;
      await until(() => relay.nSwallowed > before + 1);
      relay.speakToNew();
      const backMs = await took(back(storage));
      t.ok(backMs < BACK_MS, `writes are back after ${Math.round(backMs)} ms`);
      const listeningMs = await took(until(() => listener?.isLive === true));
      t.ok(listeningMs < BACK_MS, `LISTEN is back after ${Math.round(listeningMs)} ms`);
      t.equal(storage.notReady(), undefined);
      t.match(await list(storage), [{ id: 'a' }, { id: /^back-/ }], 'what was refused was not written');
    },
  );

  t.test('a COMMIT whose answer never comes is an error with an unknown outcome', async (t) => {
    const { storage, relay } = await open(t);
    relay.silentAfter = 'COMMIT';
    await t.rejects(write(storage, 'a'), { code: 'storage_unavailable', outcome: 'unknown' });
    relay.speakToNew();
    await back(storage);
    t.match(await list(storage), [{ id: 'a' }, { id: /^back-/ }], 'here it was written');
  });

  t.test('a COMMIT that never arrived is one, too, and is not sent again', async (t) => {
    const { storage, relay } = await open(t, 60_000);
    relay.silentAt = 'COMMIT';
    const refused = t.rejects(write(storage, 'a'), { code: 'storage_unavailable', outcome: 'unknown' });
    const ms = await took(refused);
    t.ok(ms < NOTICED_MS, `given up after ${Math.round(ms)} ms`);
    await back(storage);
    t.match(await list(storage), [{ id: /^back-/ }], 'here it was not written');
  });

  for (const [where, bytes] of [
    ['its BEGIN', 'BEGIN ISOLATION LEVEL SERIALIZABLE'],
    ['a statement', 'insert into "notes"'],
  ] as const)
    t.test(`a connection that hangs in ${where}, while others work, is given up, and the write is done once`, async (t) => {
      const { storage, relay } = await open(t, 60_000);
      relay.silentAt = bytes;
      const ms = await took(t.resolves(write(storage, 'a')));
      t.ok(ms < NOTICED_MS, `given up after ${Math.round(ms)} ms`);
      t.strictSame(await list(storage), [{ id: 'a' }]);
    });

  t.test('a statement that takes long is waited for', async (t) => {
    const { storage } = await open(t);
    const slow = storage.access<NoteTables>().read(red, (db) => sql`select pg_sleep(4)`.execute(db));
    await t.resolves(slow);
    t.equal(storage.notReady(), undefined);
  });

  t.test('a read is asked again, also where the answer to its COMMIT never came', async (t) => {
    const { storage, relay } = await open(t, 60_000);
    await write(storage, 'a');
    relay.silentAfter = 'COMMIT';
    const answer = list(storage);
    await until(() => storage.notReady() !== undefined);
    relay.speakToNew();
    t.match(await answer, [{ id: 'a' }]);
  });

  t.test('one connection that ends, even the one that asks whether the server answers, ends nothing else', async (t) => {
    const url = await cluster.newDatabase();
    const storage = createStorage({ url, modules: [notesModule], poolSize: 3 });
    t.teardown(() => storage.close());
    await storage.open();
    const inside = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const write = storage.access<NoteTables>().write(red, async (db) => {
      await db.insertInto('notes').values({ tenant: 'red', id: 'a', text: '', version: 1 }).execute();
      inside.resolve();
      await ended.promise;
      return await db.selectFrom('notes').select('id').execute();
    });
    await inside.promise;
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const pulses = async (): Promise<number[]> => {
      const { rows } = await other.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT 1' AND pid <> pg_backend_pid()",
      );
      return rows.map(({ pid }) => pid);
    };
    const waitFor = async (isTrue: (pids: number[]) => boolean): Promise<number[]> => {
      for (;;) {
        const pids = await pulses();
        if (isTrue(pids)) return pids;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const [pulse] = await waitFor((pids) => pids.length === 1);
    await other.query('SELECT pg_terminate_backend($1)', [pulse]);
    await waitFor((pids) => pids.length === 1 && pids[0] !== pulse);
    await other.end();
    t.equal(storage.notReady(), undefined);
    ended.resolve();
    t.strictSame(await write, [{ id: 'a' }], 'the transaction that was open goes on');
  });

  t.test('a storage is closed while the server is silent', async (t) => {
    const { storage, relay } = await open(t);
    relay.fallSilent();
    const work = t.rejects(write(storage, 'a'));
    await storage.close();
    await work;
  });
}
