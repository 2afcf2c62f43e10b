/** From every schema that an earlier version left to that of this one, with data, also when the power fails on the way. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { random } from '../../test/test-support/seed.ts';
import { cliSetting } from '../cli/cli-setting.ts';
import { copyDatabase, createStorage } from './platform/storage/index.ts';
import { killRounds } from './platform/storage/test-support/kill-rounds.ts';
import { PostgresCluster } from './platform/storage/test-support/postgres-cluster.ts';
import { allMigrations, countRows, describeSchema, earlierSchemas, writeEarlierDatabase } from './test-support/earlier-schema.ts';

t.setTimeout(600_000);
const migrations = allMigrations();
const missing = PostgresCluster.missing();

async function open(url: string, known = migrations): Promise<void> {
  const storage = createStorage({ url, modules: known });
  await storage.open();
  await storage.close();
}

/** Those that the database has. */
function knownTo(file: string): typeof migrations {
  const database = new Database(file, { readonly: true });
  const last = database.prepare('select module, max(id) from svc_migrations group by module').raw().all() as [string, number][];
  database.close();
  const applied = new Map(last);
  return migrations.map(({ module, migrations: all }) => ({ module, migrations: all.slice(0, applied.get(module) ?? 0) }));
}

t.test('there is an earlier schema', async (t) => t.ok(earlierSchemas().length > 0));

for (const name of earlierSchemas()) {
  t.test(`${name}: every row is kept, and the schema is that of a new database`, async (t) => {
    const folder = t.testdir();
    const [upgraded, fresh] = [join(folder, 'svc.db'), join(folder, 'fresh.db')];
    writeEarlierDatabase(name, upgraded);
    const before = countRows(upgraded);
    await open(`sqlite:${upgraded}`);
    await open(`sqlite:${fresh}`);
    const after = countRows(upgraded);
    for (const [table, rows] of Object.entries(before)) t.ok((after[table] ?? 0) >= rows, `${table}: ${after[table]} of ${rows}`);
    t.strictSame(describeSchema(upgraded), describeSchema(fresh));
  });

  t.test(`${name}: kill -9 in the middle, then the next start brings it to the end`, async (t) => {
    const folder = t.testdir();
    const [first, whole, file] = [join(folder, 'first.db'), join(folder, 'whole.db'), join(folder, 'svc.db')];
    writeEarlierDatabase(name, first);
    copyFileSync(first, whole);
    await open(`sqlite:${whole}`);
    const tookMs = await migrateInProcess(first, file, Number.POSITIVE_INFINITY);
    let isInterrupted = 0;
    for (let round = 0; round < killRounds(); round += 1) {
      await migrateInProcess(first, file, random.next() * tookMs * 1.1);
      if (pending(file) > 0) isInterrupted += 1;
      await open(`sqlite:${file}`);
      t.strictSame(countRows(file), countRows(whole));
      t.strictSame(describeSchema(file), describeSchema(whole));
    }
    t.comment(`${isInterrupted} of ${killRounds()} were interrupted`);
  });

  t.test(`${name}: on PostgreSQL`, { skip: missing ?? false }, async (t) => {
    const cluster = await PostgresCluster.start();
    t.teardown(() => cluster.remove());
    const file = join(t.testdir(), 'svc.db');
    writeEarlierDatabase(name, file);
    const [url, known] = [await cluster.newDatabase(), knownTo(file)];
    const copied = await copyDatabase({ url: `sqlite:${file}`, modules: known }, { url, modules: known });
    t.ok(copied.length > 10);
    const storage = createStorage({ url, modules: migrations });
    t.ok((await storage.planMigrations()).pending.length > 0);
    await storage.open();
    await storage.close();
    t.strictSame((await createStorage({ url, modules: migrations }).planMigrations()).pending, []);
  });
}

t.test('doctor says what an upgrade will change, and that it is done; a downgrade is refused with what to do', async (t) => {
  const { root, run } = cliSetting(t);
  const file = join(root, 'data', 'svc.db');
  writeEarlierDatabase(earlierSchemas()[0] ?? '', file);
  t.match(
    (await run(['doctor'])).stdout,
    /warning database +\d+ changes of the schema are pending: .*identity 2.*\n +-> .*svc\.db\.pre-/,
  );
  t.match(await run(['migrate']), { code: 0 });
  t.match((await run(['doctor'])).stdout, /ok +database +the schema is that of this version \(\d+ migrations\)/);
  const database = new Database(file);
  database.prepare("insert into svc_migrations values ('identity', 99, 'of the future', 1)").run();
  database.close();
  const refused = /migration 99 of module identity.*\n.*Start the version of svc that wrote this database/;
  t.match(await run(['migrate']), { code: 1, stderr: refused });
  t.match(await run(['serve']), { code: 1, stderr: refused });
  t.match((await run(['doctor'])).stdout, /BROKEN +database .*migration 99[^\n]*\n +-> Start the version of svc/);
});

/** Milliseconds until it ended or was killed; the file is a copy of the first state then. */
async function migrateInProcess(first: string, file: string, killAfterMs: number): Promise<number> {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) rmSync(each);
  copyFileSync(first, file);
  const program = join(import.meta.dirname, 'test-support', 'migrating-process.ts');
  const child = spawn(process.execPath, ['--no-warnings', program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  const began = performance.now();
  if (killAfterMs === Number.POSITIVE_INFINITY) await exited;
  else await Promise.race([wait(killAfterMs), exited]);
  child.kill('SIGKILL');
  await exited;
  return performance.now() - began;
}

function pending(file: string): number {
  // A kill leaves a journal, which only who may write can roll back.
  const database = new Database(file);
  const applied = database.prepare('select count(*) from svc_migrations').pluck().get() as number;
  database.close();
  return migrations.reduce((sum, { migrations: all }) => sum + all.length, 0) - applied;
}
