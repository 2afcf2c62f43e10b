import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SealingKey } from './sealing-key.ts';

t.test('what was sealed opens with the same key and context alone', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'sealing.key');
  const key = await SealingKey.open(path);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const sealed = key.seal('a secret with ü', 'tenant red');
  t.notMatch(sealed, /secret/);
  t.not(key.seal('a secret with ü', 'tenant red'), sealed, 'each time another text');
  const again = await SealingKey.open(path);
  t.equal(again.id, key.id);
  t.equal(again.unseal(sealed, 'tenant red'), 'a secret with ü');
  t.throws(() => again.unseal(sealed, 'tenant blue'));
  const other = await SealingKey.open(join(folder, 'other.key'));
  t.not(other.id, key.id);
  t.throws(() => other.unseal(sealed, 'tenant red'));
  for (const i of [0, 14, sealed.length - 2]) {
    const flipped = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
    t.throws(() => key.unseal(flipped, 'tenant red'), `character ${i} changed`);
  }
  t.throws(() => key.unseal(sealed.slice(0, 30), 'tenant red'), { message: /cut off/ });
});

t.test('a damaged file is not replaced: it says what to do', async (t) => {
  const path = join(t.testdir(), 'sealing.key');
  for (const text of ['', 'svc-sealing-key-1 x y\n', SealingKey.newText().slice(0, -5)]) {
    writeFileSync(path, text);
    await t.rejects(SealingKey.open(path), { message: /restore it from a backup/ });
  }
});
