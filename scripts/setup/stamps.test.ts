import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { fingerprint, readStamp, writeStamp } from './stamps.mjs';

function tree(): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-stamps-'));
  mkdirSync(join(root, 'native', 'deep'), { recursive: true });
  writeFileSync(join(root, 'native', 'deep', 'a.cpp'), 'int a;');
  writeFileSync(join(root, 'native', 'notes.md'), 'notes');
  return root;
}

t.test('an unchanged tree has the same fingerprint', async (t) => {
  const root = tree();
  t.equal(fingerprint(root, ['native']), fingerprint(root, ['native']));
});

t.test('editing, adding and removing a file each change it', async (t) => {
  const root = tree();
  const file = join(root, 'native', 'deep', 'a.cpp');
  const seen = [fingerprint(root, ['native'])];
  writeFileSync(file, 'int ab;');
  seen.push(fingerprint(root, ['native']));
  writeFileSync(join(root, 'native', 'b.cpp'), '');
  seen.push(fingerprint(root, ['native']));
  rmSync(file);
  seen.push(fingerprint(root, ['native']));
  t.equal(new Set(seen).size, 4);
});

t.test('files that do not count do not change it', async (t) => {
  const root = tree();
  const counts = (path: string) => path.endsWith('.cpp');
  const before = fingerprint(root, ['native'], counts);
  writeFileSync(join(root, 'native', 'notes.md'), 'more notes');
  t.equal(fingerprint(root, ['native'], counts), before);
});

t.test('a stamp is read back, replaces the one before, and leaves no draft', async (t) => {
  const folder = join(tree(), 'build');
  const path = join(folder, 'addons.stamp');
  t.equal(await readStamp(path), undefined);
  await writeStamp(path, 'one');
  await writeStamp(path, 'two');
  t.equal(await readStamp(path), 'two');
  t.same(readdirSync(folder), ['addons.stamp']);
});
