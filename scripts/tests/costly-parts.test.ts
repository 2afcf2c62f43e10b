import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { recordGreen, whyLeftOut } from './costly-parts.ts';

t.test('they are left out seven times of eight while nothing of them changes', async (t) => {
  const root = t.testdir({ native: { 'a.cpp': 'a' }, packaging: { 'b.ts': 'b', out: { 'c.rpm': 'c' } }, ts: { 'd.ts': 'd' } });
  const place = join(root, 'cache', 'green.json');
  const isDue = () => whyLeftOut(root, place) === undefined;
  t.ok(isDue(), 'nothing was green yet');
  recordGreen(root, place);
  const runs = Array.from({ length: 16 }, () => {
    const due = isDue();
    recordGreen(root, place);
    return due;
  });
  t.strictSame(runs, [...Array(7).fill(false), true, ...Array(7).fill(false), true]);

  writeFileSync(join(root, 'ts/d.ts'), 'other');
  writeFileSync(join(root, 'packaging/out/c.rpm'), 'other');
  t.notOk(isDue(), 'what is made, and what is no part of them');
  writeFileSync(join(root, 'native/a.cpp'), 'other');
  t.ok(isDue(), 'a source changed');
  t.ok(isDue(), 'and until a run was green');
  recordGreen(root, place);
  t.notOk(isDue());
  rmSync(join(root, 'packaging/b.ts'));
  t.ok(isDue(), 'a file is gone');
  writeFileSync(place, 'half a fi');
  t.ok(isDue());
});
