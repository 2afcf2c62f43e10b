import fc from 'fast-check';
import t from 'tap';
import { TokenBudgets } from './token-budgets.ts';

function setUp(limit = 1000) {
  const clock = { ms: 0 };
  const budgets = new TokenBudgets(
    (tenant) => (tenant === 'free' ? undefined : limit),
    () => clock.ms,
  );
  return { clock, budgets };
}

function refusalOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

t.test('what was used counts for a minute, to the token', (t) => {
  const { clock, budgets } = setUp();
  budgets.reserve('a', 100, 100).reconcile(150, 250);
  budgets.reserve('a', 0, 600).reconcile(100, 500);
  t.match(
    refusalOf(() => budgets.reserve('a', 0, 1)),
    {
      code: 'rate_limit_exceeded',
      retryAfterMs: 60_000,
    },
  );
  clock.ms = 59_999;
  t.match(
    refusalOf(() => budgets.reserve('a', 0, 1)),
    {
      retryAfterMs: 1,
    },
  );
  clock.ms = 60_000;
  t.doesNotThrow(() => budgets.reserve('a', 0, 1000));
  t.end();
});

t.test('running requests hold what they may take, and give the rest back', (t) => {
  const { budgets } = setUp();
  const first = budgets.reserve('a', 100, 500);
  t.throws(() => budgets.reserve('a', 100, 500), { code: 'rate_limit_exceeded' });
  first.reconcile(100, 10);
  first.reconcile(100, 10);
  t.doesNotThrow(() => budgets.reserve('a', 100, 790));
  t.end();
});

t.test('tenants do not touch each other, and one without a limit has none', (t) => {
  const { budgets } = setUp();
  budgets.reserve('a', 0, 1000);
  t.doesNotThrow(() => budgets.reserve('b', 0, 1000));
  t.doesNotThrow(() => budgets.reserve('free', 0, 1e9));
  t.end();
});

t.test('a request larger than the budget waits for all of it', (t) => {
  const { clock, budgets } = setUp();
  budgets.reserve('a', 0, 1).reconcile(1, 0);
  t.throws(() => budgets.reserve('a', 5000, 5000), { code: 'rate_limit_exceeded' });
  clock.ms = 60_000;
  t.doesNotThrow(() => budgets.reserve('a', 5000, 5000));
  t.end();
});

t.test('no minute holds more than the limit, and a client that waits as told is let in', (t) => {
  const visits = fc.array(fc.record({ waitMs: fc.nat(20_000), nTokens: fc.integer({ min: 1, max: 900 }) }), { maxLength: 60 });
  fc.assert(
    fc.property(visits, (visits) => {
      const { clock, budgets } = setUp();
      const served: { at: number; tokens: number }[] = [];
      for (const { waitMs, nTokens } of visits) {
        clock.ms += waitMs;
        try {
          budgets.reserve('a', 0, nTokens).reconcile(0, nTokens);
        } catch (error) {
          clock.ms += (error as { retryAfterMs: number }).retryAfterMs;
          budgets.reserve('a', 0, nTokens).reconcile(0, nTokens);
        }
        served.push({ at: clock.ms, tokens: nTokens });
      }
      return served.every(({ at }) => {
        const inWindow = served.filter((other) => other.at > at - 60_000 && other.at <= at);
        return inWindow.reduce((sum, { tokens }) => sum + tokens, 0) <= 1000;
      });
    }),
  );
  t.end();
});
