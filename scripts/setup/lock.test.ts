import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { withLock } from './lock.mjs';

function lockPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'svc-lock-')), 'engine.lock');
}

t.test('work under one lock never overlaps', async (t) => {
  const path = lockPath();
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((done) => setImmediate(done));
    inside -= 1;
  };
  await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)]);
  t.equal(most, 1);
});

t.test('a lock whose process is gone is taken over', async (t) => {
  const path = lockPath();
  // No process has this id: Linux and macOS stop well below it.
  writeFileSync(path, '2147483646');
  t.equal(await withLock(path, async () => 'done'), 'done');
});

t.test('a lock is given back when the work fails', async (t) => {
  const path = lockPath();
  await t.rejects(withLock(path, async () => Promise.reject(new Error('broken'))));
  t.notOk(existsSync(path));
});
