import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { DataDirLock } from './data-dir-lock.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-lock-'));
t.teardown(() => rmSync(dataDir, { recursive: true }));

async function startHolder(): Promise<{ holder: ChildProcess; line: string }> {
  const program = new URL('test-support/lock-holder.ts', import.meta.url).pathname;
  const holder = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunk] = (await once(holder.stdout ?? holder, 'data')) as [Buffer];
  return { holder, line: chunk.toString().trim() };
}

async function kill(holder: ChildProcess): Promise<void> {
  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
}

t.test('a second process is refused and told who holds the folder; kill -9 frees it', async (t) => {
  const { holder, line } = await startHolder();
  t.equal(line, 'locked');
  await t.rejects(DataDirLock.acquire(dataDir, 'svc doctor'), {
    code: 'data_dir_locked',
    message: new RegExp(`svc test \\(process ${holder.pid}, since 2`),
  });
  const second = await startHolder();
  t.match(second.line, /is in use by svc test/);
  await kill(holder);
  const lock = await DataDirLock.acquire(dataDir, 'svc doctor');
  lock.release();
});

t.test('the process id that a dead holder left does not matter, though another process has it now', async (t) => {
  writeFileSync(join(dataDir, 'lock.json'), JSON.stringify({ pid: process.pid, command: 'svc serve', since: 'yesterday' }));
  const { holder, line } = await startHolder();
  t.equal(line, 'locked');
  await kill(holder);
});

t.test('one process cannot take it twice, and release() is idempotent', async (t) => {
  const lock = await DataDirLock.acquire(dataDir, 'svc serve');
  await t.rejects(DataDirLock.acquire(dataDir, 'svc serve'), { code: 'data_dir_locked' });
  lock.release();
  lock.release();
  (await DataDirLock.acquire(dataDir, 'svc serve')).release();
});

t.test('a holder file of nonsense is no obstacle', async (t) => {
  const lock = await DataDirLock.acquire(dataDir, 'svc serve');
  writeFileSync(join(dataDir, 'lock.json'), '{"pid":');
  await t.rejects(DataDirLock.acquire(dataDir, 'svc serve'), { message: /in use by another process/ });
  lock.release();
});
