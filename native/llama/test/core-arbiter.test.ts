/** Contexts that share cores (core_arbiter_test.cpp). */
import t, { type Test } from 'tap';
import { figuresOf, noReferences } from './reference.ts';
import { undisturbed } from './undisturbed.ts';

type Figures = Record<string, number>;

const figures = (...args: (string | number)[]) => figuresOf('core-arbiter-test', args);

/** Contexts of so many threads each never take more than all cores, and take all of them, in turns that fit. */
async function share(t: Test, nCores: number, nThreads: readonly number[], fits: (turns: Figures) => boolean): Promise<void> {
  const measure = async () => {
    const turns = await figures('share', nCores, ...nThreads);
    t.ok((turns['most'] ?? Infinity) <= nCores, JSON.stringify(turns));
    return turns;
  };
  const fitsAll = (turns: Figures) => turns['most'] === nCores && fits(turns);
  const turns = await undisturbed(measure, fitsAll);
  t.ok(fitsAll(turns), JSON.stringify(turns));
}

/** Whoever has least turns has more than such a part of the most. */
const isFair = (turns: Figures, least: number) => (turns['fewest-turns'] ?? 0) > least * (turns['most-turns'] ?? 0);

t.test('contexts that need all cores notice each other and take turns, each its share', { skip: noReferences() }, (t) =>
  share(t, 2, [2, 2, 2], (turns) => turns['alone'] === 0 && isFair(turns, 0.5)),
);

t.test('small ones run side by side, and a large one is not overtaken for ever', { skip: noReferences() }, (t) =>
  share(t, 4, [1, 1, 4], (turns) => isFair(turns, 0.3)),
);

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
    const hasCores = ({ yielding = 0 }: Figures) => yielding > 40;
    const alone = await undisturbed(() => figures('yield', 0), hasCores);
    t.ok(hasCores(alone), JSON.stringify(alone));
    const hasShare = ({ steps = 0, yielding = 0 }: Figures) => steps > 60 && yielding > 4 && yielding < 40;
    const beside = await undisturbed(() => figures('yield', 1_000), hasShare);
    t.ok(hasShare(beside), JSON.stringify(beside));
  },
);
