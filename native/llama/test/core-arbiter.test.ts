/** Contexts that share cores (core_arbiter_test.cpp). */
import t, { type Test } from 'tap';
import { figuresOf, noReferences } from './reference.ts';
import { undisturbed } from './undisturbed.ts';

type Figures = Record<string, number>;

const figures = (...args: (string | number)[]) => figuresOf('core-arbiter-test', args);

/** Contexts of so many threads each never take more than all cores, and take all of them, in turns that fit. */
async function share(t: Test, nCores: number, nThreads: readonly number[], fits: (turns: Figures) => boolean): Promise<void> {
  const fitsAll = (turns: Figures) => turns['most'] === nCores && fits(turns);
  const turns = await undisturbed(() => figures('share', nCores, ...nThreads), fitsAll);
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

/** Turns of 5 ms in 600 ms, which come to 120 at most, beside steps of 2 ms with 1 ms between them. */
async function beside(t: Test, use: string, nOthers: number, mostTurns: number): Promise<void> {
  const hasCores = ({ turns = 0 }: Figures) => turns > 60;
  const alone = await undisturbed(() => figures('beside', 2, use, nOthers, 0), hasCores);
  t.ok(hasCores(alone), JSON.stringify(alone));
  const hasShare = ({ steps = 0, turns = 0 }: Figures) => steps > 60 && turns > 4 && turns < mostTurns;
  const shared = await undisturbed(() => figures('beside', 2, use, nOthers, 1_000), hasShare);
  t.ok(hasShare(shared), JSON.stringify(shared));
}

for (const nOthers of [1, 4]) {
  const who = nOthers === 1 ? 'one' : 'several together';
  t.test(
    `what nobody waits for has the cores while answers pause, and a small share beside them: ${who}`,
    {
      skip: noReferences(),
    },
    (t) => beside(t, 'background', nOthers, 40),
  );

  t.test(`recordings have the cores while answers pause, and a quarter beside them: ${who}`, { skip: noReferences() }, (t) =>
    beside(t, 'recordings', nOthers, 50),
  );
}

for (const [use, who] of [
  ['recordings', 'a recording'],
  ['background', 'work that nobody waits for'],
] as const)
  t.test(`${who} has the cores that an answer leaves`, { skip: noReferences() }, async (t) => {
    const isBeside = ({ steps = 0, turns = 0 }: Figures) => steps > 60 && turns > 60;
    const shared = await undisturbed(() => figures('beside', 4, use, 1, 1_000), isBeside);
    t.ok(isBeside(shared), JSON.stringify(shared));
  });
