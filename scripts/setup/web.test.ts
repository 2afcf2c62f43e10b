import { cpSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { contentOf } from './web.mjs';

function tree(): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-web-'));
  for (const folder of ['ts/web/chat', 'ts/client']) mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['package-lock.json', 'tsconfig.json', 'ts/web/chat/main.tsx', 'ts/client/client.ts'])
    writeFileSync(join(root, name), name);
  return root;
}

t.test('a clone with other times counts as built', async (t) => {
  const root = tree();
  const clone = mkdtempSync(join(tmpdir(), 'svc-web-'));
  cpSync(root, clone, { recursive: true });
  utimesSync(join(clone, 'ts/web/chat/main.tsx'), 1, 1);
  t.equal(contentOf(clone), contentOf(root));
});

t.test('a source, a new file and another package each count as not built; a test does not', async (t) => {
  const root = tree();
  const seen = [contentOf(root)];
  for (const [name, text] of [
    ['ts/web/chat/main.tsx', 'edited'],
    ['ts/web/chat/new.css', 'a{}'],
    ['ts/client/client.ts', 'edited'],
    ['package-lock.json', '{}'],
  ] as const) {
    writeFileSync(join(root, name), text);
    seen.push(contentOf(root));
  }
  t.equal(new Set(seen).size, 5);
  writeFileSync(join(root, 'ts/web/chat/main.test.ts'), 'a test');
  t.equal(contentOf(root), seen.at(-1));
});
