import { join } from 'node:path';
import t from 'tap';
import { recordSecondTries } from './second-tries.ts';

t.test('a second try in one of ten runs is chance, and in two it is not', async (t) => {
  const path = join(t.testdir(), 'cache', 'list.json');
  t.strictSame(recordSecondTries(path, ['a', 'b']), []);
  t.strictSame(recordSecondTries(path, ['c']), []);
  t.strictSame(recordSecondTries(path, ['b', 'd']), ['b']);
});

t.test('what is ten runs ago is forgotten', async (t) => {
  const path = join(t.testdir(), 'list.json');
  recordSecondTries(path, ['a']);
  for (let run = 0; run < 9; run++) recordSecondTries(path, []);
  t.strictSame(recordSecondTries(path, ['a']), []);
});
