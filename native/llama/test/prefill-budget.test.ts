/** How many prompt tokens a step takes, on a made-up machine (prefill_test.cpp): 0.2 ms a row, 5 ms for a step that decodes. */
import t from 'tap';
import { linesOf, noReferences } from './reference.ts';

const numbers = async (...args: (string | number)[]) => (await linesOf('prefill-test', args)).map(Number);

interface Prompts {
  nDecoding: number;
  count: number;
  tokensEach: number;
  depth?: number;
  queued?: boolean;
}

const steps = ({ nDecoding, count, tokensEach, depth = 0, queued = false }: Prompts) =>
  numbers('budget', nDecoding, count, tokensEach, depth, queued ? 1 : 0);

t.test('what a row costs is told apart by depth', { skip: noReferences() }, async (t) => {
  const costs = await numbers('cost', 0.2, 0.0002, 0, 1_000, 4_000);
  for (const [i, expected] of [0.2, 0.4, 1].entries())
    t.ok(Math.abs((costs[i] ?? 0) - expected) < 0.05, `${costs[i]} for ${expected}`);
  const [level = 0] = await numbers('cost', 0.2, 0, 4_000);
  t.ok(Math.abs(level - 0.2) < 0.02, 'no slope is found where there is none');
});

/** The first step's tokens, or one more: the fit gives it away in its last digits. */
const first = async (prompts: Prompts) => Math.ceil(((await steps(prompts))[0] ?? 0) / 2) * 2;

t.test('a step takes what those who wait for it can bear', { skip: noReferences() }, async (t) => {
  t.equal(
    await first({ nDecoding: 0, count: 1, tokensEach: 2_000 }),
    512,
    '120 ms when nobody decodes, as much as a batch holds',
  );
  t.equal(await first({ nDecoding: 4, count: 1, tokensEach: 2_000 }), 192, 'three tiles beside streams');
  t.equal(await first({ nDecoding: 4, count: 1, tokensEach: 2_000, queued: true }), 200, '40 ms when jobs queue');
  t.equal(
    await first({ nDecoding: 4, count: 1, tokensEach: 2_000, depth: 4_000, queued: true }),
    128,
    'whole tiles where it is deep, of at most 80 ms',
  );
  t.equal(await first({ nDecoding: 4, count: 1, tokensEach: 2_000, depth: 8_000 }), 64, 'a tile also where it takes a while');
  t.equal(await first({ nDecoding: 4, count: 1, tokensEach: 2_000, depth: 20_000 }), 16, 'a few tokens where it takes too long');
});

t.test('who took chunks for slow finds out when they no longer are', { skip: noReferences() }, async (t) => {
  const chunks = await numbers('disturbed', 5, 12);
  t.ok((chunks[0] ?? 64) < 64, `small ones after the disturbance: ${chunks[0]}`);
  t.equal(chunks.at(-1), 192);
});

t.test('a burst is done before those of it who decode slow it down', { skip: noReferences() }, async (t) => {
  const burst = await steps({ nDecoding: 1, count: 8, tokensEach: 1_200 });
  t.ok(
    burst.slice(0, -2).every((n) => n > 195),
    'large chunks until the last one is done',
  );
  t.equal(burst.at(-1), 192, 'which is forgotten when another comes');
  t.equal(await first({ nDecoding: 4, count: 1, tokensEach: 300 }), 200, 'what is soon done is done soon');
  t.equal(await first({ nDecoding: 1, count: 4, tokensEach: 4_000 }), 192, 'prompts that would take seconds are none');
});
