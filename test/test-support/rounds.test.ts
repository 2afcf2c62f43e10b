import t from 'tap';
import { rounds } from './rounds.ts';

t.afterEach(() => delete process.env['SVC_TEST_MINUTES']);

t.test('as many rounds as asked for', async (t) => {
  t.strictSame([...rounds(3)], [0, 1, 2]);
});

t.test('minutes take the place of the count', async (t) => {
  process.env['SVC_TEST_MINUTES'] = '0.002';
  const begin = performance.now();
  const all = [...rounds(3, 0.5)];
  const tookMs = performance.now() - begin;
  t.ok(all.length > 3 && all.at(-1) === all.length - 1);
  t.ok(tookMs >= 60 && tookMs < 1_000, `${tookMs} ms`);
});

t.test('minutes that are none are refused', async (t) => {
  for (const asked of ['', '0', '-1', 'ten']) {
    process.env['SVC_TEST_MINUTES'] = asked;
    t.throws(() => [...rounds(3)], /SVC_TEST_MINUTES/, asked);
  }
});
