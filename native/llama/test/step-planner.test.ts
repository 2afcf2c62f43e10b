/**
 * How many prompt tokens a step takes: by tables on a made-up machine (0.2 ms a row, 0.0001 ms more for each token in front of it,
 * 5 ms for a step that decodes), and by properties on random ones (simulated_machine.h). SVC_TEST_LONG=1 tries more.
 */
import t from 'tap';
import { figuresOf, linesOf, noReferences } from './reference.ts';

const isLong = process.env.SVC_TEST_LONG === '1';
/** Bounds on a share of so few machines hold for these machines; SVC_TEST_PLANNER_SEED tries others. */
const seed = Number(process.env.SVC_TEST_PLANNER_SEED ?? 1);

interface Load {
  nDecoding: number;
  nPrompts?: number;
  nLeft?: number;
  depth?: number;
  flags?: readonly string[];
}

const chunks = ({ nDecoding, nPrompts = 1, nLeft = 2_000, depth = 0, flags = [] }: Load) =>
  figuresOf('step-planner-test', ['chunks', 0.2, 0.0001, 5, nDecoding, nPrompts, nLeft, depth, ...flags]);

/** Beside other rows, llama.cpp takes one token of a prompt along with those: a chunk has one more. */
const beside = (nRows: number) => nRows + 1;

t.test('a step takes a physical batch where nobody waits, else whole tiles', { skip: noReferences() }, async (t) => {
  const table: [string, Load, number][] = [
    ['nobody waits', { nDecoding: 0 }, 512],
    ['nobody waits, at any depth', { nDecoding: 0, depth: 100_000 }, 512],
    ['another context wants the cores: 40 ms', { nDecoding: 0, flags: ['contended'] }, 192],
    ['beside streams: 40 ms', { nDecoding: 4 }, beside(192)],
    ['three tiles may take 80 ms', { nDecoding: 4, depth: 1_500 }, beside(192)],
    ['deep: as many tiles as take 80 ms', { nDecoding: 4, depth: 4_000 }, beside(128)],
    ['deeper: one', { nDecoding: 4, depth: 8_000 }, beside(64)],
    ['too deep for the time: one all the same', { nDecoding: 4, depth: 100_000 }, beside(64)],
    ['one buffer for all: rows of streams and chunk together are whole tiles', { nDecoding: 4, flags: ['common'] }, 188],
    ['drafted rows take the place of prompt tokens', { nDecoding: 4, flags: ['drafted=64'] }, beside(128)],
    ['less is left', { nDecoding: 4, nLeft: 10 }, 10],
    ['a little more is left than a chunk has', { nDecoding: 4, nLeft: 220 }, 220],
    ['a burst: 80 ms', { nDecoding: 1, nPrompts: 8, nLeft: 1_200 }, beside(384)],
    [
      'a burst that goes on, when those whose prompts are done decode',
      { nDecoding: 7, nLeft: 1_200, flags: ['in_burst'] },
      beside(384),
    ],
    ['too much for a burst', { nDecoding: 1, nPrompts: 4, nLeft: 4_000 }, beside(192)],
  ];
  for (const [situation, load, expected] of table) t.equal((await chunks(load)).first, expected, situation);
});

t.test('what a row costs is told apart by depth', { skip: noReferences() }, async (t) => {
  const costs = (await linesOf('step-planner-test', ['cost', 0.2, 0.0002, 0, 1_000, 4_000])).map(Number);
  for (const [i, expected] of [0.2, 0.4, 1].entries())
    t.ok(Math.abs((costs[i] ?? 0) / expected - 1) < 0.15, `${costs[i]} for ${expected}`);
});

t.test('no machine is so slow that chunks fall below a tile', { skip: noReferences() }, async (t) => {
  const tiles = async (...args: number[]) => (await linesOf('step-planner-test', ['tiles', ...args])).map(Number);
  for (const rowMs of [0.02, 0.2, 2, 20]) {
    const alone = await tiles(rowMs, 0, 20);
    t.ok(
      alone.every((n) => n === 512),
      `a physical batch where nobody waits, at ${rowMs} ms a row: ${alone}`,
    );
    const streams = (await tiles(rowMs, 4, 20)).filter((n) => n > 0);
    t.ok(streams.length >= 17, 'steps without prompts, which measure, are few');
    t.ok(
      streams.every((n) => n >= 64),
      `a tile beside streams, at ${rowMs} ms a row: ${streams}`,
    );
  }
});

/** What a program finds; lines with `# ` tell which seed broke a bound. */
async function check(mode: string, n: number): Promise<{ details: string[]; figures: Record<string, number> }> {
  const lines = await linesOf('step-planner-test', [mode, seed, n]);
  const pairs = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(' ') as [string, string]);
  const figures = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  return { details: lines.filter((line) => line.startsWith('#')).slice(0, 20), figures };
}

t.test('loads take hardly longer than with the chunk size that is best for the machine', { skip: noReferences() }, async (t) => {
  const { details, figures } = await check('loads', isLong ? 400 : 60);
  const { slower = Number.NaN, worst = Number.NaN, over_share: over = Number.NaN } = figures;
  for (const line of details) t.comment(line);
  // Above: devices that are full with half a physical batch, where larger chunks leave fewer steps to decode in.
  t.ok(slower <= 0.01, `more than 1.05 of its time on ${slower} of machines`);
  t.ok(worst <= 1.15, `${worst} of its time at worst`);
  t.ok(over <= 0.001, `gaps of streams exceed their bound in ${over} of steps`);
});

t.test('no false estimate outlives 20 steps', { skip: noReferences() }, async (t) => {
  const { details, figures } = await check('recovery', isLong ? 1_000 : 200);
  const { cost = Number.NaN, worst_gap: gap = Number.NaN } = figures;
  for (const line of details) t.comment(line);
  t.ok(cost <= 1.3, `then a token costs ${cost} of what it costs who knows the machine: a tile more or less`);
  t.ok(gap <= 1, `and gaps are ${gap} of their bound`);
});

t.test('a long prompt goes on beside short ones that never end', { skip: noReferences() }, async (t) => {
  const { worst_wait: worst = Number.NaN } = (await check('starvation', isLong ? 400 : 100)).figures;
  t.ok(worst <= 3.5, `others' tokens while it waits: ${worst} times its own`);
});
