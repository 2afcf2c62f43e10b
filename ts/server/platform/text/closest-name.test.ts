import fc from 'fast-check';
import t from 'tap';
import { closestName, editDistance } from './closest-name.ts';

t.test('near words are found, far ones are not', async (t) => {
  t.equal(closestName('treads', ['threads', 'batch']), 'threads');
  t.equal(closestName('staus', ['serve', 'status']), 'status');
  t.equal(closestName('xyzzy', ['serve', 'status']), undefined);
});

t.test('the distance is a metric on what matters here', async (t) => {
  t.equal(editDistance('', 'abc'), 3);
  t.equal(editDistance('ab', 'ba'), 1, 'a swap is one mistake');
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      return distance === editDistance(b, a) && (distance === 0) === (a === b) && distance <= Math.max(a.length, b.length);
    }),
  );
});
