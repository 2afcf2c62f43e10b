import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createStorage } from '../create-storage.ts';
import type { Storage } from '../storage.ts';
import { StorageError } from '../storage-error.ts';
import { tenantScope } from '../tenant-scope.ts';
import { listLostNotes } from '../test-support/acknowledged-notes.ts';
import { LineReader } from '../test-support/line-reader.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import type { WriterLine } from '../test-support/steady-writer.ts';

t.setTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), 'svc-io-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const red = tenantScope('red');

function commandFails(command: string, args: string[]): string | false {
  try {
    execFileSync(command, args, { stdio: 'pipe' });
    return false;
  } catch (error) {
    return (error as Error).message;
  }
}

const shim = join(folder, 'fault-shim.so');
const source = new URL('../test-support/fault-shim.c', import.meta.url).pathname;
const noShim =
  process.platform === 'linux'
    ? commandFails('cc', ['-shared', '-fPIC', '-o', shim, source, '-ldl']) && 'no C compiler for the shim that fails system calls'
    : 'LD_PRELOAD is Linux';

function startWriter(url: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const program = new URL('../test-support/steady-writer.ts', import.meta.url).pathname;
  return spawn(process.execPath, [program, url, '0'], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

for (const failing of ['fsync', 'fsync and pwrite']) {
  t.test(
    `when ${failing} fails, writes stop and are refused until the disk works, and none is lost`,
    { skip: noShim },
    async (t) => {
      const flag = join(folder, `flag ${failing}`);
      const url = `sqlite:${join(folder, failing.replaceAll(' ', '-'))}.sqlite`;
      const syncOnly = failing === 'fsync' ? { SVC_FAULT_SYNC_ONLY: '1' } : {};
      const writer = startWriter(url, { LD_PRELOAD: shim, SVC_FAULT_FLAG: flag, ...syncOnly });
      t.teardown(() => writer.kill('SIGKILL'));
      const output = new LineReader<WriterLine>(writer);
      await output.find(({ acknowledged }) => Number(acknowledged) >= 20);
      writeFileSync(flag, '');
      t.match(await output.find(({ notReady }) => typeof notReady === 'string'), { notReady: /cannot be written.*SQLITE_IOERR/ });
      t.match(await output.find(({ refused }) => refused !== undefined), { refused: 'storage_unavailable' });
      await output.find(({ refused, outcome }) => refused === 'storage_unavailable' && outcome === 'not_applied');
      const before = output.lines.length;
      rmSync(flag);
      await output.find(({ notReady }) => notReady === null, before);
      await output.find(({ acknowledged }) => acknowledged !== undefined, before);
      writer.stdin?.end();
      await output.ended;
      t.strictSame(await listLostNotes(url, output.lines), []);
    },
  );
}

const mountPoint = mkdtempSync(join(tmpdir(), 'svc-full-'));
const noMount = commandFails('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', mountPoint]) && 'mounting a tmpfs needs root';
t.teardown(() => {
  if (!noMount) execFileSync('umount', ['-l', mountPoint]);
  rmSync(mountPoint, { recursive: true });
});

async function writeUntilRefused(storage: Storage): Promise<{ ids: string[]; error: unknown }> {
  const notes = storage.access<NoteTables>();
  const ids: string[] = [];
  for (let i = 0; i < 10_000; i += 1) {
    try {
      await notes.writeUnit(red, (db) => [
        db.insertInto('notes').values({ tenant: 'red', id: `${i}`, text: 'x'.repeat(5_000), version: 1 }),
      ]);
      ids.push(`${i}`);
    } catch (error) {
      return { ids, error };
    }
  }
  throw new Error('the disk never became full');
}

t.test('a full disk stops writes but not reads; they go on when there is space again', { skip: noMount }, async (t) => {
  const ballast = join(mountPoint, 'ballast');
  writeFileSync(ballast, Buffer.alloc(1_500_000));
  const recovered = Promise.withResolvers<void>();
  const storage = createStorage({
    url: `sqlite:${join(mountPoint, 'svc.sqlite')}`,
    modules: [notesModule],
    reopenDelayMs: { first: 20, longest: 100 },
    observer: { onRecovered: () => recovered.resolve() },
  });
  t.teardown(() => storage.close());
  await storage.open();
  const { ids, error } = await writeUntilRefused(storage);
  t.match(error, { code: 'storage_unavailable', message: /SQLITE_(FULL|IOERR)/ });
  t.ok(error instanceof StorageError && error.remedy.includes('space'));
  t.match(storage.notReady(), /cannot be written/);
  t.equal(storage.ioError()?.code, 'storage_unavailable');
  const stillRead = await storage.access<NoteTables>().read(red, (db) => db.selectFrom('notes').select('id').execute());
  t.equal(stillRead.length, ids.length);
  rmSync(ballast);
  t.ok(statfsSync(mountPoint).bavail > 0);
  await recovered.promise;
  t.equal(storage.notReady(), undefined);
  const notes = storage.access<NoteTables>();
  await notes.writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id: 'after', text: '', version: 1 })]);
  const rows = await notes.read(red, (db) => db.selectFrom('notes').select('id').execute());
  const found = new Set(rows.map(({ id }) => id));
  t.strictSame(
    [...ids, 'after'].filter((id) => !found.has(id)),
    [],
  );
});
