import fc from 'fast-check';
import t from 'tap';
import { newTimeOrderedId } from './time-ordered-id.ts';

t.test('ids are UUIDs of version 7 that begin with their time', async (t) => {
  const now = 2 ** 41 + 5;
  const id = newTimeOrderedId(now);
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), now);
});

t.test('later ids are greater, whatever the clock does', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 2, maxLength: 20 }), (steps) => {
      const ids = steps.flatMap((step) => Array.from({ length: 1_000 }, () => newTimeOrderedId(2 ** 42 + step)));
      return ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? ''));
    }),
    { numRuns: 10 },
  );
});
