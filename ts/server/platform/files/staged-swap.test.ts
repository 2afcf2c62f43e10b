import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { commitSwap, decideAside, finishSwap, openStaging } from './staged-swap.ts';

t.setTimeout(600_000);

t.test('staged files take their places together, and what is named besides goes', async (t) => {
  const folder = t.testdir({ kept: 'old', replaced: 'old', gone: 'old', tree: { old: 'old' }, elsewhere: { file: 'kept' } });
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
  const staging = await openStaging(folder);
  mkdirSync(join(staging, 'tree'));
  mkdirSync(join(staging, 'link'));
  writeFileSync(join(staging, 'replaced'), 'new');
  writeFileSync(join(staging, 'tree', 'new'), 'new');
  await commitSwap(folder, ['gone', 'replaced', 'nothing']);
  t.strictSame(readdirSync(folder).sort(), ['elsewhere', 'kept', 'link', 'replaced', 'tree']);
  t.equal(readFileSync(join(folder, 'replaced'), 'utf8'), 'new');
  t.strictSame(readdirSync(join(folder, 'tree')), ['new']);
  t.equal(readFileSync(join(folder, 'elsewhere', 'file'), 'utf8'), 'kept', 'a link is replaced, not followed');
});

t.test('what was staged and not committed is dropped', async (t) => {
  const folder = t.testdir({ a: 'old' });
  writeFileSync(join(await openStaging(folder), 'a'), 'new');
  await finishSwap(folder);
  t.strictSame(readdirSync(folder), ['a']);
  t.equal(readFileSync(join(folder, 'a'), 'utf8'), 'old');
});

t.test('what is put aside moves into a folder of its own, once, with the files that are written beside', async (t) => {
  const folder = t.testdir({ 'svc.db': 'rows', blobs: { a: 'blob' }, kept: 'old' });
  await decideAside(folder, { to: 'fenced-7', names: ['svc.db', 'svc.db-wal', 'blobs'] }, { 'cluster/member.json': '{}' });
  await finishSwap(folder);
  await finishSwap(folder);
  t.strictSame(readdirSync(folder).sort(), ['cluster', 'fenced-7', 'kept']);
  t.strictSame(readdirSync(join(folder, 'fenced-7')).sort(), ['blobs', 'svc.db']);
  t.equal(readFileSync(join(folder, 'fenced-7', 'blobs', 'a'), 'utf8'), 'blob');
  t.equal(readFileSync(join(folder, 'cluster', 'member.json'), 'utf8'), '{}');
});

t.test('after kill -9 at any moment all files are of one swap', async (t) => {
  const folder = t.testdir();
  const program = join(import.meta.dirname, 'test-support', 'swapping-program.ts');
  let nUnfinished = 0;
  for (let round = 0; round < iterations(12, 50, 'SVC_TEST_KILLS'); round += 1) {
    const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await wait(20 + random.next() * 60);
    child.kill('SIGKILL');
    await exited;
    if (existsSync(join(folder, '.restore', 'commit.json'))) nUnfinished += 1;
    await finishSwap(folder);
    if (!existsSync(join(folder, 'a'))) continue;
    const mark = Number(readFileSync(join(folder, 'a'), 'utf8'));
    t.equal(readFileSync(join(folder, 'b', 'inside'), 'utf8'), String(mark));
    t.equal(existsSync(join(folder, 'c')), mark % 2 === 1);
    if (mark % 2 === 1) t.equal(readFileSync(join(folder, 'c'), 'utf8'), String(mark));
    t.notOk(existsSync(join(folder, '.restore')));
  }
  t.comment(`${nUnfinished} swaps were finished by the next process`);
});
