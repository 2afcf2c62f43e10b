import t from 'tap';
import { RemovalHold } from './removal-hold.ts';

t.test('a removal waits for everyone who holds, and is then done', async (t) => {
  const hold = new RemovalHold();
  const done: string[] = [];
  const remove = (name: string) =>
    hold.remove(
      async () => void done.push(`${name} now`),
      async () => void done.push(`${name} later`),
    );
  await remove('a');
  const [first, second] = [hold.hold(), hold.hold()];
  await remove('b');
  await first();
  t.strictSame(done, ['a now']);
  await second();
  t.strictSame(done, ['a now', 'b later']);
  await remove('c');
  t.strictSame(done, ['a now', 'b later', 'c now']);
});
