/** When drafting is switched on and off, on made-up machines (speculation_test.cpp). */
import t from 'tap';
import { figuresOf, linesOf, noReferences } from './reference.ts';

interface Machine {
  nSequences?: number;
  /** A row costs so much, where a pass costs 1 ms. */
  rowMs: number;
  /** Share of drafted tokens that are right. */
  hitRate: number;
  /** The estimates say so of it. */
  claimed?: number;
  /** A step costs so much more where the one before had another number of rows. */
  reshapeMs?: number;
  /** So many of the sequences draft nothing. */
  nSilent?: number;
  /** A drafted row costs so much more in the second half. */
  laterMs?: number;
}

/** Throughput and the pace of steps in units of plain decoding, and rows drafted in a step, over 2,000 steps. */
async function simulate({
  nSequences = 1,
  rowMs,
  hitRate,
  claimed = hitRate,
  reshapeMs = 0,
  nSilent = 0,
  laterMs = 0,
}: Machine): Promise<Record<string, number>> {
  return figures(['meter', ...[nSequences, rowMs, hitRate, claimed, 2_000, reshapeMs, nSilent, laterMs].map(String)]);
}

const figures = (args: string[]) => figuresOf('speculation-test', args);

t.test('when to speculate', { skip: noReferences() }, async (t) => {
  for (const nSequences of [1, 4, 16]) {
    for (const claimed of [0.9, 0.5]) {
      const { speed = 0 } = await simulate({ nSequences, rowMs: 0.1, hitRate: 0, claimed });
      t.ok(speed > 0.98, `drafts that never hit cost less than 2 % (${nSequences} sequences, taken for ${claimed}: ${speed})`);
    }
  }
  for (const reshapeMs of [0.1, 0.3, 1]) {
    const { speed = 0 } = await simulate({ rowMs: 0.01, hitRate: 0, claimed: 0.9, reshapeMs });
    t.ok(speed > 0.98, `also where steps of changing shape cost ${reshapeMs} ms more: ${speed}`);
  }
  const many = await simulate({ nSequences: 32, rowMs: 2, hitRate: 0.9 });
  t.ok((many['drafted'] ?? 1) < 0.1 && (many['speed'] ?? 0) > 0.99, 'many sequences that rows alone cost: it is off by itself');
  const one = await simulate({ rowMs: 0.1, hitRate: 0.9 });
  t.ok((one['speed'] ?? 0) > 3, 'one sequence with cheap rows and good guesses: three times as fast');
  const four = await simulate({ nSequences: 4, rowMs: 0.1, hitRate: 0.9 });
  t.ok((four['speed'] ?? 0) > 1.7, 'four sequences still gain');
  const poor = await simulate({ rowMs: 0.1, hitRate: 0.3 });
  t.ok((poor['speed'] ?? 0) > 1.1, 'poor guesses gain a little with short drafts');
});

t.test('beside a sequence that drafts', { skip: noReferences() }, async (t) => {
  for (const [nSequences, nSilent] of [
    [2, 1],
    [4, 1],
    [8, 7],
  ] as const) {
    for (const rowMs of [0.02, 0.1, 0.5, 2]) {
      for (const laterMs of [0, 2 * rowMs]) {
        const { pace = 0, speed = 0 } = await simulate({ nSequences, nSilent, rowMs, hitRate: 0.97, laterMs });
        const machine = `${nSequences} sequences, of which ${nSilent} draft nothing, rows of ${rowMs} ms and later ${rowMs + laterMs}`;
        t.ok(pace >= 0.7, `one that drafts nothing keeps 0.7 of its pace: ${pace} (${machine})`);
        t.ok(speed >= 0.98, `and all together lose nothing: ${speed} (${machine})`);
      }
    }
  }
  const cheap = await simulate({ nSequences: 2, nSilent: 1, rowMs: 0.005, hitRate: 0.97 });
  t.ok((cheap['speed'] ?? 0) > 3, `where rows cost hardly anything, drafts are as long as alone: ${cheap['speed']}`);
});

t.test('repeated n-grams are found, and nothing else', { skip: noReferences() }, async (t) => {
  for (const seed of ['1', '2', '3']) {
    const { repeats = 0, found = 0 } = await figures(['ngrams', seed, '3000']);
    t.ok(repeats > 1_000 && found >= 0.98 * repeats && found <= repeats, `${found} of ${repeats} with seed ${seed}`);
  }
});

t.test('passes are cut as llama.cpp cuts them (split_equal in src/llama-batch.cpp)', { skip: noReferences() }, async (t) => {
  const passes = async (...rows: string[]) => `${(await linesOf('speculation-test', ['passes', ...rows])).join('\n')}\n`;
  t.equal(await passes('0:1', '1:1', '2:1'), 'passes 3\n', 'equal sequences go together');
  t.equal(await passes('0:1', '1:4', '2:4'), 'passes 3 6\n', 'what is left of neighbours goes together');
  t.equal(await passes('0:4', '1:1', '2:4'), 'passes 3 3 3\n', 'what is left of others does not');
  t.equal(await passes('0:2', '2:2'), 'passes 2 2\n', 'ids with a gap are no neighbours');
});
