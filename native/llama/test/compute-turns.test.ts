/** Contexts that share cores (compute_turns_test.cpp). */
import t from 'tap';
import { figuresOf, noReferences } from './reference.ts';

const figures = (...args: (string | number)[]) => figuresOf('compute-turns-test', args);

t.test('contexts that need all cores take turns, and each gets its share', { skip: noReferences() }, async (t) => {
  const { most, alone, ...turns } = await figures('share', 2, 2, 2, 2);
  t.equal(most, 2);
  t.equal(alone, 0, 'they noticed each other');
  t.ok((turns['fewest-turns'] ?? 0) > 0.5 * (turns['most-turns'] ?? 0), JSON.stringify(turns));
});

t.test('small ones run side by side, and a large one is not overtaken for ever', { skip: noReferences() }, async (t) => {
  const { most, ...turns } = await figures('share', 4, 1, 1, 4);
  t.equal(most, 4);
  t.ok((turns['fewest-turns'] ?? 0) > 0.3 * (turns['most-turns'] ?? 0), JSON.stringify(turns));
});

t.test('more threads than cores are no reason to wait for ever', { skip: noReferences() }, async (t) => {
  t.equal((await figures('share', 2, 8))['most'], 2);
});

t.test('nobody waits long for a slow one', { skip: noReferences() }, async (t) => {
  const { waited = 0 } = await figures('hog');
  t.ok(waited >= 29 && waited < 290, `${waited} ms`);
});

t.test(
  'what nobody waits for has the cores while others pause, and a small share beside them',
  { skip: noReferences() },
  async (t) => {
    const alone = await figures('yield', 0);
    t.ok((alone['yielding'] ?? 0) > 40, JSON.stringify(alone));
    const beside = await figures('yield', 1_000);
    t.ok((beside['steps'] ?? 0) > 60, JSON.stringify(beside));
    t.ok((beside['yielding'] ?? 0) > 4 && (beside['yielding'] ?? 0) < 40, JSON.stringify(beside));
  },
);
