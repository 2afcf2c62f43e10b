import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { lockFile } from './file-lock.ts';

t.test('a lock keeps others out until it is released', async (t) => {
  const path = join(t.testdir(), 'm.lock');
  const lock = await lockFile(path);
  await t.rejects(lockFile(path), { code: 'in_use' });
  await lock.release();
  t.notOk(existsSync(path));
  await (await lockFile(path)).release();
});

t.test('a dead holder does not keep it', async (t) => {
  const path = join(t.testdir(), 'm.lock');
  // Beyond the largest process id of Linux (2^22) and macOS.
  writeFileSync(path, `99999999 ${hostname()} x`);
  const lock = await lockFile(path);
  await lock.release();
  t.notOk(existsSync(path));
});

t.test('a holder on another machine counts as alive', async (t) => {
  const path = join(t.testdir(), 'm.lock');
  writeFileSync(path, `99999999 some-other-host x`);
  await t.rejects(lockFile(path), { code: 'in_use', remedy: /delete/ });
});

t.test('of many at once exactly one gets it', async (t) => {
  const path = join(t.testdir(), 'm.lock');
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFile(path)));
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

t.test('a process does not take itself for the dead one that had its pid', async (t) => {
  const path = join(t.testdir(), 'm.lock');
  writeFileSync(path, `${process.pid} ${hostname()} of-another-life`);
  const lock = await lockFile(path);
  await t.rejects(lockFile(path), { code: 'in_use' });
  await lock.release();
});
